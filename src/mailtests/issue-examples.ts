/** Recent tests that have an issue, as examples beside the figures of many tests. */

import type { Db } from '../store/open.ts';
import { issuesOf } from './tally.ts';

/** Parsing a result takes about a millisecond. */
const MAX_TESTS = 10;

interface Scope {
  livemode: boolean;
  domain_id?: string;
}

/** The newest test with each of these issues, by check ID, if one of the last few completed tests has it. */
export async function findIssueExamples(
  db: Db,
  { livemode, domain_id }: Scope,
  checks: string[],
): Promise<Map<string, string>> {
  const examples = new Map<string, string>();
  if (checks.length === 0) return examples;
  let query = db
    .selectFrom('tests')
    .select(['id', 'status', 'checks'])
    .where('livemode', '=', livemode ? 1 : 0)
    .where('status', '=', 'completed');
  if (domain_id !== undefined) query = query.where('domain_id', '=', domain_id);
  const rows = await query.orderBy('id', 'desc').limit(MAX_TESTS).execute();
  for (const row of rows) {
    for (const check of issuesOf(row))
      if (checks.includes(check) && !examples.has(check)) examples.set(check, row.id);
    if (examples.size === checks.length) break;
  }
  return examples;
}
