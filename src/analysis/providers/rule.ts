/** How a mailbox provider's published rules are declared. */

import { normalizeAddress } from '../../lib/addresses.ts';
import type { Json, Reference } from '../check.ts';
import {
  type CheckFact,
  type ConsequenceId,
  type FindFact,
  hasBlockedFile,
  hasMalformedLines,
  hasOnlyEd25519,
  hasPolicyNone,
  impersonatesSomeone,
  listsOnlyHelo,
} from '../consequences.ts';
import type { Provider, RuleStatus, RuleVerdict } from '../result.ts';

/** The rules of one provider, one file each. `evaluate.ts` lists them. */
export interface ProviderRules {
  provider: Provider;
  name: string;
  /** Where the provider publishes its rules. */
  reference: Reference;
  rules: Rule[];
}

/** One published rule. */
export interface Rule extends Pick<RuleVerdict, 'id' | 'title' | 'applies' | 'error'> {
  /**
   * Groups of check ids. The rule is met if all checks of any one group pass. Empty if no single
   * message can show whether the rule is met.
   */
  needs: string[][];
  /** The rule is only listed for marketing mail. */
  marketingOnly?: true;
  /** The rule is only listed if this holds. */
  listedIf?(find: FindFact): boolean;
  /** Takes precedence, for what check statuses do not show. Returns null to fall back to the rest. */
  evaluate?(find: FindFact): RuleOutcome | null;
  /** The rule is not met if one of these applies. The headline then names the provider. */
  consequences?: ConsequenceId[];
}

/** Without a detail, the titles of the checks explain the status. */
export interface RuleOutcome {
  status: RuleStatus;
  detail?: string;
  /** The ids of the checks whose titles explain the status; by default all that the rule needs. */
  because?: string[];
  /** Follows the titles of the checks. */
  note?: string;
}

// Shared by the rules of several providers.

/** The checks for RFC 5322 header fields and lines, except `from`, which has a rule of its own. */
export const FORMAT_CHECKS = ['date', 'message_id', 'header_duplicates', 'line_length', 'encoding'];

/** Alignment in DMARC terms: SPF or DKIM passes for the From domain. */
export const ALIGNMENT_CHECKS = [
  // First, because SPF may be unaligned without a finding if DKIM is aligned.
  ['dkim', 'dkim_alignment'],
  ['spf', 'spf_alignment'],
];

/** Whether this failure breaks no provider rule, although it is worth fixing. */
export function isTolerated({ id, evidence }: CheckFact, find: FindFact): boolean {
  // A valid date that is far from the time of receipt follows RFC 5322.
  if (id === 'date') return evidence.sent_at !== undefined;
  if (id === 'encoding') return hasOnlyEightBitBody(evidence) && !hasMalformedLines(find);
  // A valid field with a false name. The rule `true_sender` reports it.
  return id === 'from' && impersonatesSomeone(find);
}

/** Servers accept 8-bit text that its part does not declare. Any other finding counts. */
function hasOnlyEightBitBody(evidence: CheckFact['evidence']): boolean {
  const { eight_bit_body: body, structure, ...others } = evidence;
  const isCharset = (item: Json) => isObject(item) && item.problem === 'charset_missing';
  const isSound = Array.isArray(structure)
    ? structure.every(isCharset)
    : isEmpty(structure ?? null);
  return typeof body === 'number' && body > 0 && isSound && Object.values(others).every(isEmpty);
}

const isEmpty = (value: Json): boolean =>
  value === 0 || value === null || (Array.isArray(value) && value.length === 0);

/** null: not known. */
type VerifiesEd25519 = false | null;

const UNKNOWN_ED25519: RuleOutcome = {
  status: 'unknown',
  detail: 'It is unknown whether this provider verifies Ed25519.',
};

const ed25519Outcome = (verifies: VerifiesEd25519): RuleOutcome =>
  verifies === false ? { status: 'not_met', because: ['dkim_key'] } : UNKNOWN_ED25519;

const UNKNOWN_SPF: RuleOutcome = { status: 'unknown', because: ['spf'] };

/** Whether the result is unknown, and not because another check failed. */
const isOpen = (find: FindFact, id: string): boolean => {
  const fact = find(id);
  if (fact?.status === 'skipped') return fact.failedCauses.length === 0;
  return fact === undefined || fact.status === 'error';
};

/** For a rule that an Ed25519 signature alone does not meet. */
export const needsRsa =
  (verifies: VerifiesEd25519) =>
  (find: FindFact): RuleOutcome | null =>
    hasOnlyEd25519(find) ? ed25519Outcome(verifies) : null;

/** For a rule that an Ed25519 signature alone does not meet, although SPF can. */
export const needsRsaOrSpf =
  (verifies: VerifiesEd25519) =>
  (find: FindFact): RuleOutcome | null => {
    if (!hasOnlyEd25519(find) || find('spf')?.status === 'pass') return null;
    return isOpen(find, 'spf') ? UNKNOWN_SPF : ed25519Outcome(verifies);
  };

/** For a rule about alignment. `dkim_key` only warns if SPF passes with alignment, or may. */
export const needsAlignedRsa =
  (verifies: VerifiesEd25519) =>
  (find: FindFact): RuleOutcome | null => {
    if (!hasOnlyEd25519(find)) return null;
    if (find('dkim_key')?.status === 'fail') return ed25519Outcome(verifies);
    return isOpen(find, 'spf') ? UNKNOWN_SPF : null;
  };

/** DMARC was not checked, which is not a failure. The rules about From report the cause. */
const NO_FROM_DOMAIN: RuleOutcome = {
  status: 'unknown',
  detail: 'From does not have exactly one domain, so no DMARC policy can be looked up.',
};

interface PolicyRuleOptions {
  error: string | null;
  verifiesEd25519: VerifiesEd25519;
}

/** All four providers apply the DMARC policy of the From domain to mail of any sender. */
export const dmarcPolicyRule = ({ error, verifiesEd25519 }: PolicyRuleOptions): Rule => ({
  id: 'dmarc_policy',
  title: 'If the From domain publishes p=quarantine or p=reject, mail passes DMARC.',
  applies: 'any',
  needs: [['dmarc']],
  error,
  consequences: [
    // Without one valid address in From, DMARC cannot pass.
    'invalid_from',
    'dmarc_fails',
    ...(verifiesEd25519 === false ? (['ed25519_only'] as const) : []),
  ],
  // With p=none or no record, mail that fails DMARC breaks no rule.
  evaluate(find) {
    const dmarc = find('dmarc');
    if (dmarc?.failedCauses.includes('from')) return NO_FROM_DOMAIN;
    if (dmarc?.failedCauses.some((id) => id === 'dmarc_policy' || id === 'dmarc_record'))
      return { status: 'met', detail: 'The From domain has no DMARC policy to apply.' };
    const isSkippedForKey = dmarc?.failedCauses.includes('dkim_key') && hasOnlyEd25519(find);
    if (hasPolicyNone(find) && (dmarc?.status === 'fail' || isSkippedForKey))
      return {
        status: 'met',
        because: [hasOnlyEd25519(find) ? 'dkim_key' : 'dmarc'],
        note: 'The DMARC policy in effect is none: failing mail is still delivered.',
      };
    if (isSkippedForKey) return ed25519Outcome(verifiesEd25519);
    const mayRely = hasOnlyEd25519(find) && isOpen(find, 'spf');
    if (dmarc?.status === 'pass' && mayRely && !hasPolicyNone(find)) return UNKNOWN_SPF;
    return null;
  },
});

/** All four providers forbid it: Gmail and Microsoft in their sender rules, all in their spam policies. */
export const TRUE_SENDER: Rule = {
  id: 'true_sender',
  title: 'The name in From shows who sends the message and does not impersonate someone else.',
  applies: 'any',
  needs: [['from']],
  error: null,
  consequences: ['false_sender'],
  evaluate: (find) =>
    find('from')?.status === 'error' ? { status: 'unknown' } : trueUnlessFalse(find),
};

const trueUnlessFalse = (find: FindFact): RuleOutcome | null =>
  find('from') && !impersonatesSomeone(find)
    ? { status: 'met', detail: 'The display name does not impersonate someone else.' }
    : null;

/** The types that Gmail and Outlook block are published lists. */
export const attachmentRule = (
  provider: 'gmail' | 'microsoft',
  title: string,
  error: string | null,
): Rule => ({
  id: 'attachments',
  title,
  applies: 'any',
  needs: [['attachments']],
  error,
  consequences: ['blocked_attachment'],
  evaluate(find) {
    if (find('attachments')?.status !== 'fail') return null;
    return { status: hasBlockedFile(find, provider) ? 'not_met' : 'met' };
  },
});

/**
 * Only the answer of this Spamhaus zone counts: if it does not respond, the check may rely on other
 * lists.
 */
export function spamhausOutcome(
  find: FindFact,
  { check, zone, subject }: { check: string; zone: string; subject: string },
): RuleOutcome {
  const lists = find(check)?.evidence.lists;
  const list = (Array.isArray(lists) ? lists : []).find(
    (entry) => isObject(entry) && entry.zone === zone,
  );
  const because = [check];
  if (!isObject(list)) return { status: 'unknown', detail: 'Spamhaus was not queried.', because };
  if (list.status === 'listed')
    return { status: 'not_met', detail: `Spamhaus lists ${subject}.`, because };
  return list.status === 'not_listed'
    ? { status: 'met', detail: `Spamhaus does not list ${subject}.`, because }
    : { status: 'unknown', detail: 'Spamhaus did not respond.', because };
}

/** Apple's replies name the Spamhaus DBL, for domains of the sender and of links. */
export function dblOutcome(
  find: FindFact,
  check: 'domain_blocklists' | 'link_blocklists',
): RuleOutcome {
  const fact = find(check);
  const isSender = check === 'domain_blocklists';
  if (fact?.status === 'fail' && !(isSender && listsOnlyHelo(find))) return { status: 'not_met' };
  if (fact?.status === 'fail') return { status: 'met' };
  // Skipped because of a listing of the sender's own domain.
  if (fact?.status === 'skipped') return { status: 'not_met' };
  // The DBL lists no IP addresses, so nothing is looked up for a link to one.
  if (!isSender && hasOnlyAddresses(fact))
    return { status: 'met', detail: 'No link leads to a domain name.', because: [check] };
  return spamhausOutcome(find, isSender ? SENDER_DBL : LINK_DBL);
}

function hasOnlyAddresses(fact: CheckFact | undefined): boolean {
  const asked = fact?.status === 'error' ? null : fact?.evidence.asked;
  return (
    Array.isArray(asked) &&
    asked.length > 0 &&
    asked.every((name) => typeof name === 'string' && normalizeAddress(name) !== null)
  );
}

const DBL = { zone: 'dbl.spamhaus.org' };
const SENDER_DBL = { ...DBL, check: 'domain_blocklists', subject: 'a sender domain' };
const LINK_DBL = { ...DBL, check: 'link_blocklists', subject: 'a domain of a link' };

/** For a check of the HTML: a message without HTML cannot break the rule. */
export const metIfSkipped =
  (id: string, otherwise?: (find: FindFact) => RuleOutcome | null) =>
  (find: FindFact): RuleOutcome | null =>
    find(id)?.status === 'skipped' ? { status: 'met' } : (otherwise?.(find) ?? null);

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * For a rule that even a warning of this check breaks. An unsubscribe link without readable text only
 * warns, for example, but providers require it to be clearly visible.
 */
export const failsOnWarning =
  (id: string) =>
  (find: FindFact): RuleOutcome | null =>
    find(id)?.status === 'warn' ? { status: 'not_met', because: [id] } : null;
