/** The SPF result of a message (RFC 7208), which its checks and DMARC share. */

import type { SPFResult } from 'mailauth';
import { spf } from 'mailauth/lib/spf/index.js';
import { isLocalAddress, normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { bareAddress, MAX_ADDRESS_LENGTH } from '../../lib/mail.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { fieldValue } from '../mime/message.ts';
import { AUTH_RESULTS, type AuthResult } from '../result.ts';

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

// Which identity SPF is asked about: MAIL FROM, or HELO for a null sender.

interface SpfIdentity {
  identity: 'mailfrom' | 'helo';
  /** The address or host name as it was said; null where nothing is known. */
  text: string | null;
  /** What is given to check_host() as <sender> (RFC 7208 §4.1); null where it holds no domain name. */
  sender: string | null;
  /** The domain whose record is looked up, in A-labels; null if the text contains no domain name. */
  domain: string | null;
  /** Where a MAIL FROM comes from that the session does not tell; null where it does. */
  assumed: 'return_path' | null;
}

/**
 * MAIL FROM, or HELO where it is empty (RFC 7208 §2.4). Where the session does not tell, the
 * Return-Path field does, in which a receiver has written it down (RFC 5321 §4.4). Nothing stands in
 * for it otherwise: the From address is often at another domain.
 */
export function spfIdentity(context: Context): SpfIdentity {
  const { mail_from, helo } = context.envelope;
  if (mail_from !== null) return mailFromOrHelo(mail_from, helo, null);
  const returnPath = fieldValue(context.message, 'return-path');
  if (returnPath !== null) return mailFromOrHelo(returnPath, helo, 'return_path');
  return { identity: 'mailfrom', text: null, sender: null, domain: null, assumed: null };
}

function mailFromOrHelo(
  said: string,
  helo: string | null,
  assumed: SpfIdentity['assumed'],
): SpfIdentity {
  const address = bareAddress(said);
  if (address !== '') {
    // The local part may be a quoted string that holds an @: the domain follows the last one.
    const at = address.lastIndexOf('@');
    const domain = domainOf(address.slice(at + 1));
    const localPart = at > 0 ? address.slice(0, at) : 'postmaster';
    const sender = domain && `${localPart}@${domain}`;
    return { identity: 'mailfrom', text: said, sender, domain, assumed };
  }
  const domain = helo === null ? null : domainOf(helo.trim());
  return {
    identity: 'helo',
    text: helo,
    sender: domain && `postmaster@${domain}`,
    domain,
    assumed,
  };
}

/** A name of two labels or more that may be asked for; null for anything else (RFC 7208 §4.3). */
function domainOf(text: string): string | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null;
  const domain = normalizeDomain(text);
  return domain?.includes('.') && !/^[\d.]+$/.test(domain) ? domain : null;
}
