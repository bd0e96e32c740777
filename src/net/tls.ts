/** The TLS handshake of a client that insists on TLS 1.2 and a certificate for the host it means. */

import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import {
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { certificateFault } from './connection-errors.ts';

/** What certificates are checked against: the authorities that Node trusts, and further ones (PEM). */
export function trust(further: string[] = []): SecureContext {
  const ca = further.length > 0 ? [...getCACertificates('default'), ...further] : undefined;
  return createSecureContext({ ca, minVersion: 'TLSv1.2' });
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
