/** Check results for provider rules: all pass except those that a test changes. */

import type { CheckStatus } from '../../../src/analysis/check.ts';
import type { Classification } from '../../../src/analysis/kind.ts';
import { PROVIDER_RULES, providerVerdicts } from '../../../src/analysis/providers/evaluate.ts';
import {
  type CheckResult,
  dependencyDetail,
  type Provider,
  type ProviderVerdict,
} from '../../../src/analysis/result.ts';

export const NEEDED: string[] = [
  ...new Set(PROVIDER_RULES.flatMap(({ rules }) => rules.flatMap(({ needs }) => needs.flat()))),
];

/** A status, a list of failed checks that this one depends on, or the fields that differ. */
export type Changes = Record<string, CheckStatus | string[] | Partial<CheckResult> | null>;

export const judged = (kind: Classification['kind']): Classification => ({
  kind,
  by: 'sender',
  confidence: 'certain',
  reasons: [],
});

function resultOf(id: string, change: Changes[string]): CheckResult {
  const follows = Array.isArray(change);
  const given = typeof change === 'object' && !follows ? change : {};
  const status = follows ? 'skipped' : typeof change === 'string' ? change : 'pass';
  return {
    id,
    category: 'authentication',
    label: id.toUpperCase(),
    status,
    title: follows ? `${id}: not checked.` : `${id} says ${status}.`,
    detail: follows ? dependencyDetail(change) : `Because of ${id}.`,
    evidence: evidenceOf(id, status),
    points: 1,
    goes_with: null,
    earned: 1,
    gain: 0,
    reference: { name: 'RFC 5322', url: 'https://www.rfc-editor.org/rfc/rfc5322' },
    fix: null,
    ...given,
  };
}

export const passingEvidence = (id: string) => evidenceOf(id, 'pass');

function evidenceOf(id: string, status: CheckStatus): CheckResult['evidence'] {
  if (id === 'from') return { address: 'news@example.com' };
  if (!id.endsWith('_blocklists')) return {};
  const found = { pass: 'not_listed', fail: 'listed' }[status as string] ?? 'error';
  const zone = id === 'ip_blocklists' ? 'zen.spamhaus.org' : 'dbl.spamhaus.org';
  return { lists: [{ zone, status: found }] };
}

/** A change of null removes the check. */
export function verdicts(changes: Changes = {}, kind: Classification['kind'] = 'marketing') {
  const ids = [...new Set([...NEEDED, ...Object.keys(changes)])];
  const results = ids
    .filter((id) => changes[id] !== null)
    .map((id) => resultOf(id, changes[id] ?? 'pass'));
  const all = providerVerdicts(results, judged(kind));
  const of = (provider: Provider): ProviderVerdict =>
    all.find((verdict) => verdict.provider === provider)!;
  const rule = (provider: Provider, id: string) => of(provider).rules.find((r) => r.id === id)!;
  return { all, of, rule, results };
}
