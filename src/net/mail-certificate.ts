/** The certificate that a mail server shows, and whether it holds. */

import type { TLSSocket } from 'node:tls';

export interface MailCertificate {
  /** Chain, time and name all hold (RFC 6125). */
  valid: boolean;
  /** Half a sentence where they do not. */
  problem: string | null;
  names: string[];
  issuer: string | null;
  /** As the certificate writes it. */
  validTo: string | null;
}

const PROBLEMS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'it comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'it comes from an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the server does not send its whole chain',
};

/** Of a connection that does not insist on one that holds. */
export function describeCertificate(tls: TLSSocket): MailCertificate {
  const { authorized, authorizationError } = tls;
  const code = String(
    (authorizationError as { code?: string } | null)?.code ?? authorizationError ?? '',
  );
  const found = tls.getPeerX509Certificate();
  const names = (found?.subjectAltName ?? '').split(', ', 20).map((name) => name.slice(0, 255));
  return {
    valid: authorized,
    problem: authorized ? null : (PROBLEMS[code] ?? 'it cannot be verified'),
    names: names.filter((name) => name.startsWith('DNS:')).map((name) => name.slice(4)),
    issuer: found?.issuer?.replaceAll('\n', ', ').slice(0, 300) ?? null,
    validTo: found?.validTo ?? null,
  };
}
