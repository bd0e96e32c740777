/** The logo and the certificate that a BIMI record names: fetched, judged, and compared. */

import type { Context, Finding } from '../check.ts';
import { judgeCertificate, type MarkCertificate } from './bimi-certificate.ts';
import { fetchBimiFile } from './bimi-fetch.ts';
import type { BimiRecord } from './bimi-record.ts';
import { judgeSvg, unpackSvg } from './bimi-svg.ts';

export interface BimiFiles {
  /** What is wrong with them, as sentences. */
  problems: string[];
  /** What could not be found out, as sentences. */
  open: string[];
  evidence: NonNullable<Finding['evidence']>;
}

/** Fetches both through the guarded client. `names`: those that the certificate may be for. */
export async function fetchBimiFiles(
  context: Context,
  { location, authority }: BimiRecord,
  names: string[],
): Promise<BimiFiles> {
  const [logo, mark] = await Promise.all([
    isHttps(location) ? lookAtLogo(context, location) : NOTHING,
    isHttps(authority) ? lookAtCertificate(context, authority, names) : NOTHING,
  ]);
  const problems = [...logo.problems, ...mark.problems];
  if (logo.image && mark.image && !Buffer.from(logo.image).equals(mark.image))
    problems.push('The logo is not the same image as the one in the certificate.');
  return {
    problems,
    open: [...logo.open, ...mark.open],
    evidence: { logo_file: logo.found, certificate_file: mark.found },
  };
}

function isHttps(address: string | null): address is string {
  return address !== null && URL.parse(address)?.protocol === 'https:';
}

interface LookedAt {
  problems: string[];
  open: string[];
  found: { [key: string]: string | number | boolean | null | string[] } | null;
  image: Uint8Array | null;
}

const NOTHING: LookedAt = { problems: [], open: [], found: null, image: null };

async function lookAtLogo({ web }: Context, url: string): Promise<LookedAt> {
  const { body, problem, open } = await fetchBimiFile(web, url, 'The logo');
  if (body === null) return missing(problem, open);
  const image = unpackSvg(body);
  if (image === null) return missing('The logo cannot be unpacked, or is far too large.');
  const { problems, bytes, title, viewBox } = judgeSvg(image);
  return { problems, open: [], found: { bytes, title, view_box: viewBox }, image };
}

async function lookAtCertificate(
  { web, receivedAt }: Context,
  url: string,
  names: string[],
): Promise<LookedAt> {
  const { body, problem, open } = await fetchBimiFile(web, url, 'The certificate');
  if (body === null) return missing(problem, open);
  const { certificate, problems } = judgeCertificate(body, { names, now: receivedAt });
  return {
    problems,
    open: [],
    found: certificate && certificateEvidence(certificate),
    image: certificate?.image ?? null,
  };
}

function missing(problem?: string, open?: string): LookedAt {
  return { ...NOTHING, problems: problem ? [problem] : [], open: open ? [open] : [] };
}

function certificateEvidence(certificate: MarkCertificate) {
  return {
    kind: certificate.kind,
    mark_type: certificate.markType,
    names: certificate.names.slice(0, 20),
    issuer: certificate.issuer,
    valid_from: certificate.validFrom,
    valid_to: certificate.validTo,
    logotype: certificate.logotype,
  };
}
