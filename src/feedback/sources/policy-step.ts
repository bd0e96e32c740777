/** The next step of a DMARC policy: which tag becomes stricter, and whose mail that affects. */

import {
  isPolicy,
  isTestMode,
  parseDmarcTags,
  percentOf,
  repairedRecord,
  withoutTag,
  withTag,
} from '../../analysis/dmarc/record.ts';
import { strictest } from '../../analysis/domain/parked.ts';

export const POLICIES = ['none', 'quarantine', 'reject'] as const;
export type DmarcPolicy = (typeof POLICIES)[number];

/** `sp` is for subdomains, and `np` for those that do not exist. Without them, `p` is (RFC 9989 §4.7). */
export const POLICY_TAGS = ['p', 'sp', 'np'] as const;
export type PolicyTag = (typeof POLICY_TAGS)[number];

export interface PolicyStep {
  tag: PolicyTag;
  next: DmarcPolicy;
  /** The tags with which receivers apply less than the policy says, as published. The step removes them. */
  limits: string[];
  /** Whose mail the step affects, by the domain in From. */
  scope: 'all' | 'domain' | 'subdomains';
  /** The policy of subdomains that the step leaves as it is; null if it has none of its own. */
  subdomains: DmarcPolicy | null;
}

export interface PublishedPolicy {
  /** The DMARC record of the domain; null if it has none, undefined if it could not be looked up yet. */
  record: string | null | undefined;
  /** The record with the address for reports, and the policy that applies now. A page must not propose two different ones. */
  proposal: string;
  /** The domain sends nothing, so no mail of its own can be lost. */
  sendsNothing: boolean;
}

const policyIn = (record: string, tag: PolicyTag): DmarcPolicy | null => {
  const policy = parseDmarcTags(record).tags.get(tag)?.toLowerCase();
  return POLICIES.find((one) => one === policy) ?? null;
};

export const policyOf = (record: string | null | undefined): DmarcPolicy | null =>
  record ? policyIn(record, 'p') : null;

const stricter = (policy: DmarcPolicy): DmarcPolicy | null =>
  POLICIES[POLICIES.indexOf(policy) + 1] ?? null;

const isWeaker = (policy: DmarcPolicy, than: DmarcPolicy): boolean =>
  POLICIES.indexOf(policy) < POLICIES.indexOf(than);

/** One step, never two, except for a domain that sends nothing. Null if there is none, or the record is not known. */
export function stepOf({ record, proposal, sendsNothing }: PublishedPolicy): PolicyStep | null {
  if (record === undefined) return null;
  const step = { tag: 'p', limits: [], scope: 'all', subdomains: null } as const;
  if (sendsNothing)
    return record !== null && isStrictest(record) ? null : { ...step, limits: [], next: 'reject' };
  if (record === null) return { ...step, limits: [], next: policyOf(proposal) ?? 'none' };
  const p = policyIn(record, 'p') ?? 'none';
  const sp = policyIn(record, 'sp');
  const np = policyIn(record, 'np');
  const limits = limitsOf(record);
  const limited = limits.length === 0 ? undefined : strictTag({ p, sp, np });
  if (limited) {
    const scope = p === 'none' ? 'subdomains' : sp === 'none' ? 'domain' : 'all';
    return { ...limited, limits, scope, subdomains: scope === 'domain' ? sp : null };
  }
  const next = stricter(p);
  if (next !== null)
    return { ...step, limits: [], next, scope: sp === null ? 'all' : 'domain', subdomains: sp };
  const rest = [
    { tag: 'sp' as const, policy: sp, above: p },
    { tag: 'np' as const, policy: np, above: sp ?? p },
  ].find(({ policy, above }) => policy !== null && isWeaker(policy, above));
  return rest
    ? {
        tag: rest.tag,
        next: stricter(rest.policy!)!,
        limits: [],
        scope: 'subdomains',
        subdomains: null,
      }
    : null;
}

const isStrictest = (record: string): boolean =>
  policyIn(record, 'p') === 'reject' &&
  (['sp', 'np'] as const).every((tag) => (policyIn(record, tag) ?? 'reject') === 'reject') &&
  limitsOf(record).length === 0;

function limitsOf(record: string): string[] {
  const { tags } = parseDmarcTags(record);
  const percent = percentOf(tags);
  return [...(isTestMode(tags) ? ['t=y'] : []), ...(percent < 100 ? [`pct=${percent}`] : [])];
}

/** The first policy that can be limited: `none` cannot. */
function strictTag(policies: Record<PolicyTag, DmarcPolicy | null>) {
  const tag = POLICY_TAGS.find((one) => (policies[one] ?? 'none') !== 'none');
  return tag && { tag, next: policies[tag]! };
}

/** The record to publish. Without test mode and `pct`, with which receivers would apply less than it says. */
export function recordWith(
  { record, proposal, sendsNothing }: PublishedPolicy,
  { tag, next }: PolicyStep,
): string {
  if (sendsNothing) return strictest(proposal);
  if (record == null) return proposal;
  const { tags } = parseDmarcTags(record);
  // What no receiver reads as a policy must not become one.
  const unread = ['sp', 'np'].filter((name) => tags.has(name) && !isPolicy(tags.get(name)));
  const kept = ['t', 'pct', ...unread].reduce(withoutTag, repairedRecord(proposal));
  return withTag(kept, tag, next);
}
