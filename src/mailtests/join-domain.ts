/** Which domain of the team a test belongs to, and what its mail tells of the keys of domains. */

import type { PoolOutcome } from '../analysis/pool.ts';
import type { CheckResult } from '../analysis/result.ts';
import { learnSelectors, type Signature } from '../domains/learn-selectors.ts';
import { findDomainOf } from '../domains/queries.ts';
import type { Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';

/**
 * In the transaction that stores a result: a test that was made for no domain joins the team's one
 * that is, or holds, its From domain, and the selectors of that domain are learnt.
 */
export async function joinDomain(
  tx: Tx,
  after: Pick<TestRow, 'domain_id' | 'from_domain' | 'received_at' | 'livemode'>,
  outcome: PoolOutcome,
): Promise<Partial<TestRow>> {
  const { domain_id, from_domain, received_at, livemode } = after;
  if (!outcome.ok || from_domain === null) return {};
  const domain = await findDomainOf(tx, from_domain);
  // The checks are read only here, where there is somebody to learn: they may be long.
  if (!domain) return {};
  // Of a reanalysis too: what was signed long ago is no sign that the selector is still in use.
  // Sandbox tests say nothing of the team's mail.
  if (livemode === 1 && received_at !== null)
    await learnSelectors(tx, {
      fromDomain: from_domain,
      signatures: alignedSignatures(outcome.result.checks),
      at: Date.parse(received_at),
    });
  return domain_id === null ? { domain_id: domain.id } : {};
}

/** Those that verify, of domains that DMARC takes for the From domain's own (RFC 9989 §4.4.1). */
function alignedSignatures(checks: string): Signature[] {
  const found = new Map((JSON.parse(checks) as CheckResult[]).map((check) => [check.id, check]));
  const signatures = found.get('dkim')?.evidence.signatures;
  const aligned = found.get('dkim_alignment')?.evidence.aligned;
  if (!Array.isArray(signatures) || !Array.isArray(aligned)) return [];
  return (signatures as unknown as (Signature & { result: string })[]).filter(
    ({ result, domain }) => result === 'pass' && aligned.includes(domain),
  );
}
