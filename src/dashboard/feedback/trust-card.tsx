/** Who sent a report, whether its reporter counts, and what a member can do about it. */

import type { FeedbackReport } from '../../feedback/schemas/report.ts';
import type { FeedbackReporter } from '../../feedback/senders/schema.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { Card } from '../frame/card.tsx';
import { For } from '../frame/reader.tsx';
import { REPORTS } from './list.tsx';

interface Props {
  report: FeedbackReport;
  reporter: FeedbackReporter | null;
}

/** Nothing for reports of known receivers, uploads, and what was refused. */
export function TrustCard({ report, reporter }: Props) {
  if (report.status === 'unverified') return <UnverifiedCard />;
  if (reporter === null || reporter.kind === 'known' || reporter.kind === 'file') return null;
  const { name, status, kind, reports, counted } = reporter;
  const path = `${REPORTS}/${report.id}`;
  const fields = { reporter_id: reporter.id };
  const isConfirmed = status === 'confirmed';
  return (
    <Card title={isConfirmed ? 'A confirmed reporter' : 'Do you know this reporter?'} id="trust">
      <p>{EVIDENCE[kind](name)}</p>
      <p>
        {isConfirmed
          ? 'Your team has confirmed it, so its reports count.'
          : 'Nobody has confirmed it, so its reports are part of no sum, advice or alert.'}
      </p>
      <p class="small muted">
        {`Of ${formatCount(reports, 'report')}, ${formatCount(counted)} ${counted === 1 ? 'counts' : 'count'}.`}
      </p>
      <For role="member" team>
        {isConfirmed ? (
          <ActionButton action={`${path}/withdraw`} fields={fields}>
            Stop counting its reports
          </ActionButton>
        ) : (
          <Confirm
            action={`${path}/confirm`}
            fields={fields}
            label="Confirm this reporter…"
            warning={confirmWarning(name)}
            confirm="Confirm and count its reports"
          />
        )}
      </For>
    </Card>
  );
}

/** What shows who a reporter is. */
export const EVIDENCE: Record<FeedbackReporter['kind'], (name: string) => string> = {
  known: (name) => `${name} is a receiver that the service knows.`,
  dkim: (name) => `${name} signed the message.`,
  spf: (name) =>
    `The message came from a server that ${name} allows in its SPF record. Others may use the same server.`,
  file: (name) => `A member uploaded the report of ${name}.`,
  earlier: (name) =>
    `The report calls itself ${name}. It arrived before the service stored who signs reports, and the message is no longer kept.`,
};

export const confirmWarning = (name: string): string =>
  `All reports of ${name} will count, including those that have arrived. Confirm it only if you know who this is.`;

const UnverifiedCard = () => (
  <Card title="Nothing shows who sent this report" id="trust">
    <p>
      No signature and no SPF record shows the sender, so anyone may have written this report.
      Reports over HTTPS, and those attached by a known sender, are never verified. This report is
      part of no sum, advice or alert.
    </p>
    <p class="small muted">
      If you know that it is genuine, download the original and upload it on the tab “Reports”.
    </p>
  </Card>
);
