/** What members change about a domain: its DKIM selectors and badge, its monitors, and its deletion. */

import type { Domain } from '../../domains/schema.ts';
import type { Monitor } from '../../monitors/schema.ts';
import { Copyable } from '../../ui/components.tsx';
import { ActionButton, Confirm, EditForm } from '../frame/action.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, ProblemNotice, TextArea, TextField } from '../frame/form.tsx';
import { useReader } from '../frame/reader.tsx';
import { NotSetUp } from '../frame/states.tsx';
import { TAG_LIST, tagsError } from '../frame/tags-field.tsx';
import { MonitorMark } from '../monitors/states.tsx';
import { DOMAINS } from './list.tsx';
import { AskToVerify } from './states.tsx';

interface SelectorsProps {
  domain: Domain;
  /** What was typed. */
  typed?: string;
  problem: FormProblem | null;
}

export function Selectors({ domain, typed, problem }: SelectorsProps) {
  const { id, dkim_selectors: selectors } = domain;
  const { testMode } = useReader();
  return (
    <Card title="DKIM selectors" id="selectors">
      <p>
        {selectors.length > 0
          ? 'Health checks cover the keys of these selectors. Selectors in received mail are added automatically.'
          : 'No selectors are known, so health checks try common ones. Enter yours, or send a test message to add its selector automatically.'}
      </p>
      {selectors.length > 0 && (
        <ul class="selectors">
          {selectors.map((selector) => (
            <li key={selector} class="tag">
              <code>{selector}</code>
            </li>
          ))}
        </ul>
      )}
      {!testMode && (
        <EditForm
          action={`${DOMAINS}/${id}/selectors`}
          label="Edit selectors"
          open={problem !== null}
        >
          <ProblemNotice problem={problem} />
          <TextArea
            name="dkim_selectors"
            label="Selectors"
            hint="One per line: the value after s= in the DKIM-Signature header. This list replaces the current one."
            value={typed ?? selectors.join('\n')}
            error={problem?.fields.dkim_selectors}
            mono
          />
          <button type="submit" class="button primary">
            Save selectors
          </button>
        </EditForm>
      )}
    </Card>
  );
}

interface TagsProps {
  domain: Domain;
  typed?: string;
  problem: FormProblem | null;
}

export function Tags({ domain: { id, tags }, typed, problem }: TagsProps) {
  const { testMode } = useReader();
  return (
    <Card title="Tags" id="domain-tags">
      <p class="muted">
        Tags group your domains. Members, reports and alert rules can be limited to tags such as
        client:acme.
      </p>
      {tags.length > 0 && (
        <ul class="selectors">
          {tags.map((tag) => (
            <li key={tag} class="tag">
              {tag}
            </li>
          ))}
        </ul>
      )}
      {!testMode && (
        <EditForm action={`${DOMAINS}/${id}/tags`} label="Edit tags" open={problem !== null}>
          <ProblemNotice problem={problem} />
          <TextField
            name="tags"
            label="Tags"
            list={TAG_LIST}
            hint="Separated by commas."
            value={typed ?? tags.join(', ')}
            error={problem ? tagsError(problem) : undefined}
          />
          <button type="submit" class="button primary">
            Save tags
          </button>
        </EditForm>
      )}
    </Card>
  );
}

export function Badge({ domain }: { domain: Domain }) {
  const { id, name, badge_enabled, status } = domain;
  const { baseUrl, testMode } = useReader();
  const url = `${baseUrl}/badges/${name}.svg`;
  const alt = `Deliverability of ${name}`;
  const action = !testMode && (
    <ActionButton
      action={`${DOMAINS}/${id}/badge`}
      fields={{ badge: badge_enabled ? 'off' : 'on' }}
    >
      {badge_enabled ? 'Disable' : 'Enable'}
    </ActionButton>
  );
  return (
    <Card title="Badge" id="badge" actions={action}>
      {!badge_enabled ? (
        <p>
          <NotSetUp>Off.</NotSetUp>{' '}
          <span class="muted">
            The badge shows the health and score of this domain on your website. Once it is enabled,
            anyone can load it.
          </span>
        </p>
      ) : status !== 'verified' ? (
        <p class="muted">
          The badge is enabled, but nobody can load it until the domain is verified.
        </p>
      ) : (
        <>
          <p>
            <img src={`/badges/${name}.svg`} alt={alt} height={20} />
          </p>
          <Embed label="HTML" text={`<img src="${url}" alt="${alt}">`} />
          <Embed label="Markdown" text={`![${alt}](${url})`} />
        </>
      )}
    </Card>
  );
}

const Embed = ({ label, text }: { label: string; text: string }) => (
  <div>
    <h3 class="small">{label}</h3>
    <div class="box">
      <Copyable text={text} label={`the ${label} code`} />
    </div>
  </div>
);

interface MonitorsProps {
  domain: Domain;
  monitors: Monitor[];
  hasMore: boolean;
}

export function DomainMonitors({ domain, monitors, hasMore }: MonitorsProps) {
  const { testMode } = useReader();
  const add = !testMode && (
    <a class="button" href={`/monitors/new?domain=${domain.name}`}>
      Add monitor
    </a>
  );
  return (
    <Card title="Monitors" id="monitors" actions={add}>
      {monitors.length === 0 ? (
        <p class="muted">
          No monitors yet. A monitor checks the domain as often as every hour and can alert you when
          something breaks.
        </p>
      ) : (
        <ul class="monitor-lines">
          {monitors.map((monitor) => (
            <li key={monitor.id}>
              <a href={`/monitors/${monitor.id}`}>
                <bdi>{monitor.name}</bdi>
              </a>
              <MonitorMark monitor={monitor} />
            </li>
          ))}
        </ul>
      )}
      {hasMore && <p class="small muted">Only the newest monitors are shown.</p>}
      <AskToVerify domain={domain} to="to get alerts about its health and records" />
    </Card>
  );
}

interface DeletionProps extends MonitorsProps {
  /** The number of alert rules that name the domain. */
  rules: number;
  problem: FormProblem | null;
}

export function Deletion({ domain, monitors, hasMore, rules, problem }: DeletionProps) {
  const { id, name } = domain;
  const { testMode, role } = useReader();
  if (testMode) return null;
  const isBlocked = rules > 0 && role === 'member';
  return (
    <Card title="Delete domain" id="delete">
      <ProblemNotice problem={problem} />
      {isBlocked ? (
        <p>
          {count(rules, 'alert rule')} {rules === 1 ? 'uses' : 'use'} this domain, so only an admin
          can delete it.
        </p>
      ) : (
        <>
          <p class="muted">
            {consequences(monitors.length, hasMore, rules)} Tests of the domain are kept.
          </p>
          <Confirm
            action={`${DOMAINS}/${id}/delete`}
            label="Delete domain…"
            warning={`${consequences(monitors.length, hasMore, rules)} This cannot be undone.`}
            confirm={`Delete ${name}`}
          />
        </>
      )}
    </Card>
  );
}

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

/** What is deleted with a domain. */
function consequences(monitors: number, hasMore: boolean, rules: number): string {
  const parts = [
    ...(monitors > 0
      ? [hasMore ? `more than ${monitors} monitors` : count(monitors, 'monitor')]
      : []),
    ...(rules > 0 ? [count(rules, 'alert rule')] : []),
  ];
  return parts.length === 0
    ? 'Health checks of the domain stop.'
    : `Health checks of the domain stop, and its ${parts.join(' and ')} ${monitors + rules === 1 ? 'is' : 'are'} deleted.`;
}
