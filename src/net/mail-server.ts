/** The operator's server for outgoing mail: what its address means, and how much TLS is asked of it. */

import { isLocalAddress, normalizeAddress } from '../lib/addresses.ts';

export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first byte (`smtps`). */
  implicitTls: boolean;
  /** STARTTLS is insisted on, whatever the server offers. */
  requireTls: boolean;
  /** Whether its certificate has to be one for its name from an authority that is trusted. */
  verifyTls: boolean;
  login: { user: string; password: string } | null;
}

/**
 * Reads `smtp://user:password@host:587` or `smtps://…`; the port is 587 or 465 unless said. A
 * password is never sent without TLS, but to this machine itself. Where the name or the address is
 * no public one no authority gives out certificates, so none is asked for there.
 */
export function readMailServer(address: string): MailServer {
  const url = new URL(address);
  const implicitTls = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = decoded(url.username);
  const login = user === '' ? null : { user, password: decoded(url.password) };
  return {
    host,
    port: Number(url.port) || (implicitTls ? 465 : 587),
    implicitTls,
    requireTls: login !== null && !implicitTls && !isThisMachine(host),
    verifyTls: isPublicName(host),
    login,
  };
}

/** A password may hold a `%` that nobody has encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const isThisMachine = (host: string): boolean =>
  /^(?:.+\.)?localhost$/i.test(host) || /^(?:127\.|::1$)/.test(normalizeAddress(host) ?? '');

function isPublicName(host: string): boolean {
  const address = normalizeAddress(host);
  if (address !== null) return !isLocalAddress(address);
  return host.includes('.') && !isThisMachine(host);
}
