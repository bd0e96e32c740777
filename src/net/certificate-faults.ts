/** What is wrong with a certificate, by the code of Node's verification. */

const FAULTS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'comes from an authority that is not trusted',
};

/** "has expired": to follow "the certificate"; undefined for a code that says something else. */
export function certificateFault(code: string): string | undefined {
  return Object.hasOwn(FAULTS, code) ? FAULTS[code] : undefined;
}
