/** From a test's row to its report, as the render threads take it. */

import type { CategoryScore, Grade } from '../analysis/result.ts';
import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import type { SealedReport } from '../render/thread/job.ts';
import type { TestRow } from '../store/tables.ts';
import { presentTest } from './present.ts';

/** Throws `conflict` for a test that has no result. */
export function sealedReport(row: TestRow, { config }: Pick<App, 'config'>): SealedReport {
  if (row.checks === null) throw new AppError('conflict', withoutResult(row));
  const { id, name, received_at, completed_at, subject, from_address, ...test } = presentTest(
    row,
    config,
  );
  return {
    ...{ id, name, received_at, completed_at, subject, from_address },
    score: test.score,
    grade: test.grade as Grade | null,
    cap: test.cap,
    coverage: test.coverage ?? 1,
    summary: test.summary ?? '',
    message_size: test.message_size ?? 0,
    auth_results: test.auth_results,
    categories: test.categories as CategoryScore[],
    ruleset: test.ruleset ?? '',
    envelope: test.envelope,
    // Results of the first rulesets lack it.
    judged_kind: test.judged_kind ?? { kind: 'transactional', by: 'message', reasons: [] },
    placement: [],
    checks: row.checks,
    providers: row.providers ?? '[]',
  };
}

function withoutResult({ status, failure_reason }: TestRow): string {
  if (status === 'waiting') return 'There is no report yet: the mail has not come.';
  if (status === 'processing') return 'There is no report yet: the mail is being analysed.';
  return failure_reason === 'not_received'
    ? 'There is no report: the mail did not come in time.'
    : 'There is no report: the mail could not be analysed.';
}
