/** TLS of our clients, with TLS 1.2 and a certificate for the host; and why a connection or a handshake failed, in words. */

import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import {
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
} from 'node:tls';

/**
 * What certificates are checked against: the authorities that Node trusts, and further ones (PEM).
 * TLS 1.2 or later unless the options say otherwise.
 */
export function trust(further: string[] = [], options: SecureContextOptions = {}): SecureContext {
  const ca = further.length > 0 ? [...getCACertificates('default'), ...further] : undefined;
  return createSecureContext({ ca, minVersion: 'TLSv1.2', ...options });
}

/** Resolves once the handshake is done and the certificate verified; rejects otherwise. */
export async function startTls(
  socket: Socket,
  host: string,
  secureContext: SecureContext,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const secure = connect({
    socket,
    host,
    // An address is never sent as a server's name (RFC 6066 §3).
    servername: isIP(host) === 0 ? host : '',
    secureContext,
    ALPNProtocols: ['http/1.1'],
    // Said aloud: otherwise a variable of the environment could turn it off.
    rejectUnauthorized: true,
  });
  // What comes after nobody waits any more must not crash the process.
  secure.on('error', () => {});
  try {
    await once(secure, 'secureConnect', { signal });
    return secure;
  } catch (error) {
    secure.destroy();
    throw error;
  }
}

const REASONS: Record<string, string> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'it does not send the whole chain of its certificate',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'it speaks no TLS 1.2 or later',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'it speaks no TLS 1.2 or later',
  ECONNRESET: 'it closed the connection during the TLS handshake',
};

const FAILED = 'the TLS handshake failed';

/** Why a handshake failed, as half a sentence. */
export function tlsProblem(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === undefined) return FAILED;
  const fault = certificateFault(code);
  if (fault !== undefined) return `its certificate ${fault}`;
  return Object.hasOwn(REASONS, code) ? REASONS[code]! : FAILED;
}

const CERTIFICATE_FAULTS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'comes from an authority that is not trusted',
};

/** "has expired": to follow "the certificate"; undefined for a code that says something else. */
export function certificateFault(code: string): string | undefined {
  return Object.hasOwn(CERTIFICATE_FAULTS, code) ? CERTIFICATE_FAULTS[code] : undefined;
}

const CONNECTION_FAILURES: Record<string, string> = {
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'it could not be reached',
  ENETUNREACH: 'it could not be reached',
  ETIMEDOUT: 'it could not be reached',
  ENOTFOUND: 'its name could not be found',
  EAI_AGAIN: 'its name could not be found',
};

/**
 * Why a connection to one of the operator's servers failed, as half a sentence, from the `code` of a
 * socket's or a request's error; names no address of the operator's network.
 */
export function connectionFailure(error: unknown): string {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  if (code.startsWith('HPE_')) return 'what it answered is no HTTP';
  return CONNECTION_FAILURES[code] ?? 'the connection failed';
}
