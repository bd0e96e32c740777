/** Records the outcome of an analysis and its event in one transaction. */

import type { PoolOutcome } from '../analysis/pool.ts';
import type { CheckResult, StoredResult } from '../analysis/result.ts';
import type { App } from '../app.ts';
import { findDomainOf } from '../domains/queries.ts';
import { learnSelectors, type Signature } from '../domains/selectors.ts';
import { appendEvent } from '../events/events.ts';
import { observed } from '../events/observations.ts';
import { isoTime } from '../lib/clock.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { lockIn, type PreparedParameter, prepared, type Tx, transact } from '../store/open.ts';
import { updateRow } from '../store/rows.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { visibleTo } from './limited-tests.ts';
import { observeTest } from './observe.ts';
import { presentListed, type StoredKind } from './present.ts';
import { isPublic } from './public.ts';
import { ANALYZE_JOB, type ClaimedTest, searchText } from './queries.ts';
import { tagsOf } from './tags.ts';
import { countTest } from './tally.ts';

/** Minutes until the next attempt, if temporary errors prevented a score. */
const RETRY_DELAYS_MIN = [1, 3, 10];

const RELEASED = { lease: null, leased_until: null } as const;
const DONE = { ...RELEASED, analysis_due_at: null, analysis_attempts: 0 } as const;

/** Does nothing if the lease was lost or the test deleted. */
export async function recordOutcome(
  app: App,
  test: ClaimedTest,
  outcome: PoolOutcome,
): Promise<void> {
  const recorded = await transact(app.db, async (tx) => {
    const [row] = await findClaimed(tx, test);
    if (!row) return null;
    // A reanalysis requested after the claim is still due.
    const isDueAgain = row.analysis_due_at !== test.analysis_due_at || row.kind !== test.kind;
    const { analysis_due_at } = row;
    const change = { ...changeFor(app, row, outcome), ...(isDueAgain ? { analysis_due_at } : {}) };
    const domain = isPublic(row) ? {} : await assignDomain(tx, { ...row, ...change }, outcome);
    const update = { ...change, ...domain };
    await updateRow(tx, 'tests', row.id, update);
    const after = { ...row, ...update };
    if (!isPublic(row)) {
      await publishResult(app, tx, row, after);
      // Last, because all results of an hour lock the same tally.
      await updateTallies(tx, row, after, outcome);
    }
    return { isDueAgain };
  });
  if (!recorded) return;
  app.signals.raise(test.id);
  if (recorded.isDueAgain) app.scheduler.wake(ANALYZE_JOB);
}

const findClaimed = prepared(
  (db, parameter: PreparedParameter<Pick<ClaimedTest, 'id' | 'lease'>>) =>
    lockIn(
      db,
      db
        .selectFrom('tests')
        .selectAll()
        .where('id', '=', parameter('id'))
        .where('lease', '=', parameter('lease')),
    ),
);

/** The result of a reanalysis replaces the previous one and counts at the time of the reanalysis. */
async function updateTallies(tx: Tx, before: TestRow, after: TestRow, outcome: PoolOutcome) {
  await countTest(tx, before, -1);
  const isNew = outcome.ok && after.checks === outcome.result.checks;
  await countTest(tx, after, 1, isNew ? outcome.issueIds : undefined);
}

/** Emits the event and publishes what it shows when a test ends; not for a reanalysis. */
async function publishResult(app: App, tx: Tx, before: TestRow, after: TestRow): Promise<void> {
  if (before.status !== 'processing' || after.status === 'processing') return;
  const type = after.status === 'completed' ? 'test.completed' : 'test.failed';
  const data = presentListed(after, app.config, await tagsOf(tx, after.id));
  const livemode = after.livemode === 1;
  await appendEvent(tx, { type, livemode, data }, app);
  if (type === 'test.completed' && livemode)
    await app.subscribers.publish(observed, tx, observeTest(after));
}

function changeFor(app: App, row: TestRow, outcome: PoolOutcome): Partial<TestRow> {
  const now = app.clock.now();
  const isReanalysis = row.status === 'completed';
  const temporary = outcome.ok ? outcome.result.temporary : outcome.reason === 'fault';
  const delayMinutes = temporary ? RETRY_DELAYS_MIN[row.analysis_attempts] : undefined;
  if (delayMinutes !== undefined)
    return {
      ...RELEASED,
      analysis_attempts: row.analysis_attempts + 1,
      analysis_due_at: isoTime(now + delayMinutes * 60_000),
    };
  // A failed reanalysis keeps the previous result.
  if (isReanalysis && (temporary || !outcome.ok)) return DONE;
  const result = outcome.ok ? columnsOf(outcome.result, row.name) : {};
  const completed_at = isoTime(now);
  if (!outcome.ok || temporary) {
    const failure_reason =
      outcome.ok || outcome.reason === 'fault' ? 'analysis_error' : 'unreadable';
    return { ...DONE, ...result, status: 'failed', failure_reason, completed_at };
  }
  const previous = isReanalysis ? { previous: previousOf(row) } : {};
  return { ...DONE, ...result, ...previous, status: 'completed', completed_at };
}

function columnsOf(result: StoredResult, name: string | null): Partial<TestRow> {
  return {
    ...result.auth_results,
    from_address: result.from_address,
    from_domain: result.from_address === null ? null : addressDomain(result.from_address),
    subject: result.subject,
    search: searchText({ name, subject: result.subject, from_address: result.from_address }),
    score: result.score,
    grade: result.grade,
    summary: result.summary,
    coverage: result.coverage,
    ruleset: result.ruleset,
    categories: JSON.stringify(result.categories),
    cap: result.cap === null ? null : JSON.stringify(result.cap),
    checks: result.checks,
    judged_kind: JSON.stringify({
      ...result.judged_kind,
      alternative: result.alternative,
    } satisfies StoredKind),
    providers: result.providers,
  };
}

function previousOf({ score, grade, ruleset, completed_at }: TestRow): string {
  return JSON.stringify({ score, grade, ruleset, completed_at });
}

// Assigns tests to domains, and learns DKIM selectors from their messages.

/**
 * Call this in the transaction that stores a result. Assigns a test without a domain to the team's
 * domain that is or contains its From domain, if its creator may see that, and learns the selectors of that domain.
 */
export async function assignDomain(
  tx: Tx,
  after: Pick<TestRow, 'domain_id' | 'from_domain' | 'received_at' | 'livemode' | 'limited_to'>,
  outcome: PoolOutcome,
): Promise<Partial<TestRow>> {
  const { domain_id, from_domain, received_at, livemode } = after;
  if (!outcome.ok || from_domain === null) return {};
  const domain = await findDomainOf(visibleTo(tx, after.limited_to), from_domain);
  // The check results can be large, so they are parsed only if a domain can learn from them.
  if (!domain) return {};
  // Uses the time of receipt: a reanalysis does not prove that a selector is still in use.
  // Tests of test mode prove nothing about the team's mail.
  if (livemode === 1 && received_at !== null)
    await learnSelectors(tx, {
      fromDomain: from_domain,
      signatures: alignedSignatures(outcome.result.checks),
      at: Date.parse(received_at),
    });
  return domain_id === null ? { domain_id: domain.id } : {};
}

/** Signatures that verify and are aligned with the From domain (RFC 9989 §4.4.1). */
function alignedSignatures(checks: string): Signature[] {
  const byId = new Map((JSON.parse(checks) as CheckResult[]).map((check) => [check.id, check]));
  const signatures = byId.get('dkim')?.evidence.signatures;
  const aligned = byId.get('dkim_alignment')?.evidence.aligned;
  if (!Array.isArray(signatures) || !Array.isArray(aligned)) return [];
  return (signatures as unknown as (Signature & { result: string })[]).filter(
    ({ result, domain }) => result === 'pass' && aligned.includes(domain),
  );
}
