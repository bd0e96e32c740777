/** Why a connection to a server of the operator's failed, as half a sentence for people. */

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

/** From the `code` of a socket's or a request's error; names no address of the operator's network. */
export function connectionFailure(error: unknown): string {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  if (code.startsWith('HPE_')) return 'what it answered is no HTTP';
  return CONNECTION_FAILURES[code] ?? 'the connection failed';
}

// What is wrong with a certificate, by the code of Node's verification.

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
