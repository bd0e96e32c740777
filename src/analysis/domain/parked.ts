/** A parked domain, which declares that it sends and receives no mail: healthy if nobody can send in its name. */

import { parseMx, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { type Check, type Context, type Finding, fail, pass, skipped, warn } from '../check.ts';
import { proposesRecord, recordFinding } from '../checks/dmarc-record.ts';
import { resemblesKey } from '../dkim/key-record.ts';
import type { FoundKeys } from '../dkim/selectors.ts';
import { explainDead } from '../dmarc/dead-destinations.ts';
import { dmarcDiscovery } from '../dmarc/discovery.ts';
import { dmarcFix, parseDmarcTags, repairedRecord, withoutTag, withTag } from '../dmarc/record.ts';
import { NO_REPORT_ADDRESS } from '../dmarc/weaknesses.ts';
import { mailHosts } from '../dns/mail-hosts.ts';
import { undeliverable } from '../dns/undeliverable.ts';
import { isSpfRecord, parseSpfTerms, spfFix } from '../spf/record.ts';
import { readSpf, resemblesSpf } from '../spf/repair.ts';

interface Parked {
  /** The end of its SPF record, such as `-all`; null without a record. */
  spfEnd: string | null;
  /** A null MX record (RFC 7505), no MX record but an address, such as that of a website, or neither. */
  declares: 'null_mx' | 'address' | 'nothing';
}

/**
 * Whether the domain has no MX record and an SPF record that allows no server. With a null MX and no key, it may lack
 * that record, or allow everyone without naming a server.
 * Null if it sends or receives mail, as far as is known.
 */
export async function findParked(
  domain: string,
  { keys }: FoundKeys,
  context: Context,
): Promise<Parked | null> {
  const { kind } = await mailHosts(context, domain);
  if (kind === 'mx' || kind === 'error') return null;
  // A usable key, or a selector that someone entered: it may send mail that passes by its signature alone.
  const signs = keys.some(({ key, isKnown }) => (key ? !key.revoked : isKnown));
  return parkedWith(domain, kind, signs, context.resolver);
}

/** The same from MX and SPF alone, if it is known whether the domain has a key. False if a lookup fails. */
export async function isParked(domain: string, signs: boolean, resolver: Resolver) {
  const texts = recordsOf(await resolver(domain, 'MX'));
  if (texts?.some((text) => parseMx(text).exchange !== '.') !== false) return false;
  const kind = texts.length > 0 ? 'null_mx' : 'nothing';
  return (await parkedWith(domain, kind, signs, resolver)) !== null;
}

async function parkedWith(
  domain: string,
  kind: Parked['declares'],
  signs: boolean,
  resolver: Resolver,
): Promise<Parked | null> {
  if (signs && kind !== 'null_mx') return null;
  const texts = recordsOf(await resolver(domain, 'TXT'));
  const records = texts?.filter(resemblesSpf) ?? null;
  if (records === null) return null;
  if (records.length === 0)
    return kind === 'null_mx' && !signs ? { spfEnd: null, declares: kind } : null;
  const { record } = readSpf(records);
  if (record === null) return null;
  const qualifier = await onlyAll(record, resolver);
  if (qualifier === null) return null;
  // With +all, the owner may send from anywhere, and ?all says nothing. Only a null MX record without any key says otherwise.
  if (/[+?]/.test(qualifier) && (kind !== 'null_mx' || signs)) return null;
  return { spfEnd: `${qualifier}all`, declares: kind };
}

const MAX_REDIRECTS = 5;

/** The qualifier of `all` in a record without other terms, there or where it redirects; null if it may name a server. */
async function onlyAll(
  record: string,
  resolver: Resolver,
  left = MAX_REDIRECTS,
): Promise<string | null> {
  const [end, ...others] = parseSpfTerms(record);
  if (!end || others.length > 0 || end.fault !== null) return null;
  if (end.name === 'all' && !end.isModifier) return end.qualifier;
  if (end.name !== 'redirect' || end.target?.includes('%') !== false || left === 0) return null;
  const texts = recordsOf(await resolver(end.target.toLowerCase(), 'TXT'));
  const [target, ...more] = texts?.filter(isSpfRecord) ?? [];
  return target === undefined || more.length > 0 ? null : onlyAll(target, resolver, left - 1);
}

/** The findings of a parked domain in place of those of a domain with mail. */
export async function asParked(
  domain: string,
  { spfEnd, declares }: Parked,
  checks: Check[],
  findings: Finding[],
  context: Context,
): Promise<Finding[]> {
  const replaced = await Promise.all(
    checks.map(({ id }, i): Finding | Promise<Finding> => {
      const finding = findings[i]!;
      if (id === 'spf_record') return spfOf(domain, spfEnd, finding);
      if (id === 'mx') return mxOf(domain, declares, finding);
      if (id === 'dmarc_record') return recordOf(domain, finding, context);
      if (id === 'dmarc_policy') return policyOf(domain, finding, context);
      if (id === 'dkim_selector') return keyOf(domain, finding);
      if (RECEIVING.includes(id))
        return skipped('Not checked.', `${domain} declares that it receives no mail.`);
      if (id === 'bimi')
        return skipped('Not checked.', `${domain} declares that it sends no mail.`);
      return finding;
    }),
  );
  return replaced;
}

/** Checks of the servers that receive mail. */
const RECEIVING = ['mx_tls', 'mta_sts', 'tls_rpt', 'dane'];

const NO_MAIL = 'The domain declares that it sends and receives no mail.';

function spfOf(domain: string, end: string | null, finding: Finding): Finding {
  const fix = spfFix(
    'Publish this record, which says that no server sends for the domain.',
    domain,
    'v=spf1 -all',
  );
  if (end === '+all') return { ...finding, fix };
  // No receiver reads what the record declares.
  if (end !== null && finding.status === 'fail') return finding;
  if (end === '-all')
    return pass(`The SPF record of ${domain} allows no server to send.`, NO_MAIL, finding.evidence);
  const { evidence } = finding;
  if (end === null)
    return fail({
      title: `${domain} receives no mail, but has no SPF record to say that it sends none.`,
      detail: 'Without one, mailbox providers do not know that all mail from the domain is forged.',
      fix,
      evidence,
    });
  return warn({
    title: `The SPF record of ${domain} allows no server, but ends with ${end}.`,
    detail: 'Mailbox providers accept forged mail more readily than with -all.',
    fix,
    evidence,
  });
}

function mxOf(domain: string, declares: Parked['declares'], { evidence }: Finding): Finding {
  if (declares === 'null_mx')
    return pass(`${domain} accepts no mail, as its null MX record says.`, NO_MAIL, evidence);
  const has = declares === 'address' ? 'no MX record' : 'neither an MX record nor an address';
  return pass(
    `${domain} is not set up to receive mail: it has ${has}.`,
    'A null MX record (MX 0 .) would say so: senders would then return mail to it at once.',
    evidence,
  );
}

/** Reports only show who forges its mail, so it works without them. But those to itself are lost. */
async function recordOf(domain: string, finding: Finding, context: Context): Promise<Finding> {
  const { record, recordDomain } = await context.fact(dmarcDiscovery);
  const names = record?.toLowerCase().split(/[\s,;!]/) ?? [];
  if (finding.status === 'pass' && names.some((name) => name.endsWith(`@${domain}`))) {
    const dead = await undeliverable(domain, domain, context.resolver);
    if (dead === null) return finding;
    const { text: title, detail, fix } = explainDead(dead, false, '');
    return warn({ title, detail, fix, evidence: finding.evidence });
  }
  if (recordDomain !== domain || record === null) return onlyForged(domain, finding);
  if (finding.status !== 'warn') return finding;
  if (parseDmarcTags(repairedRecord(record)).tags.has('rua')) return onlyForged(domain, finding);
  const isComplete = finding.title === NO_REPORT_ADDRESS;
  const [detail = '', others] = finding.detail.split(OTHERS);
  if (!isComplete || others !== undefined) {
    const { value = record } = finding.fix?.record ?? {};
    const isNew = value.includes(`mailto:dmarc-reports@${domain}`);
    return warn({
      title: isComplete
        ? `The DMARC record of ${domain} has parts that mailbox providers ignore.`
        : finding.title,
      detail: isComplete
        ? others!
        : [detail, others?.replace(NO_REPORT_ADDRESS, '').trim() ?? ''].join(' ').trim(),
      fix: dmarcFix(
        'Publish this record, without these parts. It works without an address for reports.',
        domain,
        strictest(isNew ? withoutTag(value, 'rua') : value),
      ),
      evidence: finding.evidence,
    });
  }
  return pass(
    `The DMARC record of ${domain} is valid.`,
    'It requests no reports. With an address in rua, you would learn who forges mail in the name of the domain.',
    finding.evidence,
  );
}

const OTHERS = ' Other problems: ';

/** In place of a record that is weak, or of those that no receiver reads, one that rejects: no report has to be awaited. */
const onlyForged = (domain: string, finding: Finding): Finding =>
  proposesRecord(finding, domain)
    ? {
        ...finding,
        fix: dmarcFix(
          'Publish this as the only DMARC record. The domain sends no mail, so it rejects only forged mail.',
          domain,
          strictest(finding.fix!.record!.value),
        ),
      }
    : finding;

/** No mail of its own can fail, so the strictest policy costs nothing. */
async function policyOf(domain: string, finding: Finding, context: Context): Promise<Finding> {
  if (finding.status === 'error') return finding;
  const { record, recordDomain, status, discarded } = await context.fact(dmarcDiscovery);
  if (discarded.length > 0) return onlyForged(domain, finding);
  if (finding.status === 'skipped') return finding;
  if (status === 'none' || record === null || recordDomain === null)
    return fail({
      title: `${domain} sends no mail, but has no DMARC policy that says so.`,
      detail: 'Without one, mailbox providers may deliver mail that others send in its name.',
      fix: dmarcFix(
        'Publish this record. The domain sends no mail, so it rejects only forged mail.',
        domain,
        'v=DMARC1; p=reject',
      ),
      evidence: finding.evidence,
    });
  if (recordDomain !== domain || isStrict(record)) return finding;
  const other = await recordOf(domain, await context.fact(recordFinding), context);
  return warn({
    title: `${domain} sends no mail, but its DMARC policy does not reject all mail in its name.`,
    detail: `Its record says "${record.slice(0, 200)}". No mail of the domain itself can be lost by a stricter policy.`,
    fix: proposesRecord(other, domain)
      ? 'Publish the record described under “DMARC record”, which rejects all mail in its name.'
      : dmarcFix('Publish this record, which rejects only forged mail.', domain, strictest(record)),
    evidence: finding.evidence,
  });
}

function isStrict(record: string): boolean {
  const { tags } = parseDmarcTags(record);
  const is = (name: string, value: RegExp) => value.test(tags.get(name) ?? '');
  const isRejected = (name: string) => !tags.has(name) || is(name, /^reject$/i);
  return is('p', /^reject$/i) && isRejected('sp') && isRejected('np') && !is('t', /^y$/i);
}

export const strictest = (record: string): string =>
  ['sp', 'np', 't', 'pct'].reduce(
    (text, name) => withoutTag(text, name),
    withTag(repairedRecord(record), 'p', 'reject'),
  );

/** A key that verifies lets whoever has the private key send in the name of the domain. */
function keyOf(domain: string, finding: Finding): Finding {
  const { evidence = {} } = finding;
  const { name, type, selector } = evidence;
  if (typeof name !== 'string')
    return finding.status !== 'error'
      ? pass(`${domain} has no DKIM key under a common selector.`, NO_MAIL, evidence)
      : finding;
  // Revoked keys have no type, and those of entered selectors that are missing have no record.
  if (finding.status === 'error') return finding;
  const records = Array.isArray(evidence.records) ? evidence.records : [];
  if (records.length > 0 && !records.some((text) => resemblesKey(String(text))))
    return pass(
      `No DKIM key is in use at ${name}.`,
      'The text that is published there is no key. Delete it: the domain sends no mail.',
      evidence,
    );
  const isRevoked = records.every((text) => /(?:^|;)\s*p\s*=\s*(?:;|$)/i.test(String(text)));
  if (records.length === 0 || isRevoked)
    return pass(
      `No DKIM key is in use at ${name}.`,
      records.length === 0 ? NO_MAIL : 'Its p= is empty: the key is revoked.',
      evidence,
    );
  return warn({
    title: `${domain} sends no mail, but has a DKIM key at ${name}.`,
    detail: `Whoever has the private key of ${String(selector)}${typeof type === 'string' ? ` (${type})` : ''} can sign mail in the name of the domain, and it passes DMARC.`,
    fix: {
      text: 'Delete the key, or publish this record in its place, which revokes it.',
      record: { type: 'TXT', name, value: 'v=DKIM1; p=' },
    },
    evidence,
  });
}
