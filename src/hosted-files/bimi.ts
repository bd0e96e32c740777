/** The BIMI logo and its certificate, checked as receivers check them. */

import { X509Certificate } from 'node:crypto';
import { evaluateCertificate } from '../analysis/bimi/certificate.ts';
import { evaluateSvg } from '../analysis/bimi/svg.ts';
import { organizationalDomain } from '../lib/domain-names.ts';
import { invalidParams } from '../lib/errors.ts';

interface Files {
  logo: string | null;
  certificate: string | null;
}

/**
 * The files as they are stored. Without a logo, it is that of the certificate. The bytes of a logo stay as they are, because
 * those in the certificate must be the same. Throws `validation_failed`.
 */
export function readLogo(given: Files, domain: string, now: number): Files {
  const domains = [domain, organizationalDomain(domain) ?? domain];
  const names = [...domains, ...domains.map((name) => `default._bimi.${name}`)];
  const mark =
    given.certificate === null
      ? null
      : evaluateCertificate(Buffer.from(given.certificate), { names, now });
  if (/PRIVATE KEY/i.test(given.certificate ?? ''))
    throw unusable('bimi.certificate', [
      'The file contains a private key. Send certificates only.',
    ]);
  if (mark && mark.problems.length > 0) throw unusable('bimi.certificate', mark.problems);
  const embedded = mark?.certificate?.image ?? null;
  const logo = given.logo ?? (embedded && textOf(embedded)) ?? '';
  const { problems } = evaluateSvg(Buffer.from(logo));
  // The database would replace them.
  if (logo.includes('\0') || !logo.isWellFormed()) problems.push('The logo is not valid UTF-8.');
  if (embedded && !Buffer.from(logo).equals(embedded))
    problems.push('The logo differs from the logo in the certificate.');
  if (problems.length > 0) throw unusable('bimi.logo', problems);
  return { logo, certificate: given.certificate && onlyCertificates(given.certificate) };
}

export function unusable(param: string, problems: string[]) {
  const message = `is not usable: ${problems.join(' ').replace(/\.$/, '')}`;
  return invalidParams([{ param, code: 'invalid', message }]);
}

/** Null for other bytes than UTF-8, of which a text would not keep all. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Written from what was parsed, so that nothing else in the file is served. */
const onlyCertificates = (pem: string): string =>
  pem
    .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)!
    .map((block) => new X509Certificate(block).toString())
    .join('');
