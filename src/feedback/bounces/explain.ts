/** Explains why a message bounced: by the reply of the provider, else by the enhanced status code. */

import { explainStatus } from './enhanced-status.ts';
import { COMMON_REPLIES, type PolicyReply, REPLY_GROUPS, type ReplyGroup } from './policy-codes.ts';

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

/** null if the bounce has neither a code nor a reply that is known. */
export function explainBounce(bounce: BounceReply): Explained | null {
  const { group, reply } = policyReplyOf(bounce);
  if (reply)
    return {
      provider: group?.name ?? null,
      text: reply.meaning,
      reference: group?.replies.includes(reply) ? group.reference : null,
      checks: reply.checks,
    };
  const text = bounce.status_code === null ? null : explainStatus(bounce.status_code);
  if (text === null) return null;
  return { provider: group?.name ?? null, text, reference: RFC_3463, checks: [] };
}

/** Whether the text of a reply shows a rejection by policy. Many servers send no enhanced code with it. */
export const isPolicyReply = (bounce: BounceReply): boolean =>
  policyReplyOf({ ...bounce, status_code: null }).reply !== undefined;

function policyReplyOf(bounce: BounceReply): { group?: ReplyGroup; reply?: PolicyReply } {
  const group = groupOf(bounce);
  const matches = (reply: PolicyReply) => isMatch(reply, bounce);
  return { group, reply: group?.replies.find(matches) ?? COMMON_REPLIES.find(matches) };
}

/** The server that replied says who it is; its text may quote others. */
const groupOf = ({ provider, diagnostic }: BounceReply): ReplyGroup | undefined =>
  REPLY_GROUPS.find(({ domains }) => domains.includes(provider)) ??
  REPLY_GROUPS.find(({ marks }) => marks.test(diagnostic ?? ''));

function isMatch({ status, text }: PolicyReply, { status_code, diagnostic }: BounceReply): boolean {
  if (status && !status.test(status_code?.slice(2) ?? '')) return false;
  return text === undefined || text.test(diagnostic ?? '');
}

/** The name of a provider by the domain of its servers, such as "Gmail" for `google.com`. */
export const providerName = (domain: string): string | null =>
  REPLY_GROUPS.find(({ domains }) => domains.includes(domain))?.name ?? null;
