/**
 * The job that looks at the watched records of verified domains every hour. If one changed, the health checks follow at
 * once. The resolver keeps answers for as long as their TTL says, so a change can't be seen sooner.
 */

import type { DomainCheck } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { appendEvent } from '../events/events.ts';
import { observed } from '../events/observations.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { isWorking, withoutFalseDenials } from '../net/dns/denials.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { claimRows, latestDueTime } from '../store/leases.ts';
import { afterCommit, lockIn, type Tx, transact } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { guessedSelectors } from './health.ts';
import type { AnswerObservation, RecordAuthor, RecordObservation } from './observe.ts';
import { presentListed } from './queries.ts';
import { boundedValues, type RecordChange } from './schema.ts';
import { selectorsOf } from './selectors.ts';
import { MAX_LOOK_DELAY_MS, nextLook } from './transitions.ts';
import { VERIFY_JOB } from './verify-job.ts';
import {
  canonical,
  compareLooks,
  type Found,
  lastKnownHealth,
  lookUpSets,
  type SetChange,
  UNANSWERED_LOOKS,
  type Watched,
  type WatchedSet,
  watchedSets,
} from './watched-records.ts';

const LOOK_JOB = 'domains.look';
const MAX_CONCURRENT_LOOKS = 4;
/** Longer than a look can take. */
const LEASE_MS = 60_000;

type ClaimedDomain = DomainRow & { lease: string };

export function lookJob(app: App): Job {
  return claimingJob({
    name: LOOK_JOB,
    concurrency: MAX_CONCURRENT_LOOKS,
    claim: (limit) => claimDue(app, limit),
    work: (domain) => lookAt(app, domain),
    // The lookup is repeated once the lease expires.
    onError: ({ id }, error) =>
      app.log.error('could not look at domain', { domain: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wakeHere(LOOK_JOB),
  });
}

async function claimDue(app: App, limit: number): Promise<ClaimedDomain[]> {
  const due = app.db
    .selectFrom('domains')
    .selectAll()
    .where('status', '=', 'verified')
    .where(({ eb, or }) =>
      or([
        eb('next_look_at', '<=', isoTime(app.clock.now())),
        eb('next_look_at', '>', latestDueTime(app, MAX_LOOK_DELAY_MS)),
      ]),
    )
    .orderBy('next_look_at')
    .orderBy('id')
    .limit(limit);
  return claimRows(app, { table: 'domains', due, leaseMs: LEASE_MS });
}

async function lookAt(app: App, domain: ClaimedDomain): Promise<void> {
  const resolver = withoutFalseDenials(app.backgroundResolver);
  const selectors = new Set([...selectorsOf(domain), ...guessedSelectors(domain)]);
  const sets = watchedSets(domain.name, [...selectors]);
  const found = await lookUpSets(resolver, domain.name, sets);
  const isAnswered = [...found.values()].some((values) => values !== null);
  // Without an answer, either the domain or the resolver is at fault.
  const isKnown = isAnswered || (await isWorking(resolver));
  await transact(app.db, (tx) => recordLook(tx, app, domain, { found, isAnswered, isKnown }));
}

interface Look {
  found: Found;
  /** Whether any lookup had a result. */
  isAnswered: boolean;
  /** Whether the look says anything about the domain. */
  isKnown: boolean;
}

/** Does nothing if the lease was lost or the domain deleted. */
async function recordLook(tx: Tx, app: App, claimed: ClaimedDomain, look: Look): Promise<void> {
  const leased = tx
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', claimed.id)
    .where('lease', '=', claimed.lease);
  const row = await lockIn(tx, leased).executeTakeFirst();
  if (!row) return;
  const now = app.clock.now();
  const released = {
    lease: null,
    leased_until: null,
    // Unless another look was requested meanwhile.
    ...(row.next_look_at !== null && row.next_look_at === claimed.next_look_at
      ? { next_look_at: isoTime(nextLook(row.id, now)) }
      : {}),
  };
  const update = (columns: Partial<DomainRow>) =>
    tx.updateTable('domains').set(columns).where('id', '=', row.id).execute();
  if (!look.isKnown || row.status !== 'verified') {
    await update(released);
    return;
  }
  const before: Watched | null = row.watched === null ? null : JSON.parse(row.watched);
  const { sets, changes } = compareLooks(before, look.found, now);
  const failed = before?.failures ?? 0;
  const failures = look.isAnswered ? 0 : failed + 1;
  const isCheckDue =
    changes.some(({ state }) => state !== 'settled') || failed > 0 !== failures > 0;
  const isUnknown = failures >= UNANSWERED_LOOKS && !isExplained(row);
  const watched: Watched = {
    sets,
    failures,
    known_health: lastKnownHealth(row),
    ...(failures > 0 ? { failing_since: before?.failing_since ?? isoTime(now) } : {}),
  };
  await update({
    ...released,
    watched: JSON.stringify(watched),
    ...(isCheckDue ? { next_check_at: isoTime(now) } : {}),
    ...(isUnknown ? { health_status: 'unknown', health_score: null } : {}),
  });
  if (isCheckDue) afterCommit(tx, () => app.scheduler.wake(VERIFY_JOB));
  const observations = await Promise.all(changes.map((change) => observationOf(tx, row, change)));
  await appendChanges(tx, app, row, changes, observations);
  await app.subscribers.publish(observed, tx, [
    ...observations,
    ...answerOf(row, failed, failures),
  ]);
}

/** Whether the last health check found why DNS does not answer. */
const isExplained = ({ health_checks }: DomainRow): boolean =>
  (JSON.parse(health_checks) as DomainCheck[]).some(
    ({ id, severity }) => id === 'name_servers' && severity === 'critical',
  );

/** One event for all records that differ from those of the last look. */
async function appendChanges(
  tx: Tx,
  app: App,
  row: DomainRow,
  changes: SetChange[],
  observations: RecordObservation[],
): Promise<void> {
  const changed = changes.flatMap(
    ({ set: { name, type }, state, previous, is }, i): RecordChange[] =>
      state === 'settled'
        ? []
        : [
            {
              name,
              type,
              before: boundedValues(previous),
              after: boundedValues(is),
              dns_change_id: observations[i]!.changedBy?.dns_change_id ?? null,
            },
          ],
  );
  if (changed.length === 0) return;
  const data = { ...presentListed(row), changes: changed };
  await appendEvent(tx, { type: 'domain.records_changed', livemode: true, data }, app);
}

const observationOf = async (
  tx: Tx,
  { id, name: domain }: DomainRow,
  { set: { label, name, type }, state, was, is }: SetChange,
): Promise<RecordObservation> => ({
  kind: 'record',
  subject: `${domain} ${label}`,
  domainId: id,
  domain,
  label,
  name,
  type,
  state,
  was,
  is,
  changedBy: state === 'settled' ? null : await findAuthor(tx, id, { label, name, type }, is),
});

function answerOf({ id, name }: DomainRow, failed: number, failures: number): AnswerObservation[] {
  const observation = { kind: 'dns_answer', subject: name, domainId: id } as const;
  if (failures >= UNANSWERED_LOOKS)
    return [
      { ...observation, problem: `DNS lookups of ${name} have failed for ${failures} hours.` },
    ];
  return failures === 0 && failed >= UNANSWERED_LOOKS ? [{ ...observation, problem: null }] : [];
}

/** Whoever made the latest change to these values with this service. */
async function findAuthor(
  tx: Tx,
  domainId: string,
  set: WatchedSet,
  values: string[],
): Promise<RecordAuthor | null> {
  const change = await tx
    .selectFrom('dns_changes')
    .leftJoin('audit_log', (join) =>
      join
        .onRef('audit_log.object_id', '=', 'dns_changes.id')
        .on('audit_log.action', '=', 'dns_change.requested'),
    )
    .select(['dns_changes.id', 'dns_changes.after', 'audit_log.member_email'])
    .where('dns_changes.domain_id', '=', domainId)
    .where('dns_changes.name', '=', set.name)
    .where('dns_changes.type', '=', set.type)
    .where('dns_changes.status', '!=', 'failed')
    .orderBy('dns_changes.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!change) return null;
  const published = canonical(set, JSON.parse(change.after).values);
  return JSON.stringify(published) === JSON.stringify(values)
    ? { dns_change_id: change.id, email: change.member_email }
    : null;
}
