/** The check `bimi`: whether the domain publishes a logo and what keeps it from being shown; no points. */

import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  info,
  skipped,
  unknown,
} from '../check.ts';
import { fieldValue } from '../message.ts';
import { type BimiRecord, findBimiRecord } from './bimi-record.ts';
import { type DmarcDiscovery, dmarcDiscovery } from './dmarc-discovery.ts';
import { parseTagList } from './tag-list.ts';
import { dmarcResult } from './verify-dmarc.ts';

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
  async run(context) {
    if (context.offline)
      return skipped('BIMI was not looked at.', 'Nothing may be asked in the offline mode.');
    const discovery = await context.fact(dmarcDiscovery);
    if (discovery.fromDomain === null || discovery.status === 'no_author')
      return skipped('BIMI does not apply.', discovery.reason ?? 'The From field names no domain.');
    const record = await findBimiRecord(bimiNames(context, discovery), context.resolver);
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
        evidenceOf(record, []),
      );
    return judge(record, await obstaclesOf(context, discovery, record));
  },
};

/** The selector is the one that the message asks for, else `default`; it holds for both domains. */
function bimiNames(context: Context, { fromDomain, organizationalDomain }: DmarcDiscovery) {
  const header = fieldValue(context.message, 'BIMI-Selector');
  const asked = header === null ? undefined : parseTagList(header).get('s');
  const selector = asked && /^[a-z0-9._-]{1,63}$/i.test(asked) ? asked.toLowerCase() : 'default';
  const domains = new Set([fromDomain, organizationalDomain].filter((domain) => domain !== null));
  return [...domains].map((domain) => `${selector}._bimi.${domain}`);
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

/** All that keeps the logo away, as far as the DNS and the message show it. */
async function obstaclesOf(
  context: Context,
  discovery: DmarcDiscovery,
  record: BimiRecord,
): Promise<string[]> {
  const obstacles = [...record.problems, ...policyObstacles(discovery)];
  const { result } = await context.fact(dmarcResult);
  if (result !== null && result !== 'pass' && result !== 'temperror')
    obstacles.push('This message does not pass DMARC.');
  if (record.authority === null)
    obstacles.push(
      'The record names no certificate (a=); Gmail and Apple show a logo only with one.',
    );
  return obstacles;
}

/** Draft §7.1: quarantine or reject, for all mail and for subdomains too. */
function policyObstacles({ status, policy, record }: DmarcDiscovery): string[] {
  if (status === 'error') return ['The DMARC record could not be looked up.'];
  if (status !== 'found' || !policy || record === null) return ['The domain has no DMARC record.'];
  const tags = parseTagList(record);
  const obstacles: string[] = [];
  if (policy.effective !== 'quarantine' && policy.effective !== 'reject')
    obstacles.push('The DMARC policy is not enforced: it must be quarantine or reject.');
  else if (tags.get('sp')?.toLowerCase() === 'none')
    obstacles.push('The DMARC policy exempts subdomains (sp=none).');
  const percent = tags.get('pct');
  if (percent !== undefined && Number(percent) !== 100)
    obstacles.push(`The DMARC policy is for ${percent} % of the mail only (pct).`);
  return obstacles;
}

function judge(record: BimiRecord, obstacles: string[]): Finding {
  const evidence = evidenceOf(record, obstacles);
  if (obstacles.length === 0)
    return info(
      'Your BIMI record is complete, and nothing in the DNS keeps your logo away.',
      'The logo and the certificate themselves were not fetched.',
      evidence,
    );
  return {
    ...info(
      'Your domain publishes a BIMI logo, but mail programs may not show it.',
      obstacles.join(' '),
      evidence,
    ),
    ...(record.problems.length > 0 || record.authority === null
      ? { fix: mendedRecord(record) }
      : {}),
  };
}

function mendedRecord({ name, location, authority }: BimiRecord): Fix {
  const logo = location ?? '<the https address of your logo>';
  return fixFor(name, logo, authority ?? '<the https address of its certificate>');
}

function evidenceOf(record: BimiRecord, obstacles: string[]): Finding['evidence'] {
  return {
    name: record.name,
    record: record.text,
    logo: record.location,
    certificate: record.authority,
    obstacles,
    logo_and_certificate: 'not fetched',
  };
}
