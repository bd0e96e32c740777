/** Verifies a certificate and its key as a client would: in a handshake on this machine. */

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { KeyPair } from '../lib/certificates.ts';
import { certificateProblem, createTrustContext } from './tls.ts';

export interface VerifiedPair {
  /** Why clients reject it, as a clause; null if they accept it. */
  problem: string | null;
  names: string[];
  /** Milliseconds since the Unix epoch. */
  validTo: number;
  /** The number of certificates that the server sends. */
  chainLength: number;
}

const TIMEOUT_MS = 5_000;

/** `name` is the host that clients connect to. Rejects for a pair that doesn't work at all. */
export async function verifyKeyPair(
  pair: KeyPair,
  name: string,
  ca: string[] = [],
): Promise<VerifiedPair> {
  const certificate = new X509Certificate(pair.cert);
  const server = createServer({ ...pair });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  let socket: TLSSocket | undefined;
  try {
    await once(server, 'listening', { signal });
    socket = connect({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      servername: name,
      secureContext: createTrustContext(ca),
      // The outcome is reported.
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect', { signal });
    const { authorized, authorizationError } = socket;
    const code =
      (authorizationError as { code?: string } | null)?.code ?? String(authorizationError);
    return {
      problem: authorized ? null : problemOf(code),
      names: namesOf(certificate),
      validTo: Date.parse(certificate.validTo),
      chainLength: pair.cert.split('-----BEGIN CERTIFICATE-----').length - 1,
    };
  } finally {
    socket?.destroy();
    server.close();
  }
}

const problemOf = (code: string): string =>
  code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' || code === 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'
    ? 'its chain is incomplete, or its authority is not trusted'
    : `it ${certificateProblem(code) ?? `cannot be verified (${code})`}`;

const namesOf = ({ subjectAltName }: X509Certificate): string[] =>
  (subjectAltName ?? '')
    .split(', ')
    .filter((name) => name.startsWith('DNS:') || name.startsWith('IP Address:'))
    .map((name) => name.slice(name.indexOf(':') + 1));
