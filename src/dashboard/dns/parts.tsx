/** What the pages about DNS changes share: states, and the difference that a change makes. */

import { COPY_FORMAT_IDS, COPY_FORMATS } from '../../dns-changes/copies.ts';
import type { DnsChange, DnsServer, PlannedChangeBody } from '../../dns-changes/schema.ts';
import { allows } from '../../http/actor.ts';
import { printable } from '../../lib/log.ts';
import { sanitize } from '../../report/blocks.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { useReader } from '../frame/reader.tsx';
import { Fold, NotSetUp, Waiting } from '../frame/states.tsx';
import { pathWith } from '../frame/table.tsx';

export const DNS = '/dns';
export const SERVERS = `${DNS}/servers`;
export const CHANGES = `${DNS}/changes`;
export const PARENTS = [{ href: DNS, text: 'Name servers' }];

interface PlanSource {
  server_id?: string | undefined;
  test_id?: string | undefined;
  /** The IDs of checks, separated by commas. */
  checks?: string | undefined;
}

/** Where the records of a domain, a test or a check can be published. */
export const publishPath = (domainId: string, source: PlanSource = {}): string =>
  pathWith(`/domains/${domainId}/dns`, { ...source });

/** Below a record of a finding. */
export function PublishLink({ domainId, source }: { domainId: string; source: PlanSource }) {
  const { role, testMode } = useReader();
  const canPublish = allows(role, 'admin') && !testMode;
  return (
    <p class="screen-only">
      <a class="button" href={publishPath(domainId, source)}>
        {canPublish ? 'Publish this record' : 'Copy for a zone file or Terraform'}
      </a>
    </p>
  );
}

export function ServerState({ server }: { server: Pick<DnsServer, 'checked_at' | 'problem'> }) {
  if (server.checked_at === null) return <NotSetUp>Not checked yet</NotSetUp>;
  return server.problem === null ? (
    <StateMark state="pass" word="Works" />
  ) : (
    <StateMark state="fail" word="Does not work" />
  );
}

export function ChangeState({ change }: { change: Pick<DnsChange, 'status'> }) {
  const { status } = change;
  if (status === 'applying') return <Waiting>In progress</Waiting>;
  if (status === 'failed') return <StateMark state="fail" word="Failed" />;
  if (status === 'unknown') return <StateMark state="unknown" word="Not confirmed" />;
  if (status === 'undone') return <StateMark state="unknown" word="Undone" />;
  return <StateMark state="pass" word="Published" />;
}

type Difference = Pick<PlannedChangeBody, 'name' | 'type' | 'before' | 'after'>;

const LINES = {
  removed: { sign: '−', word: 'Removed:' },
  added: { sign: '+', word: 'Added:' },
  kept: { sign: ' ', word: 'Kept:' },
} as const;

/** The records as lines: what is removed, what is added, and what is kept. */
export function RecordDiff({ name, type, before, after }: Difference) {
  const removed = before.values.filter((value) => !after.values.includes(value));
  const added = after.values.filter((value) => !before.values.includes(value));
  const kept = after.values.filter((value) => before.values.includes(value));
  const lines = [
    ...removed.map((value) => ({ kind: 'removed' as const, value })),
    ...added.map((value) => ({ kind: 'added' as const, value })),
    ...kept.map((value) => ({ kind: 'kept' as const, value })),
  ];
  const ttl = after.values.length > 0 ? after.ttl : before.ttl;
  return (
    <figure class="record-diff">
      <figcaption>
        <strong class="mono">
          <bdi>{sanitize(name)}</bdi>
        </strong>{' '}
        <span class="small muted">
          {type}, TTL {ttl} s
        </span>
      </figcaption>
      <ul>
        {lines.map(({ kind, value }) => (
          <li key={`${kind} ${value}`} class={kind}>
            <span aria-hidden="true">{LINES[kind].sign}</span>
            <span class="visually-hidden">{LINES[kind].word}</span>
            <code>{sanitize(value)}</code>
          </li>
        ))}
        {lines.length === 0 && <li class="none muted">No records yet</li>}
      </ul>
    </figure>
  );
}

/** The records after the change, for programs that manage DNS. */
export function RecordCopies({ copies }: { copies: NonNullable<PlannedChangeBody['copies']> }) {
  return (
    <div class="record-copies">
      {COPY_FORMAT_IDS.map((id) => (
        <Fold key={id} summary={<span class="small">{COPY_FORMATS[id].name}</span>}>
          <div class="box command">
            <Copyable
              text={copies[id].split('\n').map(printable).join('\n')}
              label={`the ${COPY_FORMATS[id].name} entry`}
            />
          </div>
        </Fold>
      ))}
    </div>
  );
}
