/** The certificate that a mail server shows, and whether it holds. */

import type { TLSSocket } from 'node:tls';
import { certificateFault } from './certificate-faults.ts';

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
    problem: authorized ? null : problemOf(code),
    names: names.filter((name) => name.startsWith('DNS:')).map((name) => name.slice(4)),
    issuer: found?.issuer?.replaceAll('\n', ', ').slice(0, 300) ?? null,
    validTo: found?.validTo ?? null,
  };
}

function problemOf(code: string): string {
  if (code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE') return 'the server does not send its whole chain';
  return `it ${certificateFault(code) ?? 'cannot be verified'}`;
}
