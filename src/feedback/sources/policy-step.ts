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

/** `sp` applies to subdomains, and `np` to those that do not exist. Without them, `p` does (RFC 9989 §4.7). */
export const POLICY_TAGS = ['p', 'sp', 'np'] as const;
export type PolicyTag = (typeof POLICY_TAGS)[number];

export interface PolicyStep {
  tag: PolicyTag;
  next: DmarcPolicy;
  /** Published tags with which receivers apply less than the policy says. The step removes them. */
  limits: string[];
  /** Whose mail the step affects, by the domain in From. */
  scope: 'all' | 'domain' | 'subdomains';
  /** The published `sp`, which the step does not change; null if there is none. */
  subdomains: DmarcPolicy | null;
}

export interface PublishedPolicy {
  /** The DMARC record of the domain; null if it has none, undefined if it could not be looked up yet. */
  record: string | null | undefined;
  /** The record with the feedback address and the current policy. A page must not propose two different records. */
  proposal: string;
  /** Whether the domain sends no mail, so that it can't lose any. */
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

/** One step at a time, except for a domain that sends no mail. Null if there is none, or if the record is unknown. */
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

/** Whether receivers are asked to stop all failing mail: the domain declares that such mail is not its own. */
export const isEnforced = (record: string | null | undefined): boolean =>
  Boolean(record) &&
  (policyIn(record!, 'p') ?? 'none') !== 'none' &&
  policyIn(record!, 'sp') !== 'none' &&
  limitsOf(record!).length === 0;

const isStrictest = (record: string): boolean =>
  policyIn(record, 'p') === 'reject' &&
  (['sp', 'np'] as const).every((tag) => (policyIn(record, tag) ?? 'reject') === 'reject') &&
  limitsOf(record).length === 0;

function limitsOf(record: string): string[] {
  const { tags } = parseDmarcTags(record);
  const percent = percentOf(tags);
  return [...(isTestMode(tags) ? ['t=y'] : []), ...(percent < 100 ? [`pct=${percent}`] : [])];
}

/** The first policy that `t` and `pct` can limit: `none` can't be limited. */
function strictTag(policies: Record<PolicyTag, DmarcPolicy | null>) {
  const tag = POLICY_TAGS.find((one) => (policies[one] ?? 'none') !== 'none');
  return tag && { tag, next: policies[tag]! };
}

/** The record to publish, without `t` and `pct`, because receivers would apply less than the policy says. */
export function recordWith(
  { record, proposal, sendsNothing }: PublishedPolicy,
  { tag, next }: PolicyStep,
): string {
  if (sendsNothing) return strictest(proposal);
  if (record == null) return proposal;
  const { tags } = parseDmarcTags(record);
  // An invalid policy, which no receiver applies, must not be repaired into a valid one.
  const unread = ['sp', 'np'].filter((name) => tags.has(name) && !isPolicy(tags.get(name)));
  const kept = ['t', 'pct', ...unread].reduce(withoutTag, repairedRecord(proposal));
  return withTag(kept, tag, next);
}
