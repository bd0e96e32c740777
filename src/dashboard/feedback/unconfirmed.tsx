/** The reporters of a domain that nobody has confirmed, apart from those that count. */

import type { UnconfirmedReporters } from '../../feedback/senders/schema.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { Confirm } from '../frame/action.tsx';
import { Card } from '../frame/card.tsx';
import { Notice } from '../frame/form.tsx';
import { For } from '../frame/reader.tsx';
import { pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { feedbackPath, REPORTS } from './list.tsx';
import { confirmWarning, EVIDENCE } from './trust-card.tsx';

interface Props {
  unconfirmed: UnconfirmedReporters;
}

const countOf = ({ reporter_count }: UnconfirmedReporters): string =>
  `${formatCount(reporter_count, 'reporter')} that you have not confirmed`;

/** One line on pages that leave them out. */
export function UnconfirmedNotice({ unconfirmed }: Props) {
  if (unconfirmed.reporter_count === 0) return null;
  return (
    <Notice tone="info">
      {`${countOf(unconfirmed)}: their reports are part of no figure on this page. `}
      <a href={`${feedbackPath(unconfirmed.domain_id)}/reporters#unconfirmed`}>See who they are</a>
    </Notice>
  );
}

export function UnconfirmedCard({ unconfirmed }: Props) {
  if (unconfirmed.reporter_count === 0) return null;
  const { domain_id, reporters } = unconfirmed;
  return (
    <Card title={countOf(unconfirmed)} id="unconfirmed">
      <p>
        Anyone can send signed reports to the feedback address. These reporters are not known
        receivers, so their figures are part of no sum, advice or alert until you confirm them.
      </p>
      {reporters.some(({ kind }) => kind === 'earlier') && (
        <p>
          Reports of those “from before” were counted until the service began to check who signs
          reports. Their messages have left the sums. Confirm them to count them again.
        </p>
      )}
      <ul class="plain">
        {reporters.map((reporter) => (
          <UnconfirmedItem key={reporter.id} domain={domain_id} reporter={reporter} />
        ))}
      </ul>
    </Card>
  );
}

interface ItemProps {
  domain: string;
  reporter: UnconfirmedReporters['reporters'][number];
}

function UnconfirmedItem({ domain, reporter }: ItemProps) {
  const { id, name, label, kind, agrees } = reporter;
  return (
    <li>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      {label !== null && label !== name && (
        <>
          {', calls itself '}
          <bdi>{label}</bdi>
        </>
      )}
      {kind === 'earlier' && ' (from before)'}
      {': '}
      <a href={pathWith(REPORTS, { domain_id: domain, status: 'unconfirmed', reporter: id })}>
        {formatCount(reporter.reports, 'report')}
      </a>
      {figuresOf(reporter)}
      {', newest '}
      <Ago at={reporter.last_at} />
      <div class="small muted">{EVIDENCE[kind](name)}</div>
      {agrees && (
        <div>
          It has reported for two weeks and mostly agrees with the reporters that count. If you know
          this receiver, confirm it. SPF records are public, so others can imitate this.
        </div>
      )}
      <For role="member" team>
        <Confirm
          action={`${feedbackPath(domain)}/reporters/confirm`}
          fields={{ reporter_id: id }}
          label="Confirm…"
          warning={confirmWarning(name)}
          confirm="Confirm and count its reports"
        />
      </For>
    </li>
  );
}

function figuresOf({ messages, passed, sessions, complaints }: ItemProps['reporter']): string {
  const figures = [
    messages > 0 &&
      `${formatCount(messages, 'message')}, ${formatPercent(passed / messages)} pass DMARC`,
    sessions > 0 && formatCount(sessions, 'TLS session'),
    complaints > 0 && formatCount(complaints, 'complaint'),
  ].filter((text) => text !== false);
  return figures.map((text) => `, ${text}`).join('');
}
