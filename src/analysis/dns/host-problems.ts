/** Findings about MX records whose hosts cannot be used as they are, whether they resolve or not. */

import { type Finding, fail, rfc, warn } from '../check.ts';
import { explainAppended } from './appended-zone.ts';
import type { HostProblem, MailHost, MailHosts } from './mail-hosts.ts';

const HOST_ONLY = 'but an MX record must name a host';
const FULL_NAME = 'Write the full name of the server in the MX record, such as mx.example.com.';

const HOST_PROBLEMS: Record<HostProblem, { what: string; fix: string }> = {
  literal: {
    what: `is an IP address, ${HOST_ONLY}`,
    fix: 'Give the server a name with an A record, and use that name in the MX record.',
  },
  url: { what: `is a web address, ${HOST_ONLY}`, fix: FULL_NAME },
  mailbox: { what: `is an email address, ${HOST_ONLY}`, fix: FULL_NAME },
  priority: {
    what: 'has a priority in its name',
    fix: `Enter the priority in its own field. ${FULL_NAME}`,
  },
  port: {
    what: 'has a port in its name, but senders always use port 25',
    fix: FULL_NAME,
  },
  quoted: { what: 'has quotation marks in its name', fix: FULL_NAME },
  invalid: { what: 'has characters that no host name can have', fix: FULL_NAME },
  label: { what: 'is not a full host name', fix: FULL_NAME },
  appended: { what: 'does not exist, because the domain was appended to its name', fix: FULL_NAME },
  alias: {
    what: 'is an alias (CNAME), which an MX record must not point to',
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
  underscore: {
    what: 'has an underscore in its name, which host names cannot have',
    fix: 'Give the server another name without an underscore, with the same addresses, and use that name in the MX record. No certificate can be issued for a name with an underscore.',
  },
};

/** Problems despite which most senders still deliver. */
const USABLE: (HostProblem | null)[] = [null, 'alias', 'partly_unreachable', 'underscore'];

/** `misused`: the hosts with a problem, at least one. */
export function explainMisused({ domain, hosts }: MailHosts, misused: MailHost[]): Finding {
  const isUsable = ({ resolves, problem }: MailHost) =>
    resolves !== false && USABLE.includes(problem);
  const worst = misused.find((host) => !isUsable(host)) ?? misused[0]!;
  const { name, preference, problem, unreachable, meant } = worst;
  const { what, fix } = HOST_PROBLEMS[problem!];
  const others =
    misused.length > 1
      ? ` These have the same or a similar problem: ${misused
          .filter((host) => host.name !== name)
          .map((host) => host.name.slice(0, 100))
          .join(', ')}.`
      : '';
  const listed = unreachable.length > 0 ? ` (${unreachable.slice(0, 3).join(', ')})` : '';
  const canDeliver = hosts.some(isUsable);
  return (canDeliver ? warn : fail)({
    title: `The mail server ${name.slice(0, 100)} of ${domain} ${what}${listed}.`,
    detail: `${canDeliver ? 'Some senders cannot deliver mail to your domain, or deliver it late.' : 'Replies and bounces cannot be delivered.'}${others}`,
    fix: {
      text: meant === null ? fix : fixWithName(problem!, name, meant),
      // A single proposed record would replace all others of the set.
      ...(meant !== null &&
        hosts.length === 1 && {
          record: { type: 'MX', name: domain, value: `${preference} ${meant}` },
        }),
    },
    reference: rfc(5321, '5.1'),
  });
}

const fixWithName = (problem: HostProblem, name: string, meant: string): string =>
  problem === 'appended'
    ? `Change the MX record. ${explainAppended(name, meant)}`
    : `Change the MX record so that it names only ${meant}.${problem === 'priority' ? ' The priority has its own field.' : ''}`;
