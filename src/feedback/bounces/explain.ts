/** Explains why a message bounced: by the reply of the provider, else by the enhanced status code. */

import { explainStatus } from './enhanced-status.ts';
import { type BounceReason, codeOfReason, reasonOfCode } from './reasons.ts';
import { COMMON_REPLIES, type KnownReply, REPLY_GROUPS, type ReplyGroup } from './replies.ts';

export interface BounceReply {
  /** The base domain of the server that replied, or of the recipient. */
  provider: string;
  status_code: string | null;
  diagnostic: string | null;
}

export interface BounceExplanation {
  /** Who replied, if it is a provider or gateway that we know. */
  provider: string | null;
  text: string;
  /** Where the provider, or the standard, describes its codes. */
  reference: string | null;
}

interface Explained extends BounceExplanation {
  /** Checks of a test whose findings explain it. */
  checks: readonly string[];
}

/** The reference for replies that are explained by their code alone. */
export const RFC_3463 = 'https://www.rfc-editor.org/rfc/rfc3463';

/** Null if neither the code nor the reply is known. */
export function explainBounce(bounce: BounceReply): Explained | null {
  const { group, reply } = knownReplyOf(bounce);
  if (reply) {
    const isDocumented = reply.meaning !== null && group?.replies.includes(reply);
    return {
      provider: group?.name ?? null,
      text: reply.meaning ?? explainStatus(`5.${codeOfReason(reply.reason)}`)!,
      reference: isDocumented ? group!.reference : reply.meaning === null ? RFC_3463 : null,
      checks: reply.checks,
    };
  }
  const text = bounce.status_code === null ? null : explainStatus(bounce.status_code);
  if (text === null) return null;
  return { provider: group?.name ?? null, text, reference: RFC_3463, checks: [] };
}

/** The text of a reply takes precedence over its code, and the replies of a provider over those of any server. */
export const reasonOf = (bounce: BounceReply): BounceReason =>
  knownReplyOf(bounce).reply?.reason ?? reasonOfCode(bounce.status_code);

/** The reply itself takes precedence over the text around it, and specific texts over weak ones. */
function knownReplyOf(bounce: BounceReply): { group?: ReplyGroup; reply?: KnownReply } {
  const group = groupOf(bounce);
  const code = bounce.status_code?.slice(2) ?? '';
  const byCode = reasonOfCode(bounce.status_code);
  const whole = wordsOf(bounce.diagnostic ?? '');
  const texts = new Set([replyWithin(whole), whole]);
  const find = (isWeak: boolean) => {
    for (const words of texts) {
      const matches = ({ status, text, weak }: KnownReply) =>
        weak === isWeak && (!status || status.test(code)) && (!text || text.test(words));
      const reply = group?.replies.find(matches) ?? COMMON_REPLIES.find(matches);
      if (reply) return reply;
    }
    return undefined;
  };
  const clear = find(false);
  if (clear) return { group, reply: clear };
  const weak = find(true);
  // A weak text counts if the code gives no other reason, or is temporary, as with greylisting.
  const isGeneral = byCode === 'unknown' || byCode === weak?.reason;
  const isTemporary = bounce.status_code?.startsWith('4') ?? false;
  return { group, reply: isGeneral || isTemporary ? weak : undefined };
}

/** The text from the first code on. */
const replyWithin = (words: string): string =>
  words.slice(Math.max(0, words.search(/(?<![\w.])(?:[45]\d\d[ -]|[245]\.[0-7]\.\d{1,3} )/)));

/** The server that replied says who it is; its text may quote others. */
const groupOf = ({ provider, diagnostic }: BounceReply): ReplyGroup | undefined =>
  REPLY_GROUPS.find(({ domains }) => domains.includes(provider)) ??
  REPLY_GROUPS.find(({ marks }) => marks.test(diagnostic ?? ''));

/** In characters. Servers give the reason first. */
const MAX_WORDS = 1000;

/** The text without the codes of continuation lines, and without what some servers write before the reply of another. */
const wordsOf = (diagnostic: string): string =>
  diagnostic
    .slice(0, MAX_WORDS)
    .replace(/\s+/g, ' ')
    .replace(/unknown address error (?=[45]\d\d)/i, '')
    .replace(/(?<= )[245]\d\d-(?:[245]\.\d{1,3}\.\d{1,3} ?)?/g, '')
    .replace(/’/g, "'");

/** The name of a provider by the domain of its servers, such as "Gmail" for `google.com`. */
export const providerName = (domain: string): string | null =>
  REPLY_GROUPS.find(({ domains }) => domains.includes(domain))?.name ?? null;
