/** The SPF result of a message (RFC 7208), shared by the SPF checks and DMARC. */

import type { SPFResult } from 'mailauth';
import { spf } from 'mailauth/lib/spf/index.js';
import { isLocalAddress, normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { MAX_ADDRESS_LENGTH, stripAngleBrackets } from '../../lib/mail.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import { AUTH_RESULTS, type AuthResult } from '../auth-results.ts';
import type { Context } from '../check.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { fieldValue } from '../mime/message.ts';

/** Shorter than the deadline of an analysis, so that DMARC completes even if SPF is slow. */
const SPF_TIMEOUT_MS = 10_000;

/** RFC 7208 §7.3: the value of `%{r}` if the name of the receiving host is not relevant. */
const RECEIVER = 'unknown';

export interface SpfOutcome extends SpfIdentity {
  /** RFC 8601 §2.7.2; null if not checked. */
  result: AuthResult | null;
  /** Why SPF was not checked, or what went wrong; null otherwise. */
  reason: string | null;
  clientIp: string | null;
  /** The record that determined the result; null if there is none. */
  record: string | null;
  /** The domain owner's explanation of a `fail` (RFC 7208 §6.2): untrusted text. */
  explanation: string | null;
}

/** A fact: `context.fact(spfResult)`. Never rejects, whatever the envelope contains. */
export async function spfResult(context: Context): Promise<SpfOutcome> {
  const identity = spfIdentity(context);
  const clientIp = normalizeAddress(context.envelope.client_ip ?? '');
  const skipReason = findSkipReason(context, identity, clientIp);
  if (skipReason || clientIp === null) return outcome(identity, clientIp, null, skipReason);
  return evaluateSpf(identity, clientIp, context.envelope.helo, context.resolver);
}

function findSkipReason(
  context: Context,
  { identity, text }: SpfIdentity,
  clientIp: string | null,
): string | null {
  if (context.offline) return 'Offline mode makes no DNS lookups.';
  if (clientIp === null || isLocalAddress(clientIp))
    return 'SPF checks the public IP address of the sending server, which is unknown.';
  if (text !== null) return null;
  return identity === 'helo'
    ? 'The envelope sender is empty, and the HELO name is unknown.'
    : 'SPF checks the domain of the envelope sender (MAIL FROM), which is unknown.';
}

/**
 * check_host() of RFC 7208 §4 in strict mode: `none` for an identity without a domain name (§4.3),
 * `temperror` if a DNS lookup fails. `clientIp` is a normalized address.
 */
export async function evaluateSpf(
  identity: SpfIdentity,
  clientIp: string,
  helo: string | null,
  resolver: Resolver,
): Promise<SpfOutcome> {
  if (identity.sender === null)
    return outcome(
      identity,
      clientIp,
      'none',
      'It has no domain name that could have an SPF record.',
    );
  const mailauthResult = await spf({
    sender: identity.sender,
    ip: clientIp,
    helo: helo ?? undefined,
    mta: RECEIVER,
    resolver: mailauthResolver(resolver),
    strict: true,
    maxElapsedTime: SPF_TIMEOUT_MS,
  });
  const result =
    AUTH_RESULTS.find((value) => value === mailauthResult.status.result) ?? 'temperror';
  return {
    ...outcome(identity, clientIp, result, errorReason(mailauthResult)),
    record: mailauthResult.rr ?? null,
    explanation: mailauthResult.explanation ?? null,
  };
}

function outcome(
  identity: SpfIdentity,
  clientIp: string | null,
  result: AuthResult | null,
  reason: string | null,
): SpfOutcome {
  return { ...identity, result, reason, clientIp, record: null, explanation: null };
}

/** mailauth's reason for an error: the end of its comment, after the sender. */
function errorReason(mailauthResult: SPFResult): string | null {
  const comment = mailauthResult.status.comment;
  if (typeof comment !== 'string') return null;
  const prefix = `during lookup of ${mailauthResult['envelope-from']}: `;
  const start = comment.indexOf(prefix);
  return start < 0 ? null : comment.slice(start + prefix.length);
}

/** The identity that SPF checks: MAIL FROM, or HELO for a null sender. */
interface SpfIdentity {
  identity: 'mailfrom' | 'helo';
  /** The address or host name as sent; null if unknown. */
  text: string | null;
  /** The <sender> argument of check_host() (RFC 7208 §4.1); null without a domain name. */
  sender: string | null;
  /** The domain whose record is looked up, in A-labels; null without a domain name. */
  domain: string | null;
  /** Where MAIL FROM was taken from, if not from the SMTP session. */
  assumed: 'return_path' | null;
}

/**
 * MAIL FROM, or HELO if MAIL FROM is empty (RFC 7208 §2.4). Without an SMTP session, uses the
 * Return-Path field, where the receiving server records MAIL FROM (RFC 5321 §4.4). Does not fall back to
 * the From address, which often has another domain.
 */
export function spfIdentity(context: Context): SpfIdentity {
  const { mail_from, helo, file } = context.envelope;
  if (mail_from !== null) return mailFromOrHelo(mail_from, helo, null);
  // What the receiver of a file did not write is the sender's.
  const returnPath = file?.by ? null : fieldValue(context.message, 'return-path');
  if (returnPath !== null) return mailFromOrHelo(returnPath, helo, 'return_path');
  return { identity: 'mailfrom', text: null, sender: null, domain: null, assumed: null };
}

function mailFromOrHelo(
  mailFrom: string,
  helo: string | null,
  assumed: SpfIdentity['assumed'],
): SpfIdentity {
  const address = stripAngleBrackets(mailFrom);
  if (address !== '') {
    // The local part may be a quoted string with an @, so the domain follows the last one.
    const at = address.lastIndexOf('@');
    const domain = domainOf(address.slice(at + 1));
    const localPart = at > 0 ? address.slice(0, at) : 'postmaster';
    const sender = domain && `${localPart}@${domain}`;
    return { identity: 'mailfrom', text: mailFrom, sender, domain, assumed };
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

/** A domain name with at least two labels; null for anything else (RFC 7208 §4.3). */
function domainOf(text: string): string | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null;
  const domain = normalizeDomain(text);
  return domain?.includes('.') && !/^[\d.]+$/.test(domain) ? domain : null;
}
