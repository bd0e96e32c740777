/** Defines a check, its input and its findings. `checks/index.ts` lists all checks. */

import type { AskDns } from '../net/dns/reply.ts';
import {
  DNS_FAILURES,
  type DnsErrorReason,
  type RecordType,
  type Resolver,
} from '../net/dns/resolver.ts';
import type { WebClient } from '../net/http/web.ts';
import type { BlocklistInUse } from './blocklists/blocklist.ts';
import { LIMITS, type Message } from './mime/message.ts';
import type { PublicEvidence, PublicText } from './public-evidence.ts';
import type { FileReceipt } from './receipt/file-receipt.ts';
import type { Template } from './templates/template.ts';

export const CATEGORIES = [
  'authentication',
  'reputation',
  'infrastructure',
  'compliance',
  'content',
  'spam_filters',
] as const;
export type Category = (typeof CATEGORIES)[number];

export const CHECK_STATUSES = ['pass', 'warn', 'fail', 'info', 'error', 'skipped'] as const;
/** `error`: could not be determined. `skipped`: does not apply. Neither counts as a pass or a failure. */
export type CheckStatus = (typeof CHECK_STATUSES)[number];

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The mail server of the operator that passed the message on. */
export interface ReportingServer {
  client_ip: string;
  /** The name that it gives itself in its Received field. */
  name: string | null;
  /** How it reported the client; null if it did not, or not in a form that can be read. */
  method: 'xclient' | 'xforward' | 'received' | null;
}

/** The SMTP session as the listener saw it. null means "not known", which is never a failure. */
export interface Envelope {
  /** The address of MAIL FROM; empty for the null sender `<>` (RFC 5321 §4.5.5). */
  mail_from: string | null;
  /** The sending IP address. IPv4-mapped IPv6 addresses are converted to IPv4. */
  client_ip: string | null;
  /** The name that the sending server gave in HELO or EHLO. */
  helo: string | null;
  /** `used: false` only if STARTTLS was offered and the sending server did not use it. */
  tls: { used: boolean; version: string | null; cipher: string | null } | null;
  /** The server that reported the client. Missing or null if the client itself connected. */
  reported_by?: ReportingServer | null;
  /** Set if the message is a file and was not received here. The other values are then from its header or from the user. */
  file?: FileReceipt | null;
}

export type MessageKind = 'auto' | 'marketing' | 'transactional';

export const KIND_CONFIDENCES = ['certain', 'likely', 'uncertain'] as const;
/**
 * `certain`: stated by the sender, or shown by fields that only campaigns have. `uncertain`: the
 * message is also scored as the other kind.
 */
export type KindConfidence = (typeof KIND_CONFIDENCES)[number];

/** Everything about the message that a result depends on. Plain data, so threads can exchange it. */
export interface AnalysisInput {
  /** The message exactly as received. */
  raw: Uint8Array;
  envelope: Envelope;
  /**
   * Milliseconds since the Unix epoch. The current time for all checks: none reads a clock. It is null for a file whose
   * header does not say. Nothing that depends on it is judged then.
   */
  receivedAt: number | null;
  kind: MessageKind;
  /** Not sent yet: what needs a sent message is skipped, and merge tags are allowed. */
  isTemplate?: boolean;
}

/** A domain that the team has added. */
export interface TeamDomain {
  /** Where the service takes reports about it. */
  feedbackAddress: string;
  /** Whether its records show that it is the team's. */
  isVerified: boolean;
}

/** The operator's settings that a result depends on. Plain data. */
export interface Setup {
  /** The lists that are enabled, with the outcome of their last test. */
  blocklists: BlocklistInUse[];
  /** `tcp://host:port` of spamd; null if not configured. */
  spamd: string | null;
  /** `http://host:port` of Rspamd; null if not configured. */
  rspamd: string | null;
  /** Whether links in a message may be requested (HEAD only). */
  checkLinks: boolean;
  /** The team's domains by name. There can be thousands, so threads get them only when they have changed. Empty outside the service. */
  domains: Record<string, TeamDomain>;
  /** The team's domains that are known to send from this address. Empty outside the service. */
  ownSenderOf: string[];
}

/** The input of a check. */
export interface Context extends AnalysisInput {
  message: Message;
  /** Set for a template. `message` then has stand-ins in place of its merge tags. */
  template: Template | null;
  resolver: Resolver;
  /** The guarded client, which never connects to private or special addresses. */
  web: WebClient;
  /** Asks more than a lookup says, to explain why one failed; null if that is not possible. */
  askDns: AskDns | null;
  setup: Setup;
  /** Maps a line of the message as it arrived to its number in the file. */
  lineInFile(line: number): number;
  /** Offline mode: no network requests. Checks that need the network are `skipped`. */
  offline: boolean;
  /**
   * The value of `compute(context)`, computed once per analysis. Checks share a DKIM verification or a
   * DMARC lookup this way. The function itself is the key.
   */
  fact<T>(compute: (context: Context) => T): T;
}

/** The standard or rule behind a check. */
export interface Reference {
  name: string;
  url: string;
}

/** What to change, with the DNS record to publish if there is one. */
export interface Fix {
  text: string;
  record?: { type: string; name: string; value: string };
  /** A condition that only the reader can confirm. With it, the record is published only if chosen. */
  caution?: string;
  /** Instructions of the sending service in use. Always a page that this program chose. */
  guide?: { name: string; url: string };
}

export interface Finding {
  status: CheckStatus;
  /** The verdict in one sentence ("Your DKIM signature does not verify."). */
  title: string;
  /** Why it matters, or why it could not be determined: one to three sentences. */
  detail: string;
  /** The facts behind it from the message, the session or DNS. Keys are in snake_case. */
  evidence?: { [key: string]: Json };
  /** Overrides the check's own `about`. */
  about?: string;
  /** Overrides the check's own reference. */
  reference?: Reference;
  /** Required if the status is `warn` or `fail`. */
  fix?: Fix;
  /** Like `Check.dependsOn`, for this finding only: it has the same cause as those checks. */
  dependsOn?: string[];
  /** Overrides the check's own `fixedBy`. */
  fixedBy?: string[][];
  /** The status that `fixedBy` leads to; `pass` by default. */
  statusWhenFixed?: 'info' | 'warn';
  /** Ids of checks that pass too once the fix of this finding is applied, which adds to its gain. */
  alsoFixes?: string[];
  /** The check whose finding names the cause, and what to do about it in a clause. The score finds all other causes. */
  cause?: { id: string; step: string };
  /** For the status `error`: its cause is the message itself, so another attempt would end the same way. */
  isPermanent?: true;
}

/**
 * No check waits for the network longer than this. Half a second remains for scoring, so that an
 * analysis ends within 15 s whatever the network does.
 */
export const DEADLINE_MS = 14_500;

export interface Check {
  /** Stable, in snake_case. */
  id: string;
  category: Category;
  /** 0 for a check that only informs. */
  points: number;
  /** A short name for tables, such as "SPF alignment". */
  label: string;
  /**
   * The problem in a few words that fit every failure and warning of the check. Required if the check
   * has points.
   */
  issueTitle?: string;
  reference: Reference;
  /**
   * The evidence that a public report shows; unlisted keys are removed. null removes the whole check,
   * for checks that only show part of the message.
   */
  publicEvidence: PublicEvidence | null;
  publicTexts?: PublicText[];
  /** Ids of checks. If any of them fails, this one is `skipped`. */
  dependsOn?: string[];
  /** The finding depends on whether the message is marketing. It runs twice if that is uncertain. */
  dependsOnKind?: true;
  /**
   * Groups of ids. If all checks of one group passed, a failure of this check would be fixed too, which
   * adds to the gain of each of them.
   */
  fixedBy?: string[][];
  /**
   * The domain whose owner must fix what the check finds, such as the one with the records; null if there is none. If
   * someone other than the reader owns it, the finding gives no advice.
   */
  about?(context: Context): string | null | Promise<string | null>;
  run(context: Context): Finding | Promise<Finding>;
}

/** The part of a check that is available without loading its code: see `declarationOf`. */
export type CheckDeclaration = Pick<
  Check,
  | 'label'
  | 'category'
  | 'points'
  | 'reference'
  | 'dependsOn'
  | 'issueTitle'
  | 'publicEvidence'
  | 'publicTexts'
>;

export const pass = (title: string, detail: string, evidence?: Finding['evidence']): Finding => ({
  status: 'pass',
  title,
  detail,
  evidence,
});

export const info = (title: string, detail: string, evidence?: Finding['evidence']): Finding => ({
  status: 'info',
  title,
  detail,
  evidence,
});

/** The check does not apply. `reason` is a full sentence ("Not checked: no DMARC record."). */
export const skipped = (title: string, reason: string): Finding => ({
  status: 'skipped',
  title,
  detail: reason,
});

/** The check could not be completed. `reason` is a full sentence that says what failed. */
export const unknown = (
  title: string,
  reason: string,
  evidence?: Finding['evidence'],
): Finding => ({
  status: 'error',
  title,
  detail: reason,
  evidence,
});

interface Problem {
  title: string;
  detail: string;
  fix: Fix | string;
  evidence?: Finding['evidence'];
  reference?: Reference;
}

const problem = (status: 'warn' | 'fail', { fix, ...rest }: Problem): Finding => ({
  status,
  ...rest,
  fix: typeof fix === 'string' ? { text: fix } : fix,
});

/** Earns half the points. */
export const warn = (details: Problem): Finding => problem('warn', details);

/** Earns no points. */
export const fail = (details: Problem): Finding => problem('fail', details);

/** An RFC with an optional section: `rfc(7208, '4.6.4')`. */
export function rfc(number: number, section?: string): Reference {
  return {
    name: section ? `RFC ${number} §${section}` : `RFC ${number}`,
    url: `https://www.rfc-editor.org/rfc/rfc${number}${section ? `#section-${section}` : ''}`,
  };
}

// Findings for DNS lookups that were not made or that failed.

/** A DNS lookup that failed. */
export interface FailedLookup {
  name: string;
  type: RecordType;
  reason: DnsErrorReason;
}

export function offline(title: string): Finding {
  return skipped(title, 'Not checked: offline mode makes no DNS lookups.');
}

/** The public part of the evidence that `lookupFailed` adds. */
export const PUBLIC_FAILED_LOOKUPS = { unanswered: 'shown' } as const;

/** The finding of a check that depends on these failed lookups. It does not affect the score. */
export function lookupFailed(
  title: string,
  failures: FailedLookup[],
  evidence: Finding['evidence'] = {},
): Finding {
  const lookups = failures.map(
    ({ name, type, reason }) => `${type} ${name}: ${DNS_FAILURES[reason]}`,
  );
  const [first, ...others] = lookups;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return unknown(
    title,
    `A DNS lookup failed: ${first ?? 'none'}${more}. This does not affect your score.`,
    { ...evidence, unanswered: lookups.slice(0, 10) },
  );
}

// The finding for a missing header field.

/** A failure, or unknown if the header is too long to read in full. */
export function missingField(
  message: Pick<Message, 'headerBytes'>,
  name: string,
  problem: { title: string; detail: string; fix: string },
): Finding {
  if (message.headerBytes > LIMITS.headerBytes)
    return unknown(
      `Could not determine whether your message has a ${name} field.`,
      'Your header is too long to read in full. The rest may contain the field.',
    );
  return fail(problem);
}
