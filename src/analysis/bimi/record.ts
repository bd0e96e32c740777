/** Finds and reads the BIMI record of a domain: where its logo and the logo's certificate are. */

import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { WebFailure } from '../../net/guarded-connection.ts';
import type { Web } from '../../net/http/web.ts';
import type { Context, Finding } from '../check.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { judgeCertificate, type MarkCertificate } from './certificate.ts';
import { judgeSvg, unpackSvg } from './svg.ts';

export interface BimiRecord {
  /** The name asked that has the record; the first asked where none has. */
  name: string;
  /** null where there is none. */
  text: string | null;
  /** `l=` and `a=`; null where absent or empty. */
  location: string | null;
  authority: string | null;
  /** Both are there and empty: the domain wants no logo shown (draft §4.3.1). */
  declined: boolean;
  /** What is wrong with the record, as sentences. */
  problems: string[];
}

const VERSION = /^\s*v\s*=\s*bimi1\s*(;|$)/i;

/**
 * Asks the names in order (`default._bimi.mail.example.com`, then that of the organisational
 * domain) and reads the first record; null where one of the questions was not answered.
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
  if (records.length > 1) problems.unshift(`There are ${records.length} records; only one may be.`);
  return { name, text, location, authority, declined, problems };
}

function problemsOf(location: string | null, authority: string | null): string[] {
  const problems: string[] = [];
  if (location === null) problems.push('The record names no logo (l=).');
  else if (!isHttps(location))
    problems.push('The address of the logo (l=) is not an https address.');
  else if (!/\.svgz?$/i.test(new URL(location).pathname))
    problems.push('The address of the logo (l=) does not end in .svg, the only format allowed.');
  if (authority !== null && !isHttps(authority))
    problems.push('The address of the certificate (a=) is not an https address.');
  return problems;
}

function isHttps(address: string): boolean {
  return URL.parse(address)?.protocol === 'https:';
}

// The logo and the certificate that a BIMI record names: fetched, judged, and compared.

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
    isFetchable(location) ? lookAtLogo(context, location) : NOTHING,
    isFetchable(authority) ? lookAtCertificate(context, authority, names) : NOTHING,
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

function isFetchable(address: string | null): address is string {
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

// Fetches what a BIMI record points to: the logo, and the certificate for it.

/** Twice what a logo may have, and far above any certificate with its chain. */
const MAX_BYTES = 64 * 1024;

/** `problem`: why receivers cannot have it either. `open`: why it could not be found out. Sentences. */
type Fetched =
  | { body: Uint8Array; problem?: undefined; open?: undefined }
  | { body: null; problem: string; open?: undefined }
  | { body: null; problem?: undefined; open: string };

/** Failures that say something about the address itself; the others may be gone the next minute. */
const LASTING: Partial<Record<WebFailure, string>> = {
  no_such_name: 'the name of its server does not exist',
  forbidden_address: 'its server has no public address',
  tls: 'its server has no certificate that is valid for it',
  protocol: 'what answers there is no web server',
  too_large: 'it is larger than 64 KiB',
  bad_url: 'the address is not a valid one',
};

/** `what` begins a sentence: "The logo". One request, redirects not followed. */
async function fetchBimiFile(web: Web, url: string, what: string): Promise<Fetched> {
  const answer = await web({ method: 'GET', url, maxBytes: MAX_BYTES });
  if (answer.status === 'failed') {
    const lasting = LASTING[answer.reason];
    if (lasting) return { body: null, problem: `${what} cannot be fetched: ${lasting}.` };
    return { body: null, open: `${what} could not be fetched: ${answer.detail}.` };
  }
  const { code, body } = answer;
  if (code === 200) return { body };
  if (code >= 300 && code < 400)
    return {
      body: null,
      problem: `${what} is not at its address: the server answers with a redirect (${code}), which not every receiver follows.`,
    };
  // A server that is overloaded, or that turns away programs it does not know, serves others.
  if (code === 401 || code === 403 || code === 429 || code >= 500)
    return { body: null, open: `${what} could not be fetched: the server answers ${code}.` };
  return { body: null, problem: `${what} cannot be fetched: the server answers ${code}.` };
}
