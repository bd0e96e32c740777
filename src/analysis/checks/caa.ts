/** The check `caa`: which authorities may issue certificates for the domain; no points. */

import { normalizeDomain } from '../../lib/domain-names.ts';
import type { DnsErrorReason } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  info,
  notAnswered,
  PUBLIC_UNANSWERED,
  rfc,
  skipped,
} from '../check.ts';
import { fromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'The CAA records were not looked up.';
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
    ...PUBLIC_UNANSWERED,
  },
  async run(context) {
    const domain = fromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'There is no domain to ask about.');
    const found = await climb(context, domain);
    if ('reason' in found)
      return notAnswered('The CAA records could not be looked up.', [
        { name: found.name, type: 'CAA', reason: found.reason },
      ]);
    return found.texts.length === 0 ? noRecord(domain) : judge(domain, found.name, found.texts);
  },
};

/** The records of the closest name at or above the domain that has any (§3). */
async function climb(
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
      `${domain} does not say which authorities may issue certificates for it.`,
      'Without a CAA record each of them may. It has no bearing on delivery; it keeps others from getting a certificate for your mail servers by the mistake of an authority.',
      { domain, records: [] },
    ),
    fix: {
      text: 'Publish a record like this one for each authority that you take certificates from, with its name in place of letsencrypt.org.',
      record: { type: 'CAA', name: domain, value: '0 issue "letsencrypt.org"' },
    },
  };
}

function judge(domain: string, name: string, texts: string[]): Finding {
  const records = texts.map(parseCaa);
  const problems = texts.flatMap((text, index) => caaProblem(records[index]!, text) ?? []);
  const issuers = records.flatMap((record) =>
    record?.tag === 'issue' ? [issuerOf(record.value)].filter(Boolean) : [],
  );
  const evidence = { domain, name, records: texts.map((text) => text.slice(0, 300)), issuers };
  if (problems.length > 0) return mistaken(name, problems, evidence);
  const restricts = records.some((record) => record?.tag === 'issue');
  return info(
    restricts
      ? `${domain} says which authorities may issue certificates for it.`
      : `${domain} has CAA records, but every authority may issue certificates for its name.`,
    issuers.length > 0
      ? `The records of ${name} name ${[...new Set(issuers)].slice(0, 10).join(', ')}.`
      : `The records of ${name} name no authority.`,
    evidence,
  );
}

function mistaken(name: string, problems: CaaProblem[], evidence: Finding['evidence']): Finding {
  const texts = problems.map(({ text }) => text);
  const value = problems.find(({ corrected }) => corrected !== null)?.corrected;
  return {
    ...info(
      `The CAA records of ${name} hold a mistake.`,
      `${texts.slice(0, 5).join(' ')} Authorities then refuse to issue certificates.`,
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

// One CAA record: its parts, what is wrong with it, and the corrected record (RFC 8659 §4).

/** RFC 8659 §4, RFC 9495, and the properties of the CA/Browser Forum and for mark certificates. */
const KNOWN = /^(?:issue|issuewild|issuemail|issuevmc|iodef|contactemail|contactphone)$/;

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
  /** The record to publish in its place; null where it cannot be told. */
  corrected: string | null;
}

/** `0 issue "ca.example; account=1"`; null for what cannot be read. */
export function parseCaa(text: string): CaaRecord | null {
  const match = /^(\d{1,3}) ([a-z0-9]{1,255}) "?([^"]*)"?$/i.exec(text);
  if (!match) return null;
  return { flags: Number(match[1]), tag: match[2]!.toLowerCase(), value: match[3]! };
}

/** The authority that an `issue` property names; empty for nobody. */
const issuerOf = (value: string): string => value.split(';', 1)[0]!.trim().toLowerCase();

/** `text`: the record as it was published. */
export function caaProblem(record: CaaRecord | null, text: string): CaaProblem | null {
  const shown = `"${text.slice(0, 100)}"`;
  if (record === null)
    return {
      text: `${shown} cannot be read.`,
      fix: `Delete the record ${shown}, or write it as a number, a property and a value: 0 issue "ca.example".`,
      corrected: null,
    };
  const { flags, tag, value } = record;
  // §4.1: an authority that does not know a critical property must not issue.
  if (!KNOWN.test(tag))
    return flags < 128
      ? null
      : {
          text: `${shown} is critical, and nobody knows "${tag.slice(0, 40)}".`,
          fix: `Delete the record ${shown}, or publish it with the flags 0.`,
          corrected: `0 ${tag} "${value}"`,
        };
  // §4.2: an issuer that is no domain name forbids issuance to all.
  const issuer = issuerOf(value);
  if (!tag.startsWith('issue') || issuer === '' || normalizeDomain(issuer) !== null) return null;
  const host = hostIn(issuer);
  return {
    text: `${shown} does not name an authority by its domain.`,
    fix: host
      ? `Publish the record ${shown} with ${host} alone as the name of the authority.`
      : `Write the domain name of the authority in the record ${shown}, or delete it.`,
    corrected: host && `${flags} ${tag} "${[host, ...value.split(';').slice(1)].join(';')}"`,
  };
}

/** The name of a host out of what somebody took for its name: `https://ca.example/`, `a@ca.example`. */
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
