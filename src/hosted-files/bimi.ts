/** The BIMI logo and its certificate, checked as receivers check them. */

import { X509Certificate } from 'node:crypto';
import { evaluateCertificate } from '../analysis/bimi/certificate.ts';
import { evaluateSvg } from '../analysis/bimi/svg.ts';
import { sha256 } from '../lib/crypto.ts';
import { organizationalDomain } from '../lib/domain-names.ts';
import { invalidParams } from '../lib/errors.ts';

export interface Logo {
  logo: string;
  certificate: string | null;
}

/** The URL changes with the content, because receivers keep what they have fetched. */
export const logoPath = (logo: string): string => `/logo-${sha256(logo).slice(0, 16)}.svg`;
export const certificatePath = (pem: string): string =>
  `/certificate-${sha256(pem).slice(0, 16)}.pem`;
export const bimiUrl = (domain: string, path: string): string => `https://bimi.${domain}${path}`;

/**
 * The files as they are stored. Without a logo, it is that of the certificate. The bytes of a logo stay as they are, because
 * those in the certificate must be the same. Throws `validation_failed`.
 */
export function readLogo(
  given: { logo: string | null; certificate: string | null },
  { domain, now }: { domain: string; now: number },
): Logo {
  const names = [...new Set([domain, organizationalDomain(domain) ?? domain])];
  const mark =
    given.certificate === null
      ? null
      : evaluateCertificate(Buffer.from(given.certificate), {
          names: [...names, ...names.map((name) => `default._bimi.${name}`)],
          now,
        });
  // Whatever else is wrong: the file was not meant for anyone else.
  if (/PRIVATE KEY/i.test(given.certificate ?? ''))
    throw refused('certificate', ['The file contains a private key. Send certificates only.']);
  if (mark && mark.problems.length > 0) throw refused('certificate', mark.problems);
  const embedded = mark?.certificate?.image ?? null;
  const logo = given.logo ?? (embedded && textOf(embedded));
  if (logo === null) throw refused('logo', ['The logo is missing.']);
  const { problems } = evaluateSvg(Buffer.from(logo));
  if (logo.includes('\0') || !logo.isWellFormed()) problems.push('The logo is not valid UTF-8.');
  if (embedded && !Buffer.from(logo).equals(embedded))
    problems.push('The logo differs from the logo in the certificate.');
  if (problems.length > 0) throw refused('logo', problems);
  return { logo, certificate: given.certificate && onlyCertificates(given.certificate) };
}

const refused = (field: string, problems: string[]) =>
  invalidParams([
    {
      param: `bimi.${field}`,
      code: 'invalid',
      message: `is not usable: ${problems.join(' ').replace(/\.$/, '')}`,
    },
  ]);

/** Null for other bytes than UTF-8, of which a text would not keep all. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Written anew from what was read, so that nothing else in the file is served. */
const onlyCertificates = (pem: string): string =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
    .map((block) => new X509Certificate(block).toString())
    .join('');

/** When the certificate expires. */
export const expiryOf = (pem: string): string => new X509Certificate(pem).validToDate.toISOString();
