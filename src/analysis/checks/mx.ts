/** The check `mx`: can mail be sent back to the domains that this message comes from? */

import {
  type Check,
  type Finding,
  fail,
  notAnswered,
  offline,
  PUBLIC_UNANSWERED,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import { type MailHosts, mailHosts } from '../dns/mail-hosts.ts';
import { fromDomain, mailFromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'The MX records were not looked up.';

/**
 * Judges the From domain, and the MX records of the MAIL FROM domain where it has any; that a MAIL
 * FROM domain has neither MX nor address is the finding of `return_path`. A domain without MX but
 * with an address passes: its mail goes there (RFC 5321 §5.1).
 */
export const mx: Check = {
  id: 'mx',
  category: 'infrastructure',
  points: 4,
  label: 'Mail servers (MX)',
  issueTitle: 'The mail servers of the sender cannot all be found',
  reference: rfc(5321, '5.1'),
  publicEvidence: {
    domains: {
      domain: 'shown',
      kind: 'shown',
      hosts: { name: 'shown', preference: 'shown', resolves: 'shown', ipv6: 'shown' },
    },
    ...PUBLIC_UNANSWERED,
  },
  async run(context) {
    const from = fromDomain(context);
    const domains = [...new Set([from, mailFromDomain(context)])].filter((name) => name !== null);
    if (domains.length === 0)
      return skipped(NOT_CHECKED, 'Neither From nor MAIL FROM holds a domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const looked = await Promise.all(domains.map((domain) => mailHosts(context, domain)));
    const judged = looked.filter(({ domain, kind }) => domain === from || kind !== 'nothing');
    const evidence = { domains: looked.map(evidenceOf) };
    const problem = judged.map(problemOf);
    const worst =
      problem.find((found) => found?.status === 'fail') ??
      problem.find((found) => found?.status === 'warn');
    if (worst) return { ...worst, evidence };
    const open = judged.filter(isOpen);
    if (open.length > 0) {
      const failures = open.flatMap(({ unanswered }) => unanswered);
      return notAnswered(
        'It could not be found out whether replies can be delivered.',
        failures,
        evidence,
      );
    }
    if (judged.length === 0)
      return skipped(NOT_CHECKED, 'The MAIL FROM domain has no MX records: see return_path.');
    const names = judged.map(({ domain }) => domain).join(' and ');
    const byAddress = judged.filter(({ kind }) => kind === 'address').map(({ domain }) => domain);
    const note =
      byAddress.length > 0
        ? ` ${byAddress.join(' and ')} has no MX record, so mail goes to its own address; an MX record would say so plainly.`
        : '';
    return pass(
      `Mail to ${names} can be delivered.`,
      `Replies and bounces find a server that resolves.${note}`,
      evidence,
    );
  },
};

function evidenceOf({ domain, kind, hosts }: MailHosts) {
  return { domain, kind, hosts: hosts.map((host) => ({ ...host })) };
}

// Nothing resolves as far as is known, and something is not known.
function isOpen({ kind, hosts }: MailHosts): boolean {
  return (
    kind === 'error' ||
    (!hosts.some(({ resolves }) => resolves) && hosts.some(({ resolves }) => resolves === null))
  );
}

function problemOf(found: MailHosts): Finding | null {
  const { domain, kind, hosts } = found;
  const record = { type: 'MX', name: domain, value: `10 mx.${domain}` };
  const own = `with the name of your mail server in place of mx.${domain}`;
  if (kind === 'null_mx')
    return fail({
      title: `${domain} says that it accepts no mail.`,
      detail:
        'Its MX record is a single dot, the null MX. Replies and bounces cannot be delivered, and receivers may refuse mail from such a domain (5.7.27).',
      fix: { text: `Replace the null MX record by this one, ${own}.`, record },
      reference: rfc(7505, '4.2'),
    });
  if (kind === 'nothing')
    return fail({
      title: `${domain} cannot receive mail.`,
      detail: 'The domain has neither an MX record nor an address, so no reply can be delivered.',
      fix: { text: `Publish this record, ${own}.`, record },
    });
  const dead = hosts.filter(({ resolves }) => resolves === false).map(({ name }) => name);
  if (dead.length === 0) return null;
  const fix = `Publish an address (A or AAAA record) for ${dead.join(', ')}, or take the MX records that name ${dead.length === 1 ? 'it' : 'them'} away from ${domain}.`;
  if (dead.length === hosts.length)
    return fail({
      title: `The mail servers of ${domain} cannot be found.`,
      detail: `None of the names in its MX records has an address: ${dead.join(', ')}. No reply can be delivered.`,
      fix,
    });
  if (!hosts.some(({ resolves }) => resolves)) return null;
  return warn({
    title: `Not all mail servers of ${domain} can be found.`,
    detail: `These names in its MX records have no address: ${dead.join(', ')}. Mail to the domain is delayed when senders try them.`,
    fix,
  });
}
