/** The newest test of the team that came from a source, and the finding that explains why its messages fail. */

import type { CheckResult } from '../../analysis/result.ts';
import type { Db } from '../../store/open.ts';
import type { FeedbackSourceRow } from '../../store/tables.generated.ts';
import type { Period } from '../sums.ts';
import { matchTests } from './match-tests.ts';

/** In the order in which they explain a failure of DMARC. */
const EXPLAINING = [
  'dkim',
  'dkim_alignment',
  'dkim_key',
  'spf',
  'spf_alignment',
  'spf_record',
  'dmarc',
];
const MAX_TESTS = 100;

export interface TestOfSource {
  id: string;
  completed_at: string;
  score: number | null;
  grade: string | null;
  finding: string | null;
  fix: string | null;
}

/** The period is that of `matchTests`. */
export async function testOfSource(
  db: Db,
  source: FeedbackSourceRow,
  period: Period,
): Promise<TestOfSource | null> {
  const tests = await db
    .selectFrom('tests')
    .select(['id', 'envelope', 'spf'])
    .where('domain_id', '=', source.domain_id)
    .where('livemode', '=', 1)
    .where('status', '=', 'completed')
    .orderBy('id', 'desc')
    .limit(MAX_TESTS)
    .execute();
  const sources = await matchTests(db, period, tests, { only: source });
  const found = tests.find(({ id }) => sources.get(id)?.id === source.id);
  return found ? readTest(db, found.id) : null;
}

async function readTest(db: Db, id: string): Promise<TestOfSource | null> {
  const test = await db
    .selectFrom('tests')
    .select(['id', 'completed_at', 'score', 'grade', 'checks'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!test) return null;
  const { checks, completed_at, ...rest } = test;
  const results: CheckResult[] = checks === null ? [] : JSON.parse(checks);
  const bad = results.filter(({ status }) => status === 'fail' || status === 'warn');
  const found = EXPLAINING.map((id) => bad.find((check) => check.id === id)).find(Boolean);
  return {
    ...rest,
    completed_at: completed_at!,
    finding: found?.title ?? null,
    fix: found?.fix?.text ?? null,
  };
}
