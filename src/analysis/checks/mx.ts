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
import { deadSender } from '../dns/dead-sender.ts';
import { type HostProblem, type MailHost, type MailHosts, mailHosts } from '../dns/mail-hosts.ts';
import { brokenSender, explainBroken } from '../dns/missing-domain.ts';
import { fromDomain, mailFromDomain } from '../dns/names.ts';

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
        ipv6: 'shown',
        problem: 'shown',
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
        const problem = (await brokenFinding(hosts, context)) ?? problemOf(hosts);
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
      `The mail servers for replies and bounces resolve.${note}`,
      evidence,
    );
  },
};

const HOST_PROBLEMS: Record<HostProblem, { what: string; fix: string }> = {
  literal: {
    what: 'is an IP address, but an MX record must name a host',
    fix: 'Give the server a name with an A record, and use that name in the MX record.',
  },
  label: {
    what: 'is not a full host name',
    fix: 'Write the full name of the server in the MX record, such as mx.example.com.',
  },
  alias: {
    what: 'is an alias (CNAME), which an MX record must not name',
    fix: 'Use the name to which the alias leads in the MX record, or give this name A and AAAA records instead of the CNAME.',
  },
  unreachable: {
    what: 'has only addresses that the internet cannot reach',
    fix: 'Publish the public IP address of the server.',
  },
  partly_unreachable: {
    what: 'also has an address that the internet cannot reach',
    fix: 'Remove the private addresses from the A and AAAA records of the server.',
  },
};

/** MX records whose hosts resolve or not, but cannot be used as they are. */
function explainMisused({ domain, hosts }: MailHosts, misused: MailHost[]): Finding {
  const isUsable = ({ resolves, problem }: MailHost) =>
    resolves !== false &&
    (problem === null || problem === 'alias' || problem === 'partly_unreachable');
  const { name, problem } = misused.find((host) => !isUsable(host)) ?? misused[0]!;
  const { what, fix } = HOST_PROBLEMS[problem!];
  const others =
    misused.length > 1
      ? ` The same or similar: ${misused
          .filter((host) => host.name !== name)
          .map((host) => host.name)
          .join(', ')}.`
      : '';
  const canDeliver = hosts.some(isUsable);
  return (canDeliver ? warn : fail)({
    title: `The mail server ${name} of ${domain} ${what}.`,
    detail: `${canDeliver ? 'Some senders cannot deliver mail to your domain, or deliver it late.' : 'Replies and bounces cannot be delivered.'}${others}`,
    fix,
    reference: rfc(5321, '5.1'),
  });
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
  const record = { type: 'MX', name: domain, value: `10 mx.${domain}` };
  const placeholder = `using the name of your mail server instead of mx.${domain}`;
  if (kind === 'null_mx')
    return fail({
      title: `${domain} accepts no mail: it has a null MX record.`,
      detail:
        'Replies and bounces cannot be delivered, and many mail servers reject mail from this domain (5.7.27).',
      fix: { text: `Replace the null MX record with this one, ${placeholder}.`, record },
      reference: rfc(7505, '4.2'),
    });
  if (kind === 'nothing')
    return fail({
      title: `${domain} cannot receive mail.`,
      detail:
        'It has neither an MX record nor an address record, so replies cannot be delivered. Many mail servers reject such a sender.',
      fix: { text: `Publish this record, ${placeholder}.`, record },
    });
  const misused = hosts.filter(({ problem }) => problem !== null);
  if (misused.length > 0) return explainMisused(mailHosts, misused);
  const unresolved = hosts.filter(({ resolves }) => resolves === false).map(({ name }) => name);
  if (unresolved.length === 0) return null;
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
