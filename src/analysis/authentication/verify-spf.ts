/** The SPF result of a message (RFC 7208), which its checks and DMARC share. */

import type { SPFResult } from 'mailauth';
import { spf } from 'mailauth/lib/spf/index.js';
import { isLocalAddress, normalizeAddress } from '../../lib/addresses.ts';
import type { Resolver } from '../../net/resolver.ts';
import type { Context } from '../check.ts';
import { AUTH_RESULTS, type AuthResult } from '../result.ts';
import { mailauthResolver } from './mailauth-resolver.ts';
import { type SpfIdentity, spfIdentity } from './spf-identity.ts';

/** Below the deadline of a whole analysis, so that DMARC still ends when SPF alone drags on. */
const TIME_LIMIT_MS = 10_000;

/** RFC 7208 §7.3: the name for `%{r}` where the receiver's own is of no use. */
const RECEIVER = 'unknown';

export interface SpfOutcome extends SpfIdentity {
  /** RFC 8601 §2.7.2; null is "not asked", with the reason. */
  result: AuthResult | null;
  /** Why it was not asked, or what stood in the way of an answer; null where nothing did. */
  reason: string | null;
  clientIp: string | null;
  /** The record that decided; null where there is none. */
  record: string | null;
  /** What the domain's owner has to say to a `fail` (RFC 7208 §6.2): text of a third party. */
  explanation: string | null;
}

/** A fact: ask for it by `context.fact(spfResult)`. Never rejects; no text of the session upsets it. */
export async function spfResult(context: Context): Promise<SpfOutcome> {
  const asked = spfIdentity(context);
  const clientIp = normalizeAddress(context.envelope.client_ip ?? '');
  const unasked = whyNotAsked(context, asked, clientIp);
  if (unasked || clientIp === null) return outcome(asked, clientIp, null, unasked);
  return evaluateSpf(asked, clientIp, context.envelope.helo, context.resolver);
}

function whyNotAsked(context: Context, asked: SpfIdentity, clientIp: string | null): string | null {
  if (context.offline) return 'The analysis was made offline, and SPF is a question to the DNS.';
  if (clientIp === null || isLocalAddress(clientIp))
    return 'No public client address is known, and SPF is a rule about that address.';
  if (asked.text !== null) return null;
  return asked.identity === 'helo'
    ? 'The message came with a null sender, and the name given in HELO is not known.'
    : 'The envelope sender (MAIL FROM) is not known, and SPF is a rule about its domain.';
}

/**
 * check_host() of RFC 7208 §4, strictly: `none` for an identity that holds no domain name (§4.3),
 * `temperror` where the DNS did not answer. `clientIp` is a normalised address.
 */
export async function evaluateSpf(
  asked: SpfIdentity,
  clientIp: string,
  helo: string | null,
  resolver: Resolver,
): Promise<SpfOutcome> {
  if (asked.sender === null)
    return outcome(asked, clientIp, 'none', 'It holds no domain name that could have a record.');
  const found = await spf({
    sender: asked.sender,
    ip: clientIp,
    helo: helo ?? undefined,
    mta: RECEIVER,
    resolver: mailauthResolver(resolver),
    strict: true,
    maxElapsedTime: TIME_LIMIT_MS,
  });
  const result = AUTH_RESULTS.find((word) => word === found.status.result) ?? 'temperror';
  return {
    ...outcome(asked, clientIp, result, obstacle(found)),
    record: found.rr ?? null,
    explanation: found.explanation ?? null,
  };
}

function outcome(
  asked: SpfIdentity,
  clientIp: string | null,
  result: AuthResult | null,
  reason: string | null,
): SpfOutcome {
  return { ...asked, result, reason, clientIp, record: null, explanation: null };
}

/** What mailauth says of an error: it stands at the end of its comment, after the sender. */
function obstacle(found: SPFResult): string | null {
  const comment = found.status.comment;
  if (typeof comment !== 'string') return null;
  const lead = `during lookup of ${found['envelope-from']}: `;
  const start = comment.indexOf(lead);
  return start < 0 ? null : comment.slice(start + lead.length);
}
