/** What receivers mean by their reasons for not applying the policy (RFC 9990 §3.1.1.5; older reports RFC 7489), and whether to act. */

interface Explanation {
  name: string;
  meaning: string;
  fix: string;
}

const NOTHING = 'Nothing to fix.';
const SIGN = 'Nothing to fix. Aligned DKIM signatures help: they usually survive forwarding.';

const EXPLANATIONS: Record<string, Explanation> = {
  forwarded: {
    name: 'Forwarded',
    meaning: 'The receiver recognized forwarded mail, which usually fails SPF.',
    fix: SIGN,
  },
  trusted_forwarder: {
    name: 'Trusted forwarder',
    meaning: 'The mail came through a forwarder that the receiver trusts.',
    fix: SIGN,
  },
  mailing_list: {
    name: 'Mailing list',
    meaning: 'The mail came through a mailing list, which often breaks SPF and DKIM.',
    fix: NOTHING,
  },
  trusted_arc: {
    name: 'Trusted ARC chain',
    meaning:
      'A forwarder that the receiver trusts confirmed with ARC that the mail passed before it was forwarded.',
    fix: NOTHING,
  },
  local_policy: {
    name: 'Local policy of the receiver',
    meaning: 'A rule of the receiver, such as an allowlist, took precedence over your policy.',
    fix: 'If this is your own mail, make it pass DMARC. Otherwise, nothing to fix.',
  },
  sampled_out: {
    name: 'Outside the sample',
    meaning: 'Your record applies the policy to a share of the failing mail only (pct).',
    fix: 'Remove pct from your DMARC record to apply the policy to all failing mail.',
  },
  policy_test_mode: {
    name: 'Test mode',
    meaning: 'Your DMARC record is in test mode (t=y), so the receiver did not apply the policy.',
    fix: 'Remove t=y from your DMARC record once all your sources pass.',
  },
  other: {
    name: 'Other reason',
    meaning: 'The receiver made an exception and does not say why.',
    fix: 'If this is your own mail, make it pass DMARC. Otherwise, nothing to fix.',
  },
};

export interface OverrideReason {
  type: string;
  comment: string | null;
}

/** Receivers name trusted ARC chains in the comment of another reason (RFC 8617 §7.2.2). */
const ARC = /\barc\s*=\s*pass\b/i;

const keyOf = ({ type, comment }: OverrideReason): string =>
  ARC.test(comment ?? '') ? 'trusted_arc' : type;

/** For any reason, also one that no standard defines. */
export function explainOverride(reason: OverrideReason): Explanation & { key: string } {
  const key = keyOf(reason);
  if (Object.hasOwn(EXPLANATIONS, key)) return { key, ...EXPLANATIONS[key]! };
  return {
    key,
    name: key.replaceAll('_', ' '),
    meaning: 'The receiver gives a reason that the DMARC standard does not define.',
    fix: EXPLANATIONS.other!.fix,
  };
}

const STRENGTH = { none: 0, quarantine: 1, reject: 2 } as const;
type Disposition = keyof typeof STRENGTH;

export interface PublishedPolicy {
  p?: string | null;
  sp?: string | null;
  np?: string | null;
  pct?: number | null;
  testing?: boolean | null;
}

interface EvaluatedRow {
  outcome: 'pass' | 'fail';
  disposition: Disposition | 'unknown';
  reasons: OverrideReason[];
  /** The domain in From; null if the report does not say. */
  header_from: string | null;
}

/** Why mail that failed was treated more mildly than the policy in the report says; null if it was not. */
export function whyMilder(
  { outcome, disposition, reasons, header_from }: EvaluatedRow,
  { p, sp, np, pct, testing }: PublishedPolicy,
  policyDomain: string | null,
): string | null {
  if (outcome === 'pass') return null;
  if (reasons.length > 0) return reasons.map((reason) => explainOverride(reason).name).join(', ');
  const isSubdomain = header_from !== null && header_from !== policyDomain;
  // Whether the subdomain existed decides between the two, and no report says that (RFC 9989 §4.7).
  if (isSubdomain && np && np !== (sp ?? p)) return null;
  const [tag, policy] = isSubdomain && sp ? ['sp', sp] : ['p', p];
  if (!policy || !Object.hasOwn(STRENGTH, policy)) return null;
  if (policy === 'none') return `Your policy was ${tag}=none`;
  if (disposition === 'unknown') return null;
  if (STRENGTH[disposition] >= STRENGTH[policy as Disposition]) return null;
  if (testing) return 'Your policy was in test mode (t=y)';
  if (pct !== null && pct !== undefined && pct < 100)
    return `Your policy applied to ${pct}% of failing mail`;
  return 'The receiver gives no reason';
}
