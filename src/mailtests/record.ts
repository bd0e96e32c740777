/** Records what an analysis ended in, with its event, in one transaction. */

import type { PoolOutcome } from '../analysis/pool.ts';
import type { SealedResult } from '../analysis/result.ts';
import type { App } from '../app.ts';
import { appendEvent } from '../events/append.ts';
import { publishResult } from '../events/results.ts';
import { isoTime } from '../lib/clock.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { transact } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';
import { ANALYZE_JOB, type ClaimedTest } from './jobs.ts';
import { joinDomain } from './join-domain.ts';
import { presentListed } from './present.ts';
import { searchText } from './queries.ts';
import { countTest } from './tally.ts';

/** Minutes to the next try after a result that temporary errors left without a score. */
const RETRY_AFTER_MIN = [1, 3, 10];

const RELEASED = { lease: null, leased_until: null } as const;
const DONE = { ...RELEASED, analysis_due_at: null, analysis_attempts: 0 } as const;

/** Does nothing where the lease is no longer ours, or the test is gone. */
export async function recordOutcome(
  app: App,
  test: ClaimedTest,
  outcome: PoolOutcome,
): Promise<void> {
  const recorded = await transact(app.db, async (tx) => {
    const row = await tx
      .selectFrom('tests')
      .selectAll()
      .where('id', '=', test.id)
      .where('lease', '=', test.lease)
      .executeTakeFirst();
    if (!row) return null;
    // Asked for once more since it was claimed: then it is still due.
    const again = row.analysis_due_at !== test.analysis_due_at;
    const { analysis_due_at } = row;
    const change = { ...changeFor(app, row, outcome), ...(again ? { analysis_due_at } : {}) };
    const joined = { ...change, ...(await joinDomain(tx, { ...row, ...change }, outcome)) };
    await tx.updateTable('tests').set(joined).where('id', '=', row.id).execute();
    const after = { ...row, ...joined };
    await recount(tx, row, after, outcome);
    await appendEnd(app, tx, row, after);
    return { again };
  });
  if (!recorded) return;
  app.signals.raise(test.id);
  if (recorded.again) app.scheduler.wake(ANALYZE_JOB);
}

/** What a reanalysis found counts in the place of what was found before, at its own time. */
async function recount(tx: Tx, before: TestRow, after: TestRow, outcome: PoolOutcome) {
  await countTest(tx, before, -1);
  const isNew = outcome.ok && after.checks === outcome.result.checks;
  await countTest(tx, after, 1, isNew ? outcome.toFix : undefined);
}

/** A test that has ended now, and had not before, is an event, and a result; a reanalysis is neither. */
async function appendEnd(app: App, tx: Tx, before: TestRow, after: TestRow): Promise<void> {
  if (before.status !== 'processing' || after.status === 'processing') return;
  const type = after.status === 'completed' ? 'test.completed' : 'test.failed';
  const data = presentListed(after, app.config);
  const livemode = after.livemode === 1;
  await appendEvent(tx, { type, livemode, data }, app);
  if (type === 'test.completed' && livemode)
    await publishResult(tx, { kind: 'test', test: after }, app);
}

function changeFor(app: App, row: TestRow, outcome: PoolOutcome): Partial<TestRow> {
  const now = app.clock.now();
  const reanalysis = row.status === 'completed';
  const temporary = outcome.ok ? outcome.result.temporary : outcome.reason === 'fault';
  const wait = temporary ? RETRY_AFTER_MIN[row.analysis_attempts] : undefined;
  if (wait !== undefined)
    return {
      ...RELEASED,
      analysis_attempts: row.analysis_attempts + 1,
      analysis_due_at: isoTime(now + wait * 60_000),
    };
  // A reanalysis that finds nothing out leaves the result as it was.
  if (reanalysis && (temporary || !outcome.ok)) return DONE;
  const found = outcome.ok ? columnsOf(outcome.result, row.name) : {};
  const completed_at = isoTime(now);
  if (!outcome.ok || temporary) {
    const failure_reason =
      outcome.ok || outcome.reason === 'fault' ? 'analysis_error' : 'unreadable';
    return { ...DONE, ...found, status: 'failed', failure_reason, completed_at };
  }
  const previous = reanalysis ? { previous: previousOf(row) } : {};
  return { ...DONE, ...found, ...previous, status: 'completed', completed_at };
}

function columnsOf(result: SealedResult, name: string | null): Partial<TestRow> {
  return {
    ...result.auth_results,
    from_address: result.from_address,
    from_domain: result.from_address === null ? null : addressDomain(result.from_address),
    subject: result.subject,
    search: searchText({ name, subject: result.subject }),
    score: result.score,
    grade: result.grade,
    summary: result.summary,
    coverage: result.coverage,
    ruleset: result.ruleset,
    categories: JSON.stringify(result.categories),
    cap: result.cap === null ? null : JSON.stringify(result.cap),
    checks: result.checks,
    judged_kind: JSON.stringify(result.judged_kind),
    providers: JSON.stringify(result.providers),
  };
}

function previousOf({ score, grade, ruleset, completed_at }: TestRow): string {
  return JSON.stringify({ score, grade, ruleset, completed_at });
}
