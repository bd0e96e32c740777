/** `tls_rpt`: whether the From domain requests reports on TLS delivery to its mail servers. */

import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  info,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  rfc,
  skipped,
} from '../check.ts';
import { lookUpTlsa } from '../dane/tlsa.ts';
import { withMeantDomains } from '../dmarc/dead-destinations.ts';
import { mailboxDomain } from '../dmarc/record.ts';
import { feedbackAddressFor } from '../dmarc/report-mailbox.ts';
import { explainRepeated, repeatedZone } from '../dns/appended-zone.ts';
import { fromDomain } from '../dns/names.ts';
import { pastedAround, withoutPasted } from '../dns/pasted-text.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { undeliverable } from '../dns/undeliverable.ts';
import { isFromWildcard } from '../dns/wildcard.ts';
import { hasStsRecord } from './mta-sts.ts';

const NOT_CHECKED = 'TLS reporting was not checked.';

export const tlsRpt: Check = {
  id: 'tls_rpt',
  category: 'infrastructure',
  points: 0,
  label: 'TLS reporting',
  reference: rfc(8460, '3'),
  publicEvidence: {
    name: 'shown',
    records: 'shown',
    destinations: 'shown',
    needed_by: 'shown',
    ...PUBLIC_FAILED_LOOKUPS,
  },
  about: fromDomain,
  async run(context) {
    const domain = fromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'The From field has no domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const name = `_smtp._tls.${domain}`;
    const answer = await context.resolver(name, 'TXT');
    if (answer.status === 'error')
      return lookupFailed('Could not look up the TLS reporting record.', [
        { name, type: 'TXT', reason: answer.reason },
      ]);
    const feedbackAddress = feedbackAddressFor(context.setup, domain);
    const found = answer.status === 'found' ? answer.records : [];
    const areOther =
      !found.some(resemblesTlsRpt) && (await isFromWildcard(name, 'TXT', context.resolver));
    const texts = areOther ? [] : found;
    const fix = proposal(domain, name, feedbackAddress);
    const finding =
      (await misplacedRecord(domain, name, fix, texts, context)) ??
      (await undeliverableReports(domain, name, texts, context)) ??
      evaluateRecords(domain, name, texts, feedbackAddress);
    return finding.fix ? withUse(finding, await tlsPolicies(context, domain)) : finding;
  },
};

/** What protects mail to the domain, and fails without notice if there are no reports. */
async function tlsPolicies(context: Context, domain: string): Promise<string[]> {
  const [hasSts, { hosts }] = await Promise.all([
    hasStsRecord(context, domain),
    lookUpTlsa(context, domain),
  ]);
  const hasDane = hosts.some(({ records }) => records.length > 0);
  return [...(hasSts ? ['MTA-STS'] : []), ...(hasDane ? ['DANE'] : [])];
}

function withUse(finding: Finding, policies: string[]): Finding {
  if (policies.length === 0) return finding;
  return {
    ...finding,
    detail: `${finding.detail} Your domain uses ${policies.join(' and ')}: without reports, you do not learn when senders cannot deliver.`,
    evidence: { ...finding.evidence, needed_by: policies },
  };
}

/** `feedbackAddress`: where this service takes reports about the domain. */
const proposal = (domain: string, name: string, feedbackAddress: string | null): Fix => ({
  text:
    feedbackAddress === null
      ? 'Publish this as the only record at its name, with an address where you read reports.'
      : 'Publish this as the only record at its name. This service reads the reports.',
  record: {
    type: 'TXT',
    name,
    value: `v=TLSRPTv1; rua=mailto:${feedbackAddress ?? `tls-reports@${domain}`}`,
  },
});

function evaluateRecords(
  domain: string,
  name: string,
  txtRecords: string[],
  feedbackAddress: string | null,
): Finding {
  // Senders ignore other TXT records, and ignore all if several match (RFC 8460 §3).
  const records = txtRecords.filter(isRecord);
  const evidence = { name, records: txtRecords.slice(0, 10).map((text) => text.slice(0, 500)) };
  const written = txtRecords.filter(resemblesTlsRpt);
  if (written.length === 0)
    return {
      ...info(
        `${domain} does not request TLS reports.`,
        'With this record, senders report to you when they cannot deliver over TLS. It does not affect mail you send.',
        evidence,
      ),
      fix: proposal(domain, name, feedbackAddress),
    };
  const destinations = records.length === 1 ? reportUris(records[0]!) : [];
  // An address after a semicolon is no part of rua.
  const hasStray = written.some((text) => /;\s*[^;=\s@]+@[^;=]*(?:;|$)/.test(text));
  if (destinations.length === 0 || hasStray || !destinations.every(isDestination))
    return {
      ...info(
        `The TLS reporting record of ${domain} is invalid.`,
        whyInvalid(written, records.length === 1),
        evidence,
      ),
      fix: repair(name, written, feedbackAddress),
    };
  return info(
    `${domain} requests TLS reports.`,
    'Senders that support TLS-RPT send you reports on TLS delivery to your domain.',
    { ...evidence, destinations: destinations.slice(0, 10) },
  );
}

/** For a record at a name that has the domain twice, and none at the right one; else null. */
async function misplacedRecord(
  domain: string,
  name: string,
  fix: Fix,
  texts: string[],
  { resolver }: Context,
): Promise<Finding | null> {
  if (texts.length > 0) return null;
  const repeated = await repeatedZone(name, domain, resemblesTlsRpt, resolver);
  if (!repeated) return null;
  const value = repeated.texts.find(isRecord);
  return {
    ...info(
      `The TLS reporting record of ${domain} is published at the wrong name.`,
      explainRepeated(name, repeated.name, domain),
      { name, records: repeated.texts.map((text) => text.slice(0, 500)) },
    ),
    fix: {
      text: `Move the record to ${name}.`,
      record: value === undefined ? fix.record : { type: 'TXT', name, value },
    },
  };
}

const isRecord = (text: string): boolean => /^v=TLSRPTv1\s*;/.test(text);

/** For a valid record with an address at a domain that takes no mail; else null. */
async function undeliverableReports(
  domain: string,
  name: string,
  texts: string[],
  { resolver, setup }: Context,
): Promise<Finding | null> {
  const [record, ...others] = texts.filter(isRecord);
  const uris = record === undefined || others.length > 0 ? [] : reportUris(record);
  if (!uris.every(isDestination)) return null;
  const domains = new Set(uris.flatMap((uri) => mailtoDomain(uri) ?? []));
  const found = await Promise.all(
    [...domains].map((mailDomain) => undeliverable(mailDomain, domain, resolver)),
  );
  const dead = found.filter((one) => one !== null);
  const [first] = dead;
  if (!first) return null;
  const lost = dead.filter(({ meant }) => meant === null).map((one) => one.domain);
  const kept = uris.filter((uri) => !lost.includes(mailtoDomain(uri) ?? ''));
  const feedback = feedbackAddressFor(setup, domain);
  const targets = kept.length === 0 && feedback !== null ? [`mailto:${feedback}`] : kept;
  return {
    ...info(
      `TLS reports to addresses at ${first.domain} cannot be delivered.`,
      `${first.domain} ${first.why}, so these reports are lost.`,
      { name, records: texts.slice(0, 10).map((text) => text.slice(0, 500)) },
    ),
    // The check of the mail servers names the cause.
    ...(domains.size === 1 && first.domain === domain && { dependsOn: ['mx'] }),
    fix: {
      text:
        targets.length > 0
          ? 'Publish this as the only record at its name.'
          : `Set up mail for ${first.domain}, or change the record to an address that receives mail.`,
      ...(targets.length > 0 && {
        record: {
          type: 'TXT',
          name,
          value: withMeantDomains(`v=TLSRPTv1; rua=${targets.join(',')}`, dead),
        },
      }),
    },
  };
}

const mailtoDomain = (uri: string): string | null =>
  /^mailto:[^?]*@([^?]*)/i.exec(uri)?.[1]?.toLowerCase() ?? null;

/** Whether a TXT record looks like one for TLS reporting, valid or not. */
export const resemblesTlsRpt = (text: string): boolean =>
  /^(?:v\s*)?tlsrpt|(?:^|[^a-z\d])v\s*[=:]+\s*tlsrpt/i.test(withoutPasted(text));

function whyInvalid(written: string[], isRead: boolean): string {
  if (written.length > 1) return 'There are several records, so senders ignore all of them.';
  const around = pastedAround(written[0]!);
  if (around !== null) return `It ${around}, so senders ignore it.`;
  return isRead
    ? 'It must list mailto: or https: addresses in rua, separated by commas.'
    : 'It must start with v=TLSRPTv1; and list mailto: or https: addresses in rua.';
}

/** Nothing, a scheme that a space follows, or a tag. */
const NO_ENTRY = /^(?:mailto)?:?$|^(?!mailto)\w+[=:]\w*$/i;

/** The record with every address that was written; without one if it is not certain what an address means. */
function repair(name: string, written: string[], feedbackAddress: string | null): Fix {
  const entries = written.toSorted().flatMap((text) => {
    const [, list = ''] = /rua\s*[=:]\s*(.*)$/i.exec(withoutPasted(text)) ?? [];
    return list.split(/[;,\s]+/, MAX_URIS).filter((entry) => !NO_ENTRY.test(entry));
  });
  const uris = [...new Set(entries.map(meantUri))];
  const unreadable = entries.filter((entry) => meantUri(entry) === null);
  if (uris.length === 0 && feedbackAddress !== null) uris.push(`mailto:${feedbackAddress}`);
  if (uris.length === 0)
    return {
      text: 'Publish the record with an address where you read reports: v=TLSRPTv1; rua=mailto: and the address.',
    };
  if (unreadable.length > 0)
    return {
      text: `It is unclear what "${unreadable[0]!.slice(0, 100)}" means, so no record is proposed here. Write each address as mailto:name@example.com or as an https: address.`,
    };
  return {
    text: 'Publish this as the only record at its name. It has all addresses of the old one.',
    record: { type: 'TXT', name, value: `v=TLSRPTv1; rua=${uris.join(',')}` },
  };
}

/** The URI that an entry of `rua` means; null if that is not certain. */
function meantUri(entry: string): string | null {
  if (/^https:/i.test(entry)) return isDestination(entry) ? entry : null;
  const address = entry.replace(/^(?:mailto\s*[:=]\/*)+/i, '');
  return mailboxDomain(address) === null ? null : `mailto:${address}`;
}

function reportUris(record: string): string[] {
  const rua = parseTagList(record).get('rua') ?? '';
  return rua === '' ? [] : rua.split(',', MAX_URIS).map((uri) => uri.trim());
}

// Bounds the work on a hostile record.
const MAX_URIS = 20;
const MAX_URI_LENGTH = 1000;

function isDestination(uri: string): boolean {
  if (uri.length > MAX_URI_LENGTH) return false;
  return /^mailto:[^\s@]+@[^\s@]+\.[^\s@]+$/i.test(uri) || /^https:\/\/[^\s/]+/i.test(uri);
}
