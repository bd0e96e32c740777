/**
 * What mailbox providers, gateways and blocklists mean by their replies, in our own words: `replies.json`. Only
 * replies that operators document, or have sent unchanged for years. Others are explained by RFC 3463.
 */

import type { BounceReason } from './reasons.ts';
import data from './replies.json' with { type: 'json' };

/** How `replies.json` describes a reply. `scripts/data.ts` checks it. */
export interface ReplyEntry {
  /** For maintainers. */
  note?: string;
  /** Subjects and details of the enhanced status code: `7.26` is 5.7.26 and 4.7.26. An `x` is any digit. */
  status?: string[];
  /** Regular expressions for the text of the reply, one of which must match. With `status`, both must match. */
  text?: string | string[];
  /** Whether `text` is case-sensitive. */
  caseSensitive?: boolean;
  /** Default: `policy`. */
  reason?: BounceReason;
  /** Whether the text is so general that a code with another reason takes precedence. */
  weak?: boolean;
  /** Omitted if the reason is explanation enough. */
  meaning?: string;
  /** As in `KnownReply`. `@name` is a group of `checkGroups`. */
  checks: string[];
}

export interface KnownReply {
  status?: RegExp;
  /** One of `patterns`. */
  text?: RegExp;
  patterns: readonly RegExp[];
  reason: BounceReason;
  weak: boolean;
  meaning: string | null;
  /** The checks of a test whose finding explains the reply, the most likely cause first. */
  checks: readonly string[];
}

export interface ReplyGroup {
  name: string;
  /** The base domains of its mail servers and mailboxes. */
  domains: readonly string[];
  /** Shows who replied if the bounce does not name the server. */
  marks: RegExp;
  reference: string | null;
  /** The first one that matches counts. */
  replies: readonly KnownReply[];
}

const CHECK_GROUPS: Record<string, string[]> = data.checkGroups;

export const REPLY_GROUPS: readonly ReplyGroup[] = data.providers.map((provider) => ({
  name: provider.name,
  domains: provider.domains,
  marks: pattern(provider.marks, provider.caseSensitive),
  reference: provider.reference ?? null,
  replies: (provider.replies as ReplyEntry[]).map(replyOf),
}));

/** What any server can reply, the most specific first. The first one that matches counts. */
export const COMMON_REPLIES: readonly KnownReply[] = (data.anyServer as ReplyEntry[]).map(replyOf);

function replyOf(entry: ReplyEntry): KnownReply {
  const {
    status,
    text,
    caseSensitive,
    reason = 'policy',
    weak = false,
    meaning = null,
    checks,
  } = entry;
  const patterns = text === undefined ? [] : [text].flat();
  return {
    status: status && statusPattern(status),
    text: patterns.length > 0 ? pattern(patterns.join('|'), caseSensitive) : undefined,
    patterns: patterns.map((one) => pattern(one, caseSensitive)),
    reason,
    weak,
    meaning,
    checks: checks.flatMap((id) => (id.startsWith('@') ? CHECK_GROUPS[id.slice(1)]! : id)),
  };
}

function pattern(source: string, caseSensitive = false): RegExp {
  return new RegExp(source, caseSensitive ? '' : 'i');
}

function statusPattern(codes: string[]): RegExp {
  const alternatives = codes.map((code) => code.replace('.', '\\.').replaceAll('x', '\\d'));
  return new RegExp(`^(?:${alternatives.join('|')})$`);
}
