/** The check `bimi`: does the domain publish a logo, and can email clients show it? No points. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import { type BimiFiles, type BimiRecord, fetchBimiFiles, findBimiRecord } from '../bimi/record.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  info,
  offline,
  skipped,
  unknown,
} from '../check.ts';
import { type DmarcDiscovery, dmarcDiscovery } from '../dmarc/discovery.ts';
import { dmarcResult } from '../dmarc/evaluate.ts';
import { isDmarcRecord } from '../dmarc/record.ts';
import { fromDomain } from '../dns/names.ts';
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
  about: fromDomain,
  async run(context) {
    if (context.offline) return offline('BIMI was not checked.');
    const discovery = await context.fact(dmarcDiscovery);
    if (discovery.fromDomain === null || discovery.status === 'no_author')
      return skipped('BIMI was not checked.', discovery.reason ?? 'The From field has no domain.');
    const domains = bimiDomains(discovery);
    const names = bimiNames(context, domains);
    const record = await findBimiRecord(names, context.resolver);
    if (!record) return unknown('Could not look up your BIMI record.', 'The DNS lookup failed.');
    if (record.text === null) return noRecord(record, discovery.fromDomain);
    if (record.declined)
      return info(
        'Your BIMI record asks email clients to show no logo.',
        'Its l= tag is empty, which means that the domain declines BIMI.',
        recordEvidence(record),
      );
    const files = await fetchBimiFiles(context, record, [...domains, ...names]);
    return evaluateLogo(context, discovery, record, files);
  },
};

function bimiDomains(discovery: DmarcDiscovery): string[] {
  const domains = [discovery.fromDomain, organizationOf(discovery)].filter(
    (domain) => domain !== null,
  );
  return [...new Set(domains)];
}

/** The selector is that of the message, or `default`; it applies to both domains. */
function bimiNames({ message }: Context, domains: string[]): string[] {
  const header = fieldValue(message, 'BIMI-Selector');
  const requested = header === null ? undefined : parseTagList(header).get('s');
  const selector =
    requested && /^[a-z0-9._-]{1,63}$/i.test(requested) ? requested.toLowerCase() : 'default';
  return domains.map((domain) => `${selector}._bimi.${domain}`);
}

function noRecord({ name }: BimiRecord, domain: string): Finding {
  return {
    ...info(
      'Your domain has no BIMI record.',
      'This does not affect your score. With a BIMI record, Gmail, Apple Mail and Yahoo can show your logo next to messages that pass DMARC.',
      { name, record: null },
    ),
    fix: recordFix(name, `https://${domain}/logo.svg`, `https://${domain}/logo.pem`),
  };
}

function recordFix(name: string, location: string, authority: string): Fix {
  return {
    text: 'To show a logo, publish a BIMI record like this one. It needs an SVG Tiny PS image and a mark certificate for it (VMC or CMC), both served over HTTPS.',
    record: { type: 'TXT', name, value: `v=BIMI1; l=${location}; a=${authority}` },
  };
}

async function evaluateLogo(
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
      'The record has no certificate URL (a=). Gmail and Apple show a logo only with a certificate.',
    );
  const evidence = {
    ...recordEvidence(record),
    ...files.evidence,
    problems,
    obstacles,
    ...(files.unknowns.length > 0 && { not_found_out: files.unknowns }),
  };
  if (policy === null)
    return unknown(
      'Could not determine whether email clients may show your BIMI logo.',
      'The DNS lookup of the DMARC record failed.',
      evidence,
    );
  const needsFix = problems.length > 0 || record.authority === null;
  return {
    ...verdict(obstacles, files.unknowns, evidence),
    ...(needsFix && { fix: logoFix(record) }),
  };
}

async function messageObstacles(context: Context): Promise<string[]> {
  const { result } = await context.fact(dmarcResult);
  const failsDmarc = result !== null && result !== 'pass' && result !== 'temperror';
  return failsDmarc ? ['This message does not pass DMARC.'] : [];
}

const TRUST_NOT_CHECKED =
  'Not checked: whether email clients trust the certificate authority. Each client decides for itself which logos it shows.';

function verdict(obstacles: string[], unknowns: string[], evidence: Finding['evidence']): Finding {
  if (obstacles.length > 0)
    return info(
      'Your domain has a BIMI record, but email clients may not show the logo.',
      [...obstacles, ...unknowns].join(' '),
      evidence,
    );
  if (unknowns.length > 0)
    return info(
      'No problems found with your BIMI logo, but some checks could not be completed.',
      unknowns.join(' '),
      evidence,
    );
  return info('Your BIMI setup is complete.', TRUST_NOT_CHECKED, evidence);
}

/** The record with its missing parts; or, if only a file is wrong, what the files must be. */
function logoFix({ name, location, authority, problems }: BimiRecord): Fix {
  if (problems.length === 0 && authority !== null)
    return {
      text: 'Fix the files that the record links to. The logo must be SVG Tiny PS: square, at most 32 KB, with a title, without scripts or external references. The mark certificate must be in PEM format, followed by the certificates of its authority.',
    };
  const logo = location ?? '<the https address of your logo>';
  return recordFix(name, logo, authority ?? '<the https address of its certificate>');
}

function recordEvidence(record: BimiRecord) {
  return {
    name: record.name,
    record: record.text,
    logo: record.location,
    certificate: record.authority,
  };
}

// Whether the sender's DMARC policies are strict enough for a BIMI logo.

const ENFORCED = /^(?:quarantine|reject)$/i;

/**
 * The policy must be quarantine or reject for all mail, at the From domain and at the organizational
 * domain with its subdomains (draft-brand-indicators-for-message-identification §7.1). Returns
 * sentences; null if the DNS lookup failed.
 */
async function policyObstacles(
  discovery: DmarcDiscovery,
  resolver: Resolver,
): Promise<string[] | null> {
  const { status, policy, record, recordDomain } = discovery;
  if (status === 'error') return null;
  if (status !== 'found' || !policy || record === null) return ['The domain has no DMARC record.'];
  const obstacles = ENFORCED.test(policy.effective)
    ? scopeObstacles(parseTagList(record))
    : ['The DMARC policy is not enforced: it must be quarantine or reject.'];
  const organization = organizationOf(discovery);
  if (organization === null || organization === recordDomain) return obstacles;
  const fromOrganization = await organizationObstacles(organization, resolver);
  return fromOrganization && [...obstacles, ...fromOrganization];
}

/** Falls back to the Public Suffix List if the tree walk ended at the From domain or failed. */
function organizationOf(discovery: DmarcDiscovery): string | null {
  const { fromDomain, organizationalDomain: treeWalkDomain } = discovery;
  return treeWalkDomain !== null && treeWalkDomain !== fromDomain
    ? treeWalkDomain
    : organizationalDomain(fromDomain ?? '');
}

function scopeObstacles(tags: Map<string, string>): string[] {
  const obstacles: string[] = [];
  if (tags.get('sp')?.toLowerCase() === 'none')
    obstacles.push('The DMARC policy exempts subdomains (sp=none).');
  const percent = tags.get('pct');
  if (percent !== undefined && Number(percent) !== 100)
    obstacles.push(
      `The DMARC policy applies to only ${percent.slice(0, 10)}% of mail (pct). BIMI requires 100%, although RFC 9989 removed pct from DMARC.`,
    );
  return obstacles;
}

/** For BIMI, the organization's record counts too, even if the From domain has its own. */
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
