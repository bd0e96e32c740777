/** What a check is, what it is given and what it finds. The list of all checks is `checks/index.ts`. */

import {
  DNS_FAILURES,
  type DnsErrorReason,
  type RecordType,
  type Resolver,
} from '../net/dns/resolver.ts';
import type { Web } from '../net/http/web.ts';
import type { BlocklistInUse } from './blocklists/blocklist.ts';
import { LIMITS, type Message } from './mime/message.ts';
import type { PublicEvidence, PublicText } from './public-evidence.ts';

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
/** `error`: could not be found out. `skipped`: does not apply. Neither is ever a pass or a fail. */
export type CheckStatus = (typeof CHECK_STATUSES)[number];

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The SMTP session as the listener saw it; null is "not known", which is never a failure. */
export interface Envelope {
  /** The address of MAIL FROM; empty for the null sender `<>` (RFC 5321 §4.5.5). */
  mail_from: string | null;
  /** The client's address, IPv4-mapped ones unwrapped. */
  client_ip: string | null;
  /** What the client called itself in HELO or EHLO. */
  helo: string | null;
  /** `used: false` only where STARTTLS was offered and not taken. */
  tls: { used: boolean; version: string | null; cipher: string | null } | null;
}

export type MessageKind = 'auto' | 'marketing' | 'transactional';

/** All that a result may depend on. Plain data but for the resolver. */
export interface AnalysisInput {
  /** The message exactly as it came. */
  raw: Uint8Array;
  envelope: Envelope;
  /** Milliseconds since 1970: "now" for every check; none reads a clock. */
  receivedAt: number;
  kind: MessageKind;
}

/** What the operator has configured that a result depends on; plain data, told with each analysis. */
export interface Setup {
  /** The lists that are switched on, with what their last test showed. */
  blocklists: BlocklistInUse[];
  /** `tcp://host:port` of spamd; null where there is none. */
  spamd: string | null;
  /** `http://host:port` of Rspamd; null where there is none. */
  rspamd: string | null;
  /** Whether the links of a message may be asked (HEAD alone). */
  checkLinks: boolean;
}

/** What a check is given. */
export interface Context extends AnalysisInput {
  message: Message;
  resolver: Resolver;
  /** The guarded client: no private or special address is ever connected to. */
  web: Web;
  /** What the operator has configured: blocklists, engines, links. */
  setup: Setup;
  /** The offline mode: nothing may be asked; checks that must ask are `skipped`. */
  offline: boolean;
  /**
   * The value of `make(context)`, made once for each analysis however many checks want it: how
   * checks share a DKIM verification or a DMARC lookup. `make` is its own key.
   */
  fact<T>(make: (context: Context) => T): T;
}

/** The standard or rule that a check goes by. */
export interface Reference {
  name: string;
  url: string;
}

/** What to change, with the DNS record to publish where it is one. */
export interface Fix {
  text: string;
  record?: { type: string; name: string; value: string };
}

/** What a check found. */
export interface Finding {
  status: CheckStatus;
  /** The verdict: one sentence with a subject, for a person ("Your DKIM signature does not verify."). */
  title: string;
  /** Why it matters, or why it could not be found out: one to three sentences. */
  detail: string;
  /** What in the message, the session or the DNS shows it; keys are short words in snake_case. */
  evidence?: { [key: string]: Json };
  /** Overrides the check's own reference. */
  reference?: Reference;
  /** Required where the status is `warn` or `fail`. */
  fix?: Fix;
  /** As `Check.dependsOn`, for this finding alone: it has the same cause as those checks have here. */
  dependsOn?: string[];
  /** Overrides the check's own `curedBy`. */
  curedBy?: string[][];
  /** A failure that does not hold the whole score down, as others of this check would (see CAPS). */
  uncapped?: boolean;
}

/**
 * No check waits for the network beyond this; half a second is left to score, so that the whole ends
 * within 15 s whatever the network does.
 */
export const DEADLINE_MS = 14_500;

export interface Check {
  /** The stable name, snake_case, as `checks` lists it. */
  id: string;
  category: Category;
  /** 0 for a check that only informs. */
  points: number;
  /** A few words for tables: "SPF alignment". */
  label: string;
  /**
   * The problem in a few words that fit every failure and warning of the check. Required where it
   * has points.
   */
  issueTitle?: string;
  reference: Reference;
  /**
   * What people outside the team see of the evidence; keys that are not listed are removed. null for a
   * check that only shows part of the message: they do not see it at all.
   */
  publicEvidence: PublicEvidence | null;
  publicTexts?: PublicText[];
  /** Ids of checks: where any of them failed, this one is `skipped: follows from …`. */
  dependsOn?: string[];
  /**
   * Groups of ids: a failure of this one would go away if all of one group passed, which is part of
   * the gain of each of them.
   */
  curedBy?: string[][];
  run(context: Context): Finding | Promise<Finding>;
}

/** What is known about a check without loading its code: see `declarationOf`. */
export type CheckDeclaration = Pick<Check, 'issueTitle' | 'publicEvidence' | 'publicTexts'>;

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

/** Does not apply; `reason` is a full sentence ("The client's address is a private one."). */
export const skipped = (title: string, reason: string): Finding => ({
  status: 'skipped',
  title,
  detail: reason,
});

/** Could not be found out; `reason` says what did not answer. */
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

/** Half the points. */
export const warn = (found: Problem): Finding => problem('warn', found);

/** No points. */
export const fail = (found: Problem): Finding => problem('fail', found);

/** An RFC with an optional section: `rfc(7208, '4.6.4')`. */
export function rfc(number: number, section?: string): Reference {
  return {
    name: section ? `RFC ${number} §${section}` : `RFC ${number}`,
    url: `https://www.rfc-editor.org/rfc/rfc${number}${section ? `#section-${section}` : ''}`,
  };
}

// What a check says where the DNS was not asked, or did not answer.

/** A question that was not answered. */
export interface Unanswered {
  name: string;
  type: RecordType;
  reason: DnsErrorReason;
}

export function offline(title: string): Finding {
  return skipped(title, 'DNS was not asked: offline.');
}

/** The evidence that `notAnswered` adds. */
export const PUBLIC_UNANSWERED = { unanswered: 'shown' } as const;

/** The finding of a check that hangs on these questions: unknown, and held against nobody. */
export function notAnswered(
  title: string,
  failures: Unanswered[],
  evidence: Finding['evidence'] = {},
): Finding {
  const questions = failures.map(
    ({ name, type, reason }) => `${type} ${name}: ${DNS_FAILURES[reason]}`,
  );
  const [first, ...others] = questions;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return unknown(
    title,
    `A DNS question was left open: ${first ?? 'none'}${more}. This is not counted against you.`,
    { ...evidence, unanswered: questions.slice(0, 10) },
  );
}

// What a check says of a header field that is not there.

/**
 * A failure, unless the header was not read whole. `problem.title` is a sentence ("Your message has
 * no Date field.").
 */
export function absentField(
  message: Message,
  name: string,
  problem: { title: string; detail: string; fix: string },
): Finding {
  if (message.headerBytes > LIMITS.headerBytes)
    return unknown(
      `Your message's ${name} field could not be found.`,
      'The header is longer than what is looked at; the field may come after that.',
    );
  return fail(problem);
}
