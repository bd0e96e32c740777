/** The finding of a test that explains why a provider rejected a message. */

import type { CheckResult } from '../../analysis/result.ts';
import type { Db } from '../../store/open.ts';

export interface BounceFinding {
  test_id: string;
  completed_at: string;
  check_id: string;
  title: string;
  fix: string | null;
}

/** The finding that matches one of these checks, the most likely cause first. */
export type FindFinding = (checks: readonly string[]) => BounceFinding | null;

const MAX_TESTS = 20;

/** Their warnings are about reports and a weak policy, for which no provider rejects a message. */
const ONLY_FAILURES = ['dmarc_record', 'dmarc_policy'];

interface ReadTest {
  id: string;
  completed_at: string;
  /** Who sent it. A later test from there that passes shows that a finding was fixed. */
  client: string | null;
  checks: Map<string, CheckResult>;
}

/** Reads the last tests of a domain. */
export async function readFindings(db: Db, domainId: string): Promise<FindFinding> {
  const rows = await db
    .selectFrom('tests')
    .select(['id', 'completed_at', 'envelope', 'checks'])
    .where('livemode', '=', 1)
    .where('domain_id', '=', domainId)
    .where('status', '=', 'completed')
    .where('checks', 'is not', null)
    .orderBy('id', 'desc')
    .limit(MAX_TESTS)
    .execute();
  const tests = rows.map(({ id, completed_at, envelope, checks }): ReadTest => {
    const { client_ip = null } = JSON.parse(envelope ?? '{}') as { client_ip?: string | null };
    const results = JSON.parse(checks!) as CheckResult[];
    const byId = new Map(results.map((result) => [result.id, result]));
    return { id, completed_at: completed_at!, client: client_ip, checks: byId };
  });
  return (checks) => findIn(tests, checks);
}

function findIn(tests: ReadTest[], ids: readonly string[]): BounceFinding | null {
  const fixed = new Set<string>();
  for (const test of tests) {
    const keyOf = (id: string) => `${test.client} ${id}`;
    const found = (['fail', 'warn'] as const)
      .flatMap((status) => ids.filter((id) => hasProblem(test, id, status)))
      .find((id) => !fixed.has(keyOf(id)));
    if (found !== undefined) {
      const { title, fix } = test.checks.get(found)!;
      return {
        test_id: test.id,
        completed_at: test.completed_at,
        check_id: found,
        title,
        fix: fix?.text ?? null,
      };
    }
    for (const id of ids) if (test.checks.get(id)?.status === 'pass') fixed.add(keyOf(id));
  }
  return null;
}

const hasProblem = ({ checks }: ReadTest, id: string, status: 'fail' | 'warn'): boolean =>
  checks.get(id)?.status === status && !(status === 'warn' && ONLY_FAILURES.includes(id));
