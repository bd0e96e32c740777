/** `mx`: whether the From domain, and the MX hosts of the MAIL FROM domain, can receive mail. */

import {
  type Check,
  type Context,
  type Finding,
  fail,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import { dmarcDiscovery } from '../dmarc/discovery.ts';
import type { BrokenName } from '../dns/broken-name.ts';
import { deadMailHost, deadSender } from '../dns/dead-sender.ts';
import { explainMisused } from '../dns/host-problems.ts';
import { type MailHosts, mailHosts } from '../dns/mail-hosts.ts';
import { brokenSender, explainBroken } from '../dns/missing-domain.ts';
import { fromDomain, mailFromDomain } from '../dns/names.ts';
import { explainOldHost } from '../dns/old-host.ts';

const NOT_CHECKED = 'The MX records were not checked.';

/**
 * Evaluates the From domain, and the MAIL FROM domain if it has MX records or an address; otherwise
 * `return_path` reports it. A domain without MX records but with an address passes: mail goes to
 * that address (RFC 5321 §5.1).
 */
export const mx: Check = {
  id: 'mx',
  category: 'infrastructure',
  points: 4,
  label: 'Mail servers (MX)',
  issueTitle: 'MX records are missing or unusable',
  reference: rfc(5321, '5.1'),
  publicEvidence: {
    missing: 'shown',
    domains: {
      domain: 'shown',
      kind: 'shown',
      hosts: {
        name: 'shown',
        preference: 'shown',
        resolves: 'shown',
        ipv4: 'shown',
        ipv6: 'shown',
        problem: 'shown',
        unreachable: 'shown',
        meant: 'shown',
      },
    },
    ...PUBLIC_FAILED_LOOKUPS,
  },
  async run(context) {
    const from = fromDomain(context);
    const domains = [...new Set([from, mailFromDomain(context)])].filter((name) => name !== null);
    if (domains.length === 0)
      return skipped(NOT_CHECKED, 'Neither From nor MAIL FROM has a domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const mailHostResults = await Promise.all(domains.map((domain) => mailHosts(context, domain)));
    const relevant = mailHostResults.filter(
      ({ domain, kind }) => domain === from || kind !== 'nothing',
    );
    const evidence = { domains: mailHostResults.map(evidenceOf) };
    const problems = await Promise.all(
      relevant.map(async (hosts) => {
        const problem =
          (await brokenFinding(hosts, context)) ??
          problemOf(hosts) ??
          (await deadMailHost(context, hosts));
        return problem && { ...problem, about: hosts.domain };
      }),
    );
    const worst =
      problems.find((problem) => problem?.status === 'fail') ??
      problems.find((problem) => problem?.status === 'warn');
    if (worst) return { ...worst, evidence: { ...worst.evidence, ...evidence } };
    const undecided = relevant.filter(isUndecided);
    if (undecided.length > 0) {
      const failures = undecided.flatMap(({ unanswered }) => unanswered);
      return lookupFailed(
        'Could not determine whether replies can be delivered.',
        failures,
        evidence,
      );
    }
    if (relevant.length === 0)
      return skipped(
        NOT_CHECKED,
        'The MAIL FROM domain has no MX records. See the finding "Return path".',
      );
    const names = relevant.map(({ domain }) => domain).join(' and ');
    const byAddress = relevant.filter(({ kind }) => kind === 'address').map(({ domain }) => domain);
    const note =
      byAddress.length > 0
        ? ` Without an MX record, mail to ${byAddress.join(' and ')} goes directly to the IP address of the domain. Publish an MX record to make this explicit.`
        : '';
    return pass(
      `Mail to ${names} can be delivered.`,
      `The mail servers for replies and bounces resolve.${note}${repeatedNote(relevant)}`,
      evidence,
    );
  },
};

/** Harmless. */
function repeatedNote(found: MailHosts[]): string {
  const names = found.flatMap(({ repeated }) => repeated);
  return names.length > 0
    ? ` ${names.join(', ')} ${names.length > 1 ? 'have' : 'has'} several MX records: one is enough.`
    : '';
}

function evidenceOf({ domain, kind, hosts }: MailHosts) {
  return { domain, kind, hosts: hosts.map((host) => ({ ...host })) };
}

// No host is known to resolve, and the lookup of at least one failed.
function isUndecided({ kind, hosts }: MailHosts): boolean {
  return (
    kind === 'error' ||
    (!hosts.some(({ resolves }) => resolves) && hosts.some(({ resolves }) => resolves === null))
  );
}

/** No record cures a domain that does not exist, whose alias is broken, or whose DNS is dead for others. */
async function brokenFinding(
  { domain, kind }: MailHosts,
  context: Context,
): Promise<Finding | null> {
  if (kind !== 'nothing' && kind !== 'error') return null;
  const broken = await brokenSender(context, domain);
  if (!broken) return kind === 'error' ? deadSender(context, domain) : null;
  const detail = `${broken.detail}${await policyForMissing(context, broken)}`;
  return explainBroken({ ...broken, detail });
}

/** What the tag np of a parent domain asks for, if it decides about the From domain. */
async function policyForMissing(context: Context, { kind, domain }: BrokenName): Promise<string> {
  if (kind !== 'missing' || domain !== fromDomain(context)) return '';
  const { policy, recordDomain } = await context.fact(dmarcDiscovery);
  if (policy?.tag !== 'np' || policy.effective === 'none') return '';
  const asks =
    policy.effective === 'reject' ? 'reject such mail' : 'put such mail into the spam folder';
  return ` np=${policy.published} in the DMARC record of ${recordDomain} asks mailbox providers to ${asks}.`;
}

function problemOf(mailHosts: MailHosts): Finding | null {
  const { domain, kind, hosts } = mailHosts;
  if (kind === 'null_mx')
    return fail({
      title: `${domain} accepts no mail: it has a null MX record.`,
      detail:
        'Replies and bounces cannot be delivered, and many mail servers reject mail from this domain (5.7.27).',
      // The owner said so: nobody knows a server that would accept the mail.
      fix: `To receive mail, replace the null MX record with an MX record that names your mail server. If ${domain} is not to receive mail, send from a domain that does.`,
      reference: rfc(7505, '4.2'),
    });
  if (kind === 'nothing')
    return fail({
      title: `${domain} cannot receive mail.`,
      detail:
        'It has neither an MX record nor an address record, so replies cannot be delivered. Many mail servers reject such a sender.',
      fix: {
        text: `Publish this record, using the name of your mail server instead of mx.${domain}.`,
        record: { type: 'MX', name: domain, value: `10 mx.${domain}` },
      },
    });
  if (mailHosts.hasNullMx) return explainContradiction(mailHosts);
  const misused = hosts.filter(({ problem }) => problem !== null);
  if (misused.length > 0) return explainMisused(mailHosts, misused);
  const unresolved = hosts.filter(({ resolves }) => resolves === false).map(({ name }) => name);
  if (unresolved.length === 0) return explainWithoutIpv4(mailHosts) ?? explainOldHost(mailHosts);
  const fix = `Publish an A or AAAA record for ${unresolved.join(', ')}, or remove the MX records of ${domain} that point to ${unresolved.length === 1 ? 'it' : 'them'}.`;
  if (unresolved.length === hosts.length)
    return fail({
      title: `The mail servers of ${domain} do not resolve.`,
      detail: `No name in its MX records has an IP address: ${unresolved.join(', ')}. Replies cannot be delivered.`,
      fix,
    });
  if (!hosts.some(({ resolves }) => resolves)) return null;
  return warn({
    title: `Some mail servers of ${domain} do not resolve.`,
    detail: `These names in its MX records have no IP address: ${unresolved.join(', ')}. Mail to your domain is delayed when senders try them.`,
    fix,
  });
}

/** How senders treat both is not defined. */
function explainContradiction({ domain, hosts }: MailHosts): Finding {
  const names = hosts.map(({ name }) => name).join(', ');
  return fail({
    title: `${domain} has a null MX record beside other MX records.`,
    detail: `The null MX record says that the domain accepts no mail, and ${names} that it does. Some senders then return all mail immediately.`,
    fix: {
      text: `Delete the MX record whose mail server is a single dot (“.”), and keep ${names}. If the domain is to accept no mail, delete the others instead.`,
      // A single proposed record would replace all others of the set.
      ...(hosts.length === 1 && {
        record: { type: 'MX', name: domain, value: `${hosts[0]!.preference} ${hosts[0]!.name}` },
      }),
    },
    reference: rfc(7505, '3'),
  });
}

/** Null if a host has an IPv4 address, or may have one. */
function explainWithoutIpv4({ domain, hosts }: MailHosts): Finding | null {
  const isOnly = hosts.every(({ ipv4, ipv6 }) => ipv4 === false && ipv6);
  if (hosts.length === 0 || !isOnly) return null;
  const names = hosts.map(({ name }) => name).join(', ');
  return warn({
    title: `Mail to ${domain} can be delivered only over IPv6.`,
    detail: `No mail server of the domain has an IPv4 address: ${names}. Many senders have no IPv6, so their mail to you bounces.`,
    fix: `Publish an A record with an IPv4 address for ${names}, or add an MX record for a server that has one.`,
    reference: rfc(5321, '5.2'),
  });
}
