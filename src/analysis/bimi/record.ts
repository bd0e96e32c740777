/** Finds and reads the BIMI record of a domain, then fetches and checks its logo and certificate. */

import { formatSize } from '../../lib/durations.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { WebFailureReason } from '../../net/guarded-connection.ts';
import type { WebClient } from '../../net/http/web.ts';
import type { Context, Finding } from '../check.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { evaluateCertificate, type MarkCertificate } from './certificate.ts';
import { evaluateSvg, unpackSvg } from './svg.ts';

export interface BimiRecord {
  /** The name that has the record, or the first name looked up if none has one. */
  name: string;
  text: string | null;
  /** `l=` and `a=`; null if absent or empty. */
  location: string | null;
  authority: string | null;
  /** An empty `l=` without `a=`: the domain wants no logo shown (draft §4.3.1). */
  declined: boolean;
  /** Full sentences. */
  problems: string[];
}

const VERSION = /^\s*v\s*=\s*bimi1\s*(;|$)/i;

/**
 * Looks up the names in order (`default._bimi.mail.example.com`, then the organizational domain's)
 * and reads the first record found; null if a lookup fails.
 */
export async function findBimiRecord(
  names: string[],
  resolver: Resolver,
): Promise<BimiRecord | null> {
  for (const name of names) {
    const texts = recordsOf(await resolver(name, 'TXT'));
    if (texts === null) return null;
    const records = texts.filter((text) => VERSION.test(text));
    if (records.length > 0) return readRecord(name, records);
  }
  return {
    name: names[0] ?? '',
    text: null,
    location: null,
    authority: null,
    declined: false,
    problems: [],
  };
}

function readRecord(name: string, records: string[]): BimiRecord {
  const text = records[0] ?? '';
  const tags = parseTagList(text);
  const location = tags.get('l') || null;
  const authority = tags.get('a') || null;
  const declined = tags.get('l') === '' && !authority;
  const problems = declined ? [] : problemsOf(location, authority);
  if (records.length > 1)
    problems.unshift(`There are ${records.length} BIMI records; only one is allowed.`);
  return { name, text, location, authority, declined, problems };
}

function problemsOf(location: string | null, authority: string | null): string[] {
  const problems: string[] = [];
  if (location === null) problems.push('The record has no logo URL (l=).');
  else if (!isHttps(location)) problems.push('The logo URL (l=) does not use https.');
  else if (!/\.svgz?$/i.test(new URL(location).pathname))
    problems.push('The logo URL (l=) does not end in .svg, the only allowed format.');
  if (authority !== null && !isHttps(authority))
    problems.push('The certificate URL (a=) does not use https.');
  return problems;
}

function isHttps(url: string): boolean {
  return URL.parse(url)?.protocol === 'https:';
}

export interface BimiFiles {
  /** Full sentences. */
  problems: string[];
  /** What could not be checked, in full sentences. */
  unknowns: string[];
  evidence: NonNullable<Finding['evidence']>;
}

/** Fetches the logo and the certificate. The certificate must cover one of `names`. */
export async function fetchBimiFiles(
  context: Context,
  { location, authority }: BimiRecord,
  names: string[],
): Promise<BimiFiles> {
  const [logo, mark] = await Promise.all([
    isFetchable(location) ? checkLogo(context, location) : UNCHECKED,
    isFetchable(authority) ? checkCertificate(context, authority, names) : UNCHECKED,
  ]);
  const problems = [...logo.problems, ...mark.problems];
  if (logo.image && mark.image && !Buffer.from(logo.image).equals(mark.image))
    problems.push('The logo differs from the logo in the certificate.');
  return {
    problems,
    unknowns: [...logo.unknowns, ...mark.unknowns],
    evidence: { logo_file: logo.evidence, certificate_file: mark.evidence },
  };
}

function isFetchable(url: string | null): url is string {
  return url !== null && isHttps(url);
}

interface CheckedFile {
  problems: string[];
  unknowns: string[];
  evidence: { [key: string]: string | number | boolean | null | string[] } | null;
  image: Uint8Array | null;
}

const UNCHECKED: CheckedFile = { problems: [], unknowns: [], evidence: null, image: null };

async function checkLogo({ web }: Context, url: string): Promise<CheckedFile> {
  const { body, problem, uncertainty } = await fetchBimiFile(web, url, 'The logo');
  if (body === null) return unreadable(problem, uncertainty);
  const image = unpackSvg(body);
  if (image === null) return unreadable('The logo cannot be decompressed, or it is too large.');
  const { problems, bytes, title, viewBox } = evaluateSvg(image);
  return { problems, unknowns: [], evidence: { bytes, title, view_box: viewBox }, image };
}

async function checkCertificate(
  { web, receivedAt, envelope }: Context,
  url: string,
  names: string[],
): Promise<CheckedFile> {
  const { body, problem, uncertainty } = await fetchBimiFile(web, url, 'The certificate');
  if (body === null) return unreadable(problem, uncertainty);
  const { certificate, problems } = evaluateCertificate(body, {
    names,
    now: receivedAt,
    isOld: envelope.file != null,
  });
  return {
    problems,
    unknowns: [],
    evidence: certificate && certificateEvidence(certificate),
    image: certificate?.image ?? null,
  };
}

function unreadable(problem?: string, uncertainty?: string): CheckedFile {
  return {
    ...UNCHECKED,
    problems: problem ? [problem] : [],
    unknowns: uncertainty ? [uncertainty] : [],
  };
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

/** Twice the size limit of a logo, and far more than any certificate chain needs. */
const MAX_BYTES = 64 * 1024;

/** `problem`: mailbox providers cannot fetch the file either. `uncertainty`: they may be able to. */
type FetchResult =
  | { body: Uint8Array; problem?: undefined; uncertainty?: undefined }
  | { body: null; problem: string; uncertainty?: undefined }
  | { body: null; problem?: undefined; uncertainty: string };

/** Failures caused by the URL or its server. All others may be temporary. */
const PERMANENT_FAILURES: Partial<Record<WebFailureReason, string>> = {
  no_such_name: 'its host name does not exist',
  forbidden_address: 'its server has no public IP address',
  tls: 'its server has no valid TLS certificate',
  protocol: 'its server does not respond over HTTP',
  too_large: `it is larger than ${formatSize(MAX_BYTES)}`,
  bad_url: 'its URL is invalid',
};

/** `label` begins a sentence: "The logo". Does not follow redirects. */
async function fetchBimiFile(web: WebClient, url: string, label: string): Promise<FetchResult> {
  const result = await web({ method: 'GET', url, maxBytes: MAX_BYTES });
  if (result.status === 'failed') {
    const permanent = PERMANENT_FAILURES[result.reason];
    if (permanent) return { body: null, problem: `${label} cannot be fetched: ${permanent}.` };
    return { body: null, uncertainty: `${label} could not be fetched: ${result.detail}.` };
  }
  const { code, body } = result;
  if (code === 200) return { body };
  if (code >= 300 && code < 400)
    return {
      body: null,
      problem: `${label} URL redirects (${code}), and not every mailbox provider follows redirects.`,
    };
  // An overloaded server, or one that blocks unknown clients, may still serve mailbox providers.
  if (code === 401 || code === 403 || code === 429 || code >= 500)
    return {
      body: null,
      uncertainty: `${label} could not be fetched: its server responded with ${code}.`,
    };
  return { body: null, problem: `${label} cannot be fetched: its server responded with ${code}.` };
}
