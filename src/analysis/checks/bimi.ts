/** The check `bimi`: whether the domain publishes a logo and what keeps it from being shown; no points. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import { type BimiFiles, type BimiRecord, fetchBimiFiles, findBimiRecord } from '../bimi/record.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  info,
  skipped,
  unknown,
} from '../check.ts';
import { type DmarcDiscovery, dmarcDiscovery } from '../dmarc/discovery.ts';
import { dmarcResult } from '../dmarc/evaluate.ts';
import { isDmarcRecord } from '../dmarc/record.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { fieldValue } from '../mime/message.ts';

/** draft-brand-indicators-for-message-identification §7.1 and §7.2. */
export const bimi: Check = {
  id: 'bimi',
  category: 'authentication',
  points: 0,
  label: 'BIMI logo',
  reference: {
    name: 'draft-brand-indicators-for-message-identification',
    url: 'https://datatracker.ietf.org/doc/draft-brand-indicators-for-message-identification/',
  },
  publicEvidence: {
    name: 'shown',
    record: 'shown',
    logo: 'shown',
    certificate: 'shown',
    logo_file: { bytes: 'shown', title: 'shown', view_box: 'shown' },
    certificate_file: {
      kind: 'shown',
      mark_type: 'shown',
      names: 'shown',
      issuer: 'shown',
      valid_from: 'shown',
      valid_to: 'shown',
      logotype: 'shown',
    },
    problems: 'shown',
    obstacles: 'shown',
    not_found_out: 'shown',
  },
  async run(context) {
    if (context.offline)
      return skipped('BIMI was not looked at.', 'Nothing may be asked in the offline mode.');
    const discovery = await context.fact(dmarcDiscovery);
    if (discovery.fromDomain === null || discovery.status === 'no_author')
      return skipped('BIMI does not apply.', discovery.reason ?? 'The From field names no domain.');
    const domains = bimiDomains(discovery);
    const names = bimiNames(context, domains);
    const record = await findBimiRecord(names, context.resolver);
    if (!record)
      return unknown(
        'BIMI could not be looked up.',
        'The question for the record was not answered.',
      );
    if (record.text === null) return noRecord(record, discovery.fromDomain);
    if (record.declined)
      return info(
        'Your domain says by BIMI that no logo is to be shown.',
        'The record has an empty l=, which declines.',
        recordEvidence(record),
      );
    const files = await fetchBimiFiles(context, record, [...domains, ...names]);
    return judge(context, discovery, record, files);
  },
};

function bimiDomains(discovery: DmarcDiscovery): string[] {
  const domains = [discovery.fromDomain, organizationOf(discovery)].filter(
    (domain) => domain !== null,
  );
  return [...new Set(domains)];
}

/** The selector is the one that the message asks for, else `default`; it holds for both domains. */
function bimiNames({ message }: Context, domains: string[]): string[] {
  const header = fieldValue(message, 'BIMI-Selector');
  const asked = header === null ? undefined : parseTagList(header).get('s');
  const selector = asked && /^[a-z0-9._-]{1,63}$/i.test(asked) ? asked.toLowerCase() : 'default';
  return domains.map((domain) => `${selector}._bimi.${domain}`);
}

function noRecord({ name }: BimiRecord, domain: string): Finding {
  return {
    ...info(
      'Your domain publishes no BIMI logo.',
      'That costs nothing. With a record mail programs such as Gmail, Apple Mail and Yahoo can show your logo beside messages that pass DMARC.',
      { name, record: null },
    ),
    fix: fixFor(name, `https://${domain}/logo.svg`, `https://${domain}/logo.pem`),
  };
}

function fixFor(name: string, location: string, authority: string): Fix {
  return {
    text: 'To show a logo, publish a BIMI record like this one: an SVG Tiny PS image and a mark certificate (VMC or CMC) for it, both under https.',
    record: { type: 'TXT', name, value: `v=BIMI1; l=${location}; a=${authority}` },
  };
}

async function judge(
  context: Context,
  discovery: DmarcDiscovery,
  record: BimiRecord,
  files: BimiFiles,
): Promise<Finding> {
  const policy = await policyObstacles(discovery, context.resolver);
  const problems = [...record.problems, ...files.problems];
  const obstacles = [...problems, ...(policy ?? []), ...(await messageObstacles(context))];
  if (record.authority === null)
    obstacles.push(
      'The record names no certificate (a=); Gmail and Apple show a logo only with one.',
    );
  const evidence = {
    ...recordEvidence(record),
    ...files.evidence,
    problems,
    obstacles,
    ...(files.open.length > 0 && { not_found_out: files.open }),
  };
  if (policy === null)
    return unknown(
      'Whether your BIMI logo may be shown could not be found out.',
      'The question for the DMARC record was not answered.',
      evidence,
    );
  const isBroken = problems.length > 0 || record.authority === null;
  return { ...verdict(obstacles, files.open, evidence), ...(isBroken && { fix: fixOf(record) }) };
}

async function messageObstacles(context: Context): Promise<string[]> {
  const { result } = await context.fact(dmarcResult);
  const known = result !== null && result !== 'pass' && result !== 'temperror';
  return known ? ['This message does not pass DMARC.'] : [];
}

const TRUST =
  'Whether its certificate comes from an authority that mail programs trust was not looked at, and each decides for itself what it shows.';

function verdict(obstacles: string[], open: string[], evidence: Finding['evidence']): Finding {
  if (obstacles.length > 0)
    return info(
      'Your domain publishes a BIMI logo, but mail programs may not show it.',
      [...obstacles, ...open].join(' '),
      evidence,
    );
  if (open.length > 0)
    return info(
      'Nothing that was found keeps your BIMI logo away, but not all could be looked at.',
      open.join(' '),
      evidence,
    );
  return info('Your BIMI logo is complete, and nothing found keeps it away.', TRUST, evidence);
}

/** The record with what it lacks; where only a file is at fault, what the file must be. */
function fixOf({ name, location, authority, problems }: BimiRecord): Fix {
  if (problems.length === 0 && authority !== null)
    return {
      text: 'Correct the files that the record names: the logo as SVG Tiny PS (square, at most 32 kB, with a title, without scripts or references), and its mark certificate in PEM form with the certificates of its authority below.',
    };
  const logo = location ?? '<the https address of your logo>';
  return fixFor(name, logo, authority ?? '<the https address of its certificate>');
}

function recordEvidence(record: BimiRecord) {
  return {
    name: record.name,
    record: record.text,
    logo: record.location,
    certificate: record.authority,
  };
}

// Whether the DMARC policies of a sender are strict enough for a BIMI logo.

const ENFORCED = /^(?:quarantine|reject)$/i;

/**
 * Quarantine or reject, for all mail: at the From domain, and at the organizational domain with its
 * subdomains (draft-brand-indicators-for-message-identification §7.1). Sentences; null where the DNS
 * did not answer.
 */
async function policyObstacles(
  discovery: DmarcDiscovery,
  resolver: Resolver,
): Promise<string[] | null> {
  const { status, policy, record, recordDomain } = discovery;
  if (status === 'error') return null;
  if (status !== 'found' || !policy || record === null) return ['The domain has no DMARC record.'];
  const own = ENFORCED.test(policy.effective)
    ? scopeObstacles(parseTagList(record))
    : ['The DMARC policy is not enforced: it must be quarantine or reject.'];
  const organization = organizationOf(discovery);
  if (organization === null || organization === recordDomain) return own;
  const above = await organizationObstacles(organization, resolver);
  return above && [...own, ...above];
}

/** Where the tree walk stays at the From domain, for a question left open too, the suffix list tells. */
function organizationOf(discovery: DmarcDiscovery): string | null {
  const { fromDomain, organizationalDomain: found } = discovery;
  return found !== null && found !== fromDomain ? found : organizationalDomain(fromDomain ?? '');
}

function scopeObstacles(tags: Map<string, string>): string[] {
  const obstacles: string[] = [];
  if (tags.get('sp')?.toLowerCase() === 'none')
    obstacles.push('The DMARC policy exempts subdomains (sp=none).');
  const percent = tags.get('pct');
  if (percent !== undefined && Number(percent) !== 100)
    obstacles.push(
      `The DMARC policy is for ${percent.slice(0, 10)} % of the mail only (pct); that keeps the logo away although RFC 9989 has no pct any more.`,
    );
  return obstacles;
}

/** The From domain has a record of its own; that of the organization counts for logos all the same. */
async function organizationObstacles(domain: string, resolver: Resolver): Promise<string[] | null> {
  const answer = await resolver(`_dmarc.${domain}`, 'TXT');
  if (answer.status === 'error') return null;
  const records = answer.status === 'found' ? answer.records.filter(isDmarcRecord) : [];
  const tags = parseTagList(records.length === 1 ? records[0]! : '');
  const testing = tags.get('t')?.toLowerCase() === 'y' && tags.get('p')?.toLowerCase() !== 'reject';
  if (!ENFORCED.test(tags.get('p') ?? '') || testing)
    return [`The DMARC policy of ${domain} is not enforced: it must be quarantine or reject.`];
  return scopeObstacles(tags);
}
