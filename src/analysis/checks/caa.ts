/** The check `caa`: which certificate authorities may issue certificates for the domain? No points. */

import { normalizeDomain } from '../../lib/domain-names.ts';
import type { DnsErrorReason } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  info,
  lookupFailed,
  PUBLIC_FAILED_LOOKUPS,
  rfc,
  skipped,
} from '../check.ts';
import { fromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'The CAA records were not checked.';
const MAX_RECORDS = 50;

export const caa: Check = {
  id: 'caa',
  category: 'infrastructure',
  points: 0,
  label: 'CAA',
  reference: rfc(8659, '3'),
  publicEvidence: {
    domain: 'shown',
    name: 'shown',
    records: 'shown',
    issuers: 'shown',
    problems: 'shown',
    ...PUBLIC_FAILED_LOOKUPS,
  },
  async run(context) {
    const domain = fromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'The From field has no domain.');
    const lookup = await findRecords(context, domain);
    if ('reason' in lookup)
      return lookupFailed('Could not look up the CAA records.', [
        { name: lookup.name, type: 'CAA', reason: lookup.reason },
      ]);
    return lookup.texts.length === 0
      ? noRecord(domain)
      : evaluateRecords(domain, lookup.name, lookup.texts);
  },
};

/** The records of the closest name at or above the domain that has any (§3). */
async function findRecords(
  { resolver }: Context,
  domain: string,
): Promise<{ name: string; texts: string[] } | { name: string; reason: DnsErrorReason }> {
  for (let name = domain; ; ) {
    const answer = await resolver(name, 'CAA');
    if (answer.status === 'error') return { name, reason: answer.reason };
    const texts = answer.status === 'found' ? answer.records.slice(0, MAX_RECORDS) : [];
    const dot = name.indexOf('.');
    if (texts.length > 0 || dot < 0) return { name, texts };
    name = name.slice(dot + 1);
  }
}

function noRecord(domain: string): Finding {
  return {
    ...info(
      `${domain} has no CAA record, so any certificate authority can issue certificates for it.`,
      'Delivery is not affected. A CAA record stops other authorities from issuing certificates for your mail servers by mistake.',
      { domain, records: [] },
    ),
    fix: {
      text: 'Publish a record like this for each certificate authority that you use. Replace letsencrypt.org with the name of the authority.',
      record: { type: 'CAA', name: domain, value: '0 issue "letsencrypt.org"' },
    },
  };
}

function evaluateRecords(domain: string, name: string, texts: string[]): Finding {
  const records = texts.map(parseCaa);
  const problems = texts.flatMap((text, index) => findCaaProblem(records[index]!, text) ?? []);
  const issuers = records.flatMap((record) =>
    record?.tag === 'issue' ? [issuerOf(record.value)].filter(Boolean) : [],
  );
  const evidence = { domain, name, records: texts.map((text) => text.slice(0, 300)), issuers };
  if (problems.length > 0) return invalidRecords(name, problems, evidence);
  const restricts = records.some((record) => record?.tag === 'issue');
  return info(
    restricts
      ? `${domain} limits which certificate authorities can issue certificates for it.`
      : `${domain} has CAA records, but any certificate authority can issue certificates for its name.`,
    issuers.length > 0
      ? `The CAA records at ${name} name these authorities: ${[...new Set(issuers)].slice(0, 10).join(', ')}.`
      : `The CAA records at ${name} name no authority.`,
    evidence,
  );
}

function invalidRecords(
  name: string,
  problems: CaaProblem[],
  evidence: Finding['evidence'],
): Finding {
  const texts = problems.map(({ text }) => text);
  const value = problems.find(({ corrected }) => corrected !== null)?.corrected;
  return {
    ...info(
      `The CAA records at ${name} contain ${texts.length === 1 ? 'an error' : 'errors'}.`,
      `${texts.slice(0, 5).join(' ')} Certificate authorities refuse to issue certificates because of this.`,
      { ...evidence, problems: texts.slice(0, 20) },
    ),
    fix: {
      text: problems
        .slice(0, 5)
        .map(({ fix }) => fix)
        .join(' '),
      record: value == null ? undefined : { type: 'CAA', name, value },
    },
  };
}

// One CAA record: its parts, its problem, and the corrected record (RFC 8659 §4).

/** RFC 8659 §4, RFC 9495, and the properties of the CA/Browser Forum and for mark certificates. */
const KNOWN_PROPERTY = /^(?:issue|issuewild|issuemail|issuevmc|iodef|contactemail|contactphone)$/;

interface CaaRecord {
  flags: number;
  tag: string;
  value: string;
}

interface CaaProblem {
  /** One sentence. */
  text: string;
  /** What to change, one sentence. */
  fix: string;
  /** The record to publish instead; null if it cannot be derived. */
  corrected: string | null;
}

/** Parses `0 issue "ca.example; account=1"`; null if it cannot be read. */
export function parseCaa(text: string): CaaRecord | null {
  const match = /^(\d{1,3}) ([a-z0-9]{1,255}) "?([^"]*)"?$/i.exec(text);
  if (!match) return null;
  return { flags: Number(match[1]), tag: match[2]!.toLowerCase(), value: match[3]! };
}

/** The authority that an `issue` property names; empty if it names none. */
const issuerOf = (value: string): string => value.split(';', 1)[0]!.trim().toLowerCase();

/** The first problem of a record, or null. `text` is the record as published. */
export function findCaaProblem(record: CaaRecord | null, text: string): CaaProblem | null {
  const shown = `"${text.slice(0, 100)}"`;
  if (record === null)
    return {
      text: `${shown} is not a valid CAA record.`,
      fix: `Delete the record ${shown}, or rewrite it as a number, a property and a value: 0 issue "ca.example".`,
      corrected: null,
    };
  const { flags, tag, value } = record;
  // §4.1: an authority must not issue if it does not know a critical property.
  if (!KNOWN_PROPERTY.test(tag))
    return flags < 128
      ? null
      : {
          text: `${shown} is marked critical, but "${tag.slice(0, 40)}" is not a known property.`,
          fix: `Delete the record ${shown}, or publish it with flags 0.`,
          corrected: `0 ${tag} "${value}"`,
        };
  // §4.2: an issuer that is not a domain name forbids issuance by any authority.
  const issuer = issuerOf(value);
  if (!tag.startsWith('issue') || issuer === '' || normalizeDomain(issuer) !== null) return null;
  const host = hostIn(issuer);
  return {
    text: `${shown} does not name the authority by its domain name.`,
    fix: host
      ? `In the record ${shown}, write only ${host} as the name of the authority.`
      : `In the record ${shown}, write the domain name of the authority, or delete the record.`,
    corrected: host && `${flags} ${tag} "${[host, ...value.split(';').slice(1)].join(';')}"`,
  };
}

/** The host name in a URL or email address: `https://ca.example/`, `a@ca.example`. */
function hostIn(issuer: string): string | null {
  const host = issuer
    .replace(/^[a-z][a-z0-9+.-]*:(?:\/\/)?/, '')
    .replace(/[/?#].*$/s, '')
    .replace(/^.*@/s, '')
    .replace(/:\d+$/, '')
    .trim();
  const name = normalizeDomain(host);
  return name?.includes('.') ? name : null;
}
