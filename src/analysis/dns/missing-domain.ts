/** A sender domain that does not exist is one finding, from which all others about it follow. */

import { addressDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { type Context, type Finding, fail } from '../check.ts';
import { dkimResult } from '../dkim/verify.ts';
import { entryAddress, listEntries } from '../mime/mailbox-list.ts';
import { fields } from '../mime/message.ts';
import { type BrokenName, brokenName, missingSubdomain } from './broken-name.ts';
import { fromDomain, fullHostName, isLocalName, mailFromDomain } from './names.ts';

/** As `brokenName`, with the other domains of the message as possible spellings. */
export async function brokenSender(context: Context, domain: string): Promise<BrokenName | null> {
  const { signatures } = await context.fact(dkimResult);
  const replies = fields(context.message, 'reply-to')
    .slice(0, 1)
    .flatMap(({ value }) => listEntries(value).slice(0, 5))
    .map((entry) => addressDomain(entryAddress(entry)));
  const names = [
    fromDomain(context),
    mailFromDomain(context),
    ...replies,
    ...signatures.slice(0, 5).map((signature) => signature.domain),
    fullHostName(context.envelope.helo ?? ''),
  ];
  const related = names.flatMap((name) => name || []);
  return (
    (await brokenName(domain, context.resolver, related)) ??
    missingSubdomain(domain, context.resolver)
  );
}

/** The finding that names a broken domain as the cause. */
export const explainBroken = ({ title, detail, fix, kind, domain }: BrokenName): Finding => ({
  ...fail({ title, detail, fix }),
  // For private names, each check has its own advice.
  evidence: kind === 'missing' && !isLocalName(domain) ? { missing: domain } : {},
});

/** Checks of the From domain. The evidence of others names their domain. */
const ABOUT_FROM = [
  'dkim',
  'dkim_key',
  'dkim_alignment',
  'spf_alignment',
  'dmarc',
  'dmarc_policy',
  'dmarc_record',
  'bimi',
  'mta_sts',
  'tls_rpt',
  'dane',
  'dnssec',
  'caa',
  'mx_tls',
  'return_path',
];

/** Findings about a domain that does not exist depend on the finding of `mx` or `return_path` that says so. */
export function withMissingDomains(
  checks: { id: string }[],
  findings: Finding[],
  from: string | null,
): Finding[] {
  const causes = ['mx', 'return_path'].flatMap((id) => {
    const missing = findings[checks.findIndex((check) => check.id === id)]?.evidence?.missing;
    return typeof missing === 'string' ? [{ id, missing }] : [];
  });
  if (causes.length === 0) return findings;
  const names = from === null ? [] : [from, organizationalDomain(from) ?? from];
  return findings.map((finding, index) => {
    const { id } = checks[index]!;
    const cause = causes.find((one) => one.id !== id && isAbout(finding, id, one.missing, names));
    return cause ? { ...finding, dependsOn: [...(finding.dependsOn ?? []), cause.id] } : finding;
  });
}

/** `names`: the From domain and its organizational domain. */
function isAbout(finding: Finding, id: string, missing: string, names: string[]): boolean {
  if (!['fail', 'warn', 'info'].includes(finding.status)) return false;
  const { domain, envelope_domain: envelope, helo, signatures } = finding.evidence ?? {};
  const isWithin = (name: unknown) =>
    typeof name === 'string' && (name === missing || name.endsWith(`.${missing}`));
  if ([domain, envelope, helo].some(isWithin)) return true;
  if (!ABOUT_FROM.includes(id) || !names.includes(missing) || typeof domain === 'string')
    return false;
  // A signature of another domain is broken for a reason of its own.
  const signers = Array.isArray(signatures) ? signatures : [];
  return (
    !['dkim', 'dkim_key'].includes(id) ||
    signers.every((one) => isWithin((one as { domain?: unknown }).domain))
  );
}
