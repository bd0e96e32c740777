/**
 * What mailbox providers do with a message that has a certain problem. Caps, provider rules and the
 * headline all read this table, so they cannot contradict one another.
 */

import type { BlockingProvider } from './attachments/blocked-types.ts';
import type { CheckStatus, Json } from './check.ts';
import type { Classification } from './kind.ts';

/** What the consequences of a check depend on. */
export interface CheckFact {
  id: string;
  status: CheckStatus;
  evidence: { [key: string]: Json };
  /** The failed checks because of which this one was skipped. */
  failedCauses: string[];
}

export type FindFact = (id: string) => CheckFact | undefined;

export type MailKind = Classification['kind'];

/** Worst first, among consequences with the same limit. */
export const EFFECTS = ['rejected', 'spam', 'clipped', 'requirement', 'weakness'] as const;
export type Effect = (typeof EFFECTS)[number];

export interface Consequence {
  /** Provider rules refer to it. */
  id: string;
  /** The highest score possible while the problem remains. */
  limit: number;
  effect: Effect;
  /** Who acts, in the headline, if no provider rule names a provider or their names are too long. */
  actor: string;
  /** The problem, in one sentence. */
  reason: string;
  /** The same in a few words, for the end of the headline. */
  problem: string;
  /** Why the score is capped. */
  reference: string;
  applies(find: FindFact, kind: MailKind): boolean;
}

const LARGE = 'Mailbox providers';
const SERVERS = 'Many mail servers';
const FILTERS = 'Spam filters';
/** Limit of a message that only one of SPF and DKIM authenticates. */
const ONE_MECHANISM = {
  limit: 89,
  effect: 'weakness',
  actor: LARGE,
  reference: 'Forwarding breaks SPF, changes in transit break DKIM, and bulk senders need both.',
} as const;
const DUAL = 'An Ed25519 signature (RFC 8463) needs an RSA signature beside it.';

/** Lowest limit first. `docs/scoring.md` shows this table. */
export const CONSEQUENCES = [
  {
    id: 'missing_domain',
    limit: 25,
    effect: 'rejected',
    actor: SERVERS,
    reason: 'The From domain does not exist.',
    problem: 'its From domain does not exist',
    reference: 'Mail servers reject mail from domains that do not exist in DNS (RFC 5321 §2.3.5).',
    applies: (find) => failed(find, 'mx') && isText(find('mx')?.evidence.missing),
  },
  {
    id: 'unauthenticated',
    limit: 25,
    effect: 'rejected',
    actor: LARGE,
    reason: 'Neither SPF nor DKIM passes.',
    problem: 'neither SPF nor DKIM passes',
    reference: 'Gmail and Yahoo reject unauthenticated mail or send it to spam.',
    applies: (find) => lacks(find, 'spf') && lacks(find, 'dkim'),
  },
  {
    id: 'listed_address',
    limit: 35,
    effect: 'rejected',
    actor: LARGE,
    reason: 'The sending IP address is on a major blocklist.',
    problem: 'its IP is blocklisted',
    reference: 'Yahoo (553 5.7.1) and Microsoft (550 5.7.1) reject addresses that Spamhaus lists.',
    applies: (find) => failed(find, 'ip_blocklists'),
  },
  {
    id: 'listed_domain',
    limit: 35,
    effect: 'rejected',
    actor: LARGE,
    reason: 'A sender domain is on a major blocklist.',
    problem: 'its domain is blocklisted',
    reference: 'Large mailbox providers reject mail from listed domains.',
    applies: (find) => failed(find, 'domain_blocklists') && !listsOnlyHelo(find),
  },
  {
    id: 'dmarc_fails',
    limit: 40,
    effect: 'rejected',
    actor: LARGE,
    reason: 'DMARC fails.',
    problem: 'DMARC fails',
    reference: 'RFC 9989',
    // DMARC that was not checked, because From or the record is missing, has not failed.
    applies: (find) => failed(find, 'dmarc') && !hasPolicyNone(find),
  },
  {
    id: 'unaligned_bulk',
    limit: 40,
    effect: 'rejected',
    actor: LARGE,
    reason: 'Neither SPF nor DKIM passes for the From domain of this marketing mail.',
    problem: 'From is not authenticated',
    reference:
      'Gmail (5.7.32), Yahoo (554 5.7.9) and Microsoft (550 5.7.515) require it from bulk senders.',
    applies: (find, kind) => kind === 'marketing' && isUnauthenticatedFrom(find),
  },
  {
    id: 'missing_from',
    limit: 40,
    effect: 'rejected',
    actor: LARGE,
    reason: 'The message has no From field.',
    problem: 'it has no From field',
    reference: 'RFC 5322 §3.6; Gmail 550 5.7.1',
    applies: (find) => failed(find, 'from') && isEmptyEvidence(find('from')),
  },
  {
    id: 'invalid_from',
    limit: 40,
    effect: 'rejected',
    actor: LARGE,
    reason: 'The From field is repeated or invalid.',
    problem: 'From is repeated or invalid',
    reference: 'RFC 5322 §3.6.2; Gmail 550 5.7.1',
    applies: (find) =>
      failed(find, 'from') && !isEmptyEvidence(find('from')) && !impersonatesSomeone(find),
  },
  {
    id: 'blocked_attachment',
    limit: 40,
    effect: 'rejected',
    actor: LARGE,
    reason: 'An attachment is of a type that mailbox providers block.',
    problem: 'its attachment is blocked',
    reference: 'Gmail 552 5.7.0',
    applies: (find) => hasBlockedFile(find),
  },
  {
    id: 'listed_link',
    limit: 50,
    effect: 'rejected',
    actor: LARGE,
    reason: 'A link leads to a domain on a major blocklist.',
    problem: 'a link is blocklisted',
    reference: 'Mailbox providers look up the domains of links. Apple rejects with 550 5.7.1.',
    applies: (find) => failed(find, 'link_blocklists'),
  },
  {
    id: 'ed25519_without_spf',
    limit: 55,
    effect: 'rejected',
    actor: LARGE,
    reason: 'SPF does not pass, and Gmail and Microsoft do not verify the Ed25519 signature.',
    problem: 'SPF fails, and DKIM is Ed25519-only',
    reference: DUAL,
    applies: (find) => hasOnlyEd25519(find) && lacks(find, 'spf'),
  },
  {
    id: 'ed25519_only',
    limit: 55,
    effect: 'rejected',
    actor: LARGE,
    reason: 'DMARC depends on an Ed25519 signature, which Gmail and Microsoft do not verify.',
    problem: 'DMARC depends on Ed25519',
    reference: DUAL,
    applies: (find, kind) =>
      reliesOnEd25519(find) &&
      (kind === 'marketing' || !(hasPolicyNone(find) || lacksDmarcRecord(find))),
  },
  {
    id: 'dmarc_fails_without_policy',
    limit: 60,
    effect: 'spam',
    actor: LARGE,
    reason: 'DMARC fails.',
    problem: 'DMARC fails',
    reference:
      'RFC 9989. With p=none, providers deliver such mail, but treat it as unauthenticated.',
    applies: (find) => failed(find, 'dmarc') && hasPolicyNone(find),
  },
  {
    id: 'ed25519_without_policy',
    limit: 60,
    effect: 'spam',
    actor: LARGE,
    reason:
      'From is authenticated only by an Ed25519 signature, which Gmail and Microsoft do not verify.',
    problem: 'From depends on Ed25519',
    reference: DUAL,
    applies: (find) => reliesOnEd25519(find),
  },
  {
    id: 'unauthenticated_from',
    limit: 60,
    effect: 'spam',
    actor: LARGE,
    reason: 'Neither SPF nor DKIM passes for the From domain, which has no valid DMARC record.',
    problem: 'From is not authenticated',
    reference:
      'Of mail that is not bulk, providers require only that SPF or DKIM passes for any domain. As with p=none, they treat such mail as unauthenticated.',
    applies: (find) => (lacksDmarcRecord(find) || hasForeignFrom(find)) && hasNoAlignedPass(find),
  },
  {
    id: 'no_reverse_dns',
    limit: 60,
    effect: 'rejected',
    actor: LARGE,
    reason: 'The sending IP address has no reverse DNS name that resolves back to it.',
    problem: 'reverse DNS is not valid',
    reference: 'Gmail 5.7.25',
    applies: (find) => failed(find, 'ptr') || failed(find, 'fcrdns'),
  },
  {
    id: 'malformed_lines',
    limit: 60,
    effect: 'rejected',
    actor: SERVERS,
    reason: 'The message has lines or parts that mail servers do not accept.',
    problem: 'it has malformed lines or parts',
    reference: 'RFC 5321 §2.3.8; protection against SMTP smuggling',
    applies: (find) => failed(find, 'encoding') && hasMalformedLines(find),
  },
  {
    id: 'false_sender',
    limit: 65,
    effect: 'spam',
    actor: FILTERS,
    reason: 'The display name in From impersonates someone else.',
    problem: 'the From name impersonates someone',
    reference: 'Mailbox providers treat a false sender name as phishing.',
    applies: (find) => impersonatesSomeone(find),
  },
  {
    id: 'unreachable_sender',
    limit: 65,
    effect: 'rejected',
    actor: SERVERS,
    reason: 'A sender domain cannot receive mail.',
    problem: 'a sender domain cannot receive mail',
    reference: 'Many mail servers reject such a sender, Apple with 450 4.1.8. RFC 7505 §4.2',
    applies: (find) => failed(find, 'mx') || bouncesFail(find),
  },
  {
    id: 'risky_attachment',
    limit: 65,
    effect: 'rejected',
    actor: SERVERS,
    reason: 'An attachment can run code.',
    problem: 'an attachment can run code',
    reference: 'Many mail servers reject such files or remove them.',
    applies: (find) => failed(find, 'attachments'),
  },
  {
    id: 'hidden_text',
    limit: 65,
    effect: 'spam',
    actor: FILTERS,
    reason: 'The message hides text from the recipient.',
    problem: 'it hides text from the recipient',
    reference: 'Gmail: hidden content might cause messages to be marked as spam.',
    applies: (find) => failed(find, 'hidden_text'),
  },
  {
    id: 'spam_filter',
    limit: 69,
    effect: 'spam',
    actor: FILTERS,
    reason: 'A spam filter classifies the message as spam.',
    problem: 'a spam filter classifies it as spam',
    reference: 'The verdict of SpamAssassin or Rspamd on your server',
    applies: (find) => failed(find, 'spamassassin') || failed(find, 'rspamd'),
  },
  {
    id: 'no_tls',
    limit: 70,
    effect: 'rejected',
    actor: LARGE,
    reason: 'The message was delivered without TLS.',
    problem: 'it was delivered without TLS',
    reference: 'Gmail 5.7.29',
    applies: (find) => failed(find, 'tls'),
  },
  {
    id: 'one_click',
    limit: 75,
    effect: 'requirement',
    actor: LARGE,
    reason: 'The message is marketing mail without valid one-click unsubscribe.',
    problem: 'no valid one-click unsubscribe',
    reference: 'RFC 8058; Gmail sender requirements',
    applies: (find) =>
      failed(find, 'one_click') || skippedBy(find, 'one_click', 'list_unsubscribe'),
  },
  {
    id: 'invalid_message_id',
    limit: 75,
    effect: 'rejected',
    actor: LARGE,
    reason: 'The message has no single valid Message-ID.',
    problem: 'no single valid Message-ID',
    reference: 'Gmail 550 5.7.1',
    applies: (find) => failed(find, 'message_id'),
  },
  {
    id: 'duplicate_fields',
    limit: 75,
    effect: 'rejected',
    actor: LARGE,
    reason: 'Header fields that must be unique are repeated.',
    problem: 'header fields are repeated',
    reference: 'Gmail 550 5.7.1',
    applies: (find) => failed(find, 'header_duplicates'),
  },
  {
    id: 'invalid_helo',
    limit: 75,
    effect: 'weakness',
    actor: SERVERS,
    reason: 'The HELO name of the sending server is invalid.',
    problem: 'the HELO name is invalid',
    reference:
      'RFC 5321 §4.1.1.1. Some mail servers reject such a server; the large providers do not.',
    applies: (find) => failed(find, 'helo'),
  },
  {
    id: 'too_large',
    limit: 75,
    effect: 'rejected',
    actor: SERVERS,
    reason: 'The message is larger than many mail servers accept.',
    problem: 'it is too large',
    reference: 'Common size limits of mail servers are 10 to 25 MB.',
    applies: (find) => failed(find, 'message_size'),
  },
  {
    id: 'active_content',
    limit: 79,
    effect: 'spam',
    actor: FILTERS,
    reason: 'The HTML runs code or loads other pages.',
    problem: 'the HTML runs code or loads pages',
    reference: 'Many spam filters reject active content or penalize it.',
    applies: (find) => failed(find, 'active_content'),
  },
  {
    id: 'misleading_link',
    limit: 79,
    effect: 'spam',
    actor: FILTERS,
    reason: 'A link shows one domain but leads to another.',
    problem: 'a link hides where it leads',
    reference: 'Spam filters treat such links as phishing.',
    applies: (find) => failed(find, 'link_text'),
  },
  {
    id: 'bulk_authentication',
    limit: 79,
    effect: 'requirement',
    actor: LARGE,
    reason: 'The message is marketing mail, which needs SPF, DKIM and a DMARC record.',
    problem: 'SPF, DKIM or DMARC is missing',
    reference: 'Gmail 550 5.7.27, 5.7.30 and 5.7.40; Microsoft 550 5.7.515',
    applies: (find, kind) =>
      kind === 'marketing' && (lacks(find, 'spf') || lacksSeenDkim(find) || lacksDmarcRecord(find)),
  },
  {
    id: 'clipped',
    limit: 85,
    effect: 'clipped',
    actor: 'Gmail',
    reason: 'The HTML is too large for Gmail to show in full.',
    problem: 'the HTML is too large',
    reference: 'Gmail hides the rest of the message.',
    applies: (find) => failed(find, 'html_size'),
  },
  {
    id: 'replaced_from',
    limit: 89,
    effect: 'weakness',
    actor: LARGE,
    reason: 'From uses a domain of the sending service, not of the sender.',
    problem: 'From is not at your own domain',
    reference: 'The reputation of that domain depends on all customers of the service.',
    applies: (find) =>
      find('from')?.status === 'warn' && find('from')?.evidence.replaced_by !== undefined,
  },
  {
    ...ONE_MECHANISM,
    id: 'no_spf',
    reason: 'SPF does not pass.',
    problem: 'SPF does not pass',
    applies: (find) => lacks(find, 'spf'),
  },
  {
    ...ONE_MECHANISM,
    id: 'no_dkim',
    reason: 'DKIM does not pass.',
    problem: 'DKIM does not pass',
    applies: (find) => lacks(find, 'dkim'),
  },
  {
    ...ONE_MECHANISM,
    id: 'unseen_dkim',
    reason: 'Gmail and Microsoft do not verify the Ed25519 signature.',
    problem: 'DKIM is Ed25519-only',
    applies: (find) => hasOnlyEd25519(find),
  },
] as const satisfies Consequence[];

export type ConsequenceId = (typeof CONSEQUENCES)[number]['id'];

const failed = (find: FindFact, id: string): boolean => find(id)?.status === 'fail';

/** Also if the check depends on one that failed. */
export const lacks = (find: FindFact, id: string): boolean =>
  failed(find, id) || (find(id)?.status === 'skipped' && find(id)!.failedCauses.length > 0);

/**
 * Whether all valid signatures use Ed25519, which Gmail and Microsoft do not verify: to them, the message has none. All
 * caps and rules about this use this function.
 */
export const hasOnlyEd25519 = (find: FindFact): boolean => {
  const key = find('dkim_key');
  return key !== undefined && key.status !== 'pass' && key.evidence.only_ed25519 === true;
};

/** Whether From is authenticated by such signatures alone. */
const reliesOnEd25519 = (find: FindFact): boolean =>
  hasOnlyEd25519(find) && failed(find, 'dkim_key');

/** No signature is valid, or none that all large providers verify. */
const lacksSeenDkim = (find: FindFact): boolean => lacks(find, 'dkim') || hasOnlyEd25519(find);

const isText = (value: Json | undefined): boolean => typeof value === 'string';

const skippedBy = (find: FindFact, id: string, cause: string): boolean => {
  const fact = find(id);
  return fact?.status === 'skipped' && fact.failedCauses.includes(cause);
};

/** Once `dmarc_policy` is fixed, the policy is stricter. */
export const hasPolicyNone = (find: FindFact): boolean =>
  find('dmarc')?.evidence.policy === 'none' && find('dmarc_policy')?.status !== 'pass';

const lacksDmarcRecord = (find: FindFact): boolean =>
  failed(find, 'dmarc_policy') || skippedBy(find, 'dmarc_policy', 'dmarc_record');

/** Nothing passes for the From domain, and no policy asks providers to reject the message. */
const isUnauthenticatedFrom = (find: FindFact): boolean =>
  (failed(find, 'dmarc') && hasPolicyNone(find)) ||
  (lacksDmarcRecord(find) && hasNoAlignedPass(find));

/**
 * Whether neither SPF nor DKIM passes for the From domain. Reads only the status of checks, which a
 * simulated fix changes; false while any of them is unknown.
 */
const hasNoAlignedPass = (find: FindFact): boolean =>
  isUnaligned(find, 'spf', 'spf_alignment') && isUnaligned(find, 'dkim', 'dkim_alignment');

function isUnaligned(find: FindFact, mechanism: string, alignment: string): boolean {
  if (lacks(find, mechanism)) return true;
  const isKnown = ['pass', 'warn'].includes(find(mechanism)?.status ?? '');
  return isKnown && ['fail', 'info'].includes(find(alignment)?.status ?? '');
}

/** Every other problem of the field quotes it. */
const isEmptyEvidence = (fact: CheckFact | undefined): boolean =>
  Object.keys(fact?.evidence ?? {}).length === 0;

/** Warnings count too: a MAIL FROM domain without a mail server only warns. */
const bouncesFail = (find: FindFact): boolean =>
  ['warn', 'fail'].includes(find('return_path')?.status ?? '');

// What the evidence of a finding shows beyond its status.

const objectsIn = (value: Json | undefined): { [key: string]: Json }[] =>
  (Array.isArray(value) ? value : []).filter(
    (item) => typeof item === 'object' && item !== null && !Array.isArray(item),
  ) as { [key: string]: Json }[];

/** Large providers do not reject mail because a list has the HELO name. */
export function listsOnlyHelo(find: FindFact): boolean {
  const { lists, domains } = find('domain_blocklists')?.evidence ?? {};
  const listed = objectsIn(lists)
    .filter(({ tier, status }) => tier === 1 && status === 'listed')
    .flatMap((list) => (Array.isArray(list.listed) ? list.listed : []));
  const heloNames = objectsIn(domains)
    .filter(({ roles }) => Array.isArray(roles) && roles.join() === 'helo')
    .map(({ name }) => name);
  return listed.length > 0 && listed.every((name) => heloNames.includes(name));
}

/** The display name is that of a brand, or another address. The field itself is valid. */
export function impersonatesSomeone(find: FindFact): boolean {
  const from = find('from');
  const { shown, brand } = from?.evidence ?? {};
  if (from?.status === 'fail') return shown !== undefined || brand !== undefined;
  return from?.status === 'warn' && brand !== undefined;
}

/** Without a provider: whether any provider blocks an attachment. */
export function hasBlockedFile(find: FindFact, provider?: BlockingProvider): boolean {
  if (!failed(find, 'attachments')) return false;
  return objectsIn(find('attachments')?.evidence.found).some((file) => {
    const providers = Array.isArray(file.blocked_by) ? file.blocked_by : [];
    return provider ? providers.includes(provider) : providers.length > 0;
  });
}

/** NUL, bare CR or LF, or more parts than mail has: servers reject these. */
export function hasMalformedLines(find: FindFact): boolean {
  const { nul, bare_cr: cr, bare_lf: lf, limits } = find('encoding')?.evidence ?? {};
  const isCounted = [nul, cr, lf].some((count) => typeof count === 'number' && count > 0);
  return isCounted || (Array.isArray(limits) && limits.length > 0);
}

// The setup of the sender, which can cause many problems at once.

const OF_SENDER: ConsequenceId[] = [
  'unauthenticated',
  'dmarc_fails',
  'unaligned_bulk',
  'dmarc_fails_without_policy',
  'unauthenticated_from',
  'bulk_authentication',
  'no_spf',
  'no_dkim',
  'unseen_dkim',
];

/** The problem in a few words, for the end of the headline, and the consequences that it can have. */
const SETUPS = {
  contact_form: { problem: 'From is a visitor’s address', consequences: OF_SENDER },
  default_sender: {
    problem: 'From is a default address',
    consequences: [...OF_SENDER, 'missing_domain', 'unreachable_sender', 'invalid_from'],
  },
  access_line: {
    problem: 'it was sent without a mail service',
    consequences: [
      ...OF_SENDER,
      'listed_address',
      'no_reverse_dns',
      'no_tls',
      'invalid_helo',
      'invalid_message_id',
    ] as const,
  },
} satisfies Record<string, { problem: string; consequences: ConsequenceId[] }>;

/** The ways of sending that cause many problems at once. Findings have them in their evidence, as `setup`. */
export type SetupKind = keyof typeof SETUPS;

/** The checks that can name a setup. */
const SETUP_CHECKS = ['from', 'spf', 'helo', 'ptr'];

const isSetupKind = (kind: Json | undefined): kind is SetupKind =>
  typeof kind === 'string' && Object.hasOwn(SETUPS, kind);

function setupOf(find: FindFact): SetupKind | null {
  for (const id of SETUP_CHECKS) {
    const fact = find(id);
    const kind = fact?.evidence.setup;
    if (isSetupKind(kind) && ['warn', 'fail'].includes(fact!.status)) return kind;
  }
  return null;
}

/** Whether From is not the sender's own domain, so that its records are not judged. */
const hasForeignFrom = (find: FindFact): boolean =>
  ['contact_form', 'default_sender'].includes(setupOf(find) ?? '');

/** The consequence, with the setup as the problem if that is its cause. */
export function withSetupProblem(
  consequence: AppliedConsequence,
  find: FindFact,
): AppliedConsequence {
  const kind = setupOf(find);
  if (kind === null) return consequence;
  const { problem, consequences } = SETUPS[kind];
  return consequences.some((id) => id === consequence.id)
    ? { ...consequence, problem, isSetup: true }
    : consequence;
}

// The consequences of a result.

/** A consequence that applies to a message, or the one of provider rules that are not met. */
export interface AppliedConsequence extends Omit<Consequence, 'applies'> {
  /** `problem` names the setup of the sender, which is the cause. */
  isSetup?: boolean;
}

type Severity = Pick<Consequence, 'limit' | 'effect'>;

/** Worst first: the lowest limit, because that one caps the score. The headline reports the same one. */
export const bySeverity = (a: Severity, b: Severity): number =>
  a.limit - b.limit || EFFECTS.indexOf(a.effect) - EFFECTS.indexOf(b.effect);

const WORST_FIRST: Consequence[] = CONSEQUENCES.toSorted(bySeverity);

/** Worst first. */
export const consequencesOf = (find: FindFact, kind: MailKind): AppliedConsequence[] =>
  WORST_FIRST.filter(({ applies }) => applies(find, kind));
