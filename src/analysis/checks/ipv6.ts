/** The check `ipv6`: does the domain use IPv6 to send and receive mail? */

import {
  type Check,
  info,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  rfc,
  skipped,
} from '../check.ts';
import { mailHosts } from '../dns/mail-hosts.ts';
import { fromDomain, publicClient } from '../dns/names.ts';

const NOT_CHECKED = 'IPv6 was not checked.';

export const ipv6: Check = {
  id: 'ipv6',
  category: 'infrastructure',
  points: 0,
  label: 'IPv6',
  reference: rfc(5321, '5.2'),
  publicEvidence: {
    client_ip: 'shown',
    protocol: 'shown',
    domain: 'shown',
    hosts_with_ipv6: 'shown',
    ...PUBLIC_FAILED_LOOKUPS,
  },
  async run(context) {
    const client = publicClient(context);
    if (client.address === null) return skipped(NOT_CHECKED, client.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const protocol = client.address.includes(':') ? 'IPv6' : 'IPv4';
    const title = `Your message arrived over ${protocol}.`;
    const sending =
      protocol === 'IPv6'
        ? 'Mailbox providers require more over IPv6: a PTR record, and SPF or DKIM.'
        : 'This is fine: every mailbox provider accepts mail over IPv4.';
    const evidence = { client_ip: client.address, protocol };
    const domain = fromDomain(context);
    if (domain === null) return info(title, sending, evidence);
    const { kind, hosts, unanswered } = await mailHosts(context, domain);
    const reachable = hosts.filter((host) => host.ipv6).map(({ name }) => name);
    const allEvidence = { ...evidence, domain, hosts_with_ipv6: reachable };
    if (reachable.length === 0 && (kind === 'error' || hosts.some((host) => host.ipv6 === null)))
      return lookupFailed('Could not look up IPv6 addresses.', unanswered, allEvidence);
    const receiving =
      hosts.length === 0
        ? `${domain} has no mail server.`
        : reachable.length > 0
          ? `Mail to ${domain} can be delivered over IPv6.`
          : `Mail to ${domain} can be delivered only over IPv4.`;
    return info(title, `${sending} ${receiving}`, allEvidence);
  },
};
