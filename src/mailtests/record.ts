/** Records what an analysis ended in, with its event, in one transaction. */

import * as v from 'valibot';
import type { PoolOutcome } from '../analysis/pool.ts';
import type { AnalysisResult } from '../analysis/result.ts';
import type { App } from '../app.ts';
import { appendEvent } from '../events/append.ts';
import { responseFilter } from '../http/response-filter.ts';
import { isoTime } from '../lib/clock.ts';
import { addressDomain } from '../lib/domain-names.ts';
import type { Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';
import type { ClaimedTest } from './analyze.ts';
import { presentListed } from './present.ts';
import { CheckItem } from './schema.ts';

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
  const changed = await app.db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('tests')
      .selectAll()
      .where('id', '=', test.id)
      .where('lease', '=', test.lease)
      .executeTakeFirst();
    if (!row) return false;
    const change = changeFor(app, row, outcome);
    await tx.updateTable('tests').set(change).where('id', '=', row.id).execute();
    await appendEnd(app, tx, row, { ...row, ...change });
    return true;
  });
  if (changed) app.signals.raise(test.id);
}

/** A test that has ended now, and had not before, is an event; a reanalysis is none. */
async function appendEnd(app: App, tx: Tx, before: TestRow, after: TestRow): Promise<void> {
  if (before.status !== 'processing' || after.status === 'processing') return;
  const type = after.status === 'completed' ? 'test.completed' : 'test.failed';
  const data = presentListed(after, app.config);
  await appendEvent(tx, { type, livemode: after.livemode === 1, data }, app);
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
  const found = outcome.ok ? columnsOf(outcome.result) : {};
  const completed_at = isoTime(now);
  if (!outcome.ok || temporary) {
    const failure_reason =
      outcome.ok || outcome.reason === 'fault' ? 'analysis_error' : 'unreadable';
    return { ...DONE, ...found, status: 'failed', failure_reason, completed_at };
  }
  const previous = reanalysis ? { previous: previousOf(row) } : {};
  return { ...DONE, ...found, ...previous, status: 'completed', completed_at };
}

/** What is stored is answered as it is: what the API does not declare stays behind here. */
const declaredChecks = responseFilter(v.array(CheckItem));

function columnsOf(result: AnalysisResult): Partial<TestRow> {
  return {
    ...result.auth_results,
    from_address: result.from_address,
    from_domain: result.from_address === null ? null : addressDomain(result.from_address),
    subject: result.subject,
    score: result.score,
    grade: result.grade,
    summary: result.summary,
    coverage: result.coverage,
    ruleset: result.ruleset,
    categories: JSON.stringify(result.categories),
    cap: result.cap === null ? null : JSON.stringify(result.cap),
    checks: JSON.stringify(declaredChecks(result.checks)),
  };
}

function previousOf({ score, grade, ruleset, completed_at }: TestRow): string {
  return JSON.stringify({ score, grade, ruleset, completed_at });
}
