/** TLS for outgoing connections, and texts for failed connections and handshakes. */

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
 * Creates the context for verifying certificates. It trusts Node's default authorities and the
 * additional ones (PEM). Requires TLS 1.2 or later unless the options say otherwise.
 */
export function createTrustContext(
  additional: string[] = [],
  options: SecureContextOptions = {},
): SecureContext {
  const ca = additional.length > 0 ? [...getCACertificates('default'), ...additional] : undefined;
  return createSecureContext({ ca, minVersion: 'TLSv1.2', ...options });
}

/** Resolves after the handshake with a verified certificate; rejects otherwise. */
export async function startTls(
  socket: Socket,
  host: string,
  secureContext: SecureContext,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const tlsSocket = connect({
    socket,
    host,
    // SNI must not contain an IP address (RFC 6066 §3).
    servername: isIP(host) === 0 ? host : '',
    secureContext,
    ALPNProtocols: ['http/1.1'],
    // Explicit, because otherwise NODE_TLS_REJECT_UNAUTHORIZED could disable it.
    rejectUnauthorized: true,
  });
  // A late error must not crash the process.
  tlsSocket.on('error', () => {});
  try {
    await once(tlsSocket, 'secureConnect', { signal });
    return tlsSocket;
  } catch (error) {
    tlsSocket.destroy();
    throw error;
  }
}

const HANDSHAKE_PROBLEMS: Record<string, string> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the server does not send its full certificate chain',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not use TLS on this port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server does not use TLS on this port',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the server does not support TLS 1.2 or later',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'the server does not support TLS 1.2 or later',
  ECONNRESET: 'the server closed the connection during the TLS handshake',
};

const HANDSHAKE_FAILED = 'the TLS handshake failed';

/** Why a handshake failed, as a clause. */
export function tlsProblem(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === undefined) return HANDSHAKE_FAILED;
  const fault = certificateProblem(code);
  if (fault !== undefined) return `the certificate ${fault}`;
  return Object.hasOwn(HANDSHAKE_PROBLEMS, code) ? HANDSHAKE_PROBLEMS[code]! : HANDSHAKE_FAILED;
}

const CERTIFICATE_PROBLEMS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for a different name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'was issued by an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'was issued by an untrusted authority',
};

/** A predicate such as "has expired" that follows "the certificate"; undefined for other error codes. */
export function certificateProblem(code: string): string | undefined {
  return Object.hasOwn(CERTIFICATE_PROBLEMS, code) ? CERTIFICATE_PROBLEMS[code] : undefined;
}

const CONNECTION_FAILURES: Record<string, string> = {
  ECONNREFUSED: 'the server refused the connection',
  ECONNRESET: 'the server closed the connection',
  EPIPE: 'the server closed the connection',
  EHOSTUNREACH: 'the server is unreachable',
  ENETUNREACH: 'the server is unreachable',
  ETIMEDOUT: 'the server is unreachable',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name does not resolve',
};

/**
 * Why a connection to one of the operator's servers failed, as a clause. Reads only the `code` of the
 * error, so that the text contains no address of the operator's network.
 */
export function connectionFailure(error: unknown): string {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  if (code.startsWith('HPE_')) return 'the response is not valid HTTP';
  return CONNECTION_FAILURES[code] ?? 'the connection failed';
}
