/** The three words of RFC 8601 that the test object carries, out of the facts the checks share. */

import { dkimResult } from './authentication/verify-dkim.ts';
import { dmarcResult } from './authentication/verify-dmarc.ts';
import { spfResult } from './authentication/verify-spf.ts';
import type { Context } from './check.ts';
import type { AnalysisResult, AuthResult } from './result.ts';
import type { Scored } from './score.ts';

/** null is "not asked"; a check that ran out of time is `temperror`, and its fact is not waited for. */
export async function authResults(
  context: Context,
  scored: Scored[],
): Promise<AnalysisResult['auth_results']> {
  const timedOut = (id: string) => scored.find((check) => check.id === id)?.status === 'error';
  const word = async (
    id: string,
    fact: (context: Context) => Promise<{ result: AuthResult | null }>,
  ): Promise<AuthResult | null> => (timedOut(id) ? 'temperror' : (await context.fact(fact)).result);
  const [spf, dkim, dmarc] = await Promise.all([
    word('spf', spfResult),
    word('dkim', dkimResult),
    word('dmarc', dmarcResult),
  ]);
  return { spf, dkim, dmarc };
}
