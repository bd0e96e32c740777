/** The resolver, and the DNS records of the inbox domain. */

import { isIP } from 'node:net';
import { isLocalAddress, reverseName } from '../../lib/addresses.ts';
import { isDenial, KNOWN } from '../../net/dns/denials.ts';
import { systemDnsServers } from '../../net/dns/network-resolver.ts';
import { DNS_FAILURES, type DnsAnswer, parseMx, recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Checkup,
  check,
  type Finding,
  ok,
  problem,
  unknown,
  warning,
} from './finding.ts';

export const DNS_CHECKS: Check[] = [
  check('dns', 'DNS resolver', resolverState),
  check('dnssec', 'DNSSEC', dnssecState),
  { id: 'inbox_mx', title: 'Inbox domain', run: inboxState },
];

const SET_SERVERS =
  'Set DELIVERABILITY_DNS_SERVERS to a resolver that works, such as Unbound on this machine.';

const failureOf = (answer: DnsAnswer): string | null =>
  answer.status === 'error' ? DNS_FAILURES[answer.reason] : null;

async function resolverState({ resolver, config, clock }: Checkup) {
  const servers = (config.DNS_SERVERS ?? systemDnsServers()).map(({ host, port }) =>
    port === 53 ? host : `${host}:${port}`,
  );
  const startedAt = clock.now();
  const answer = await resolver(KNOWN.name, KNOWN.type);
  const ms = Math.max(0, clock.now() - startedAt);
  const failure = failureOf(answer);
  const names = servers.join(', ');
  if (failure !== null) return problem(`${names}: ${failure}.`, SET_SERVERS);
  if (isDenial(answer))
    return problem(
      `${names} says that com has no name servers, so its answers are wrong.`,
      SET_SERVERS,
    );
  return ms > 1_000
    ? warning(`${names} took ${(ms / 1000).toFixed(1)} s for one answer.`, SET_SERVERS)
    : ok(`${names} answered in ${Math.round(ms)} ms.`);
}

/** Its signatures are wrong on purpose. */
const BROKEN_NAME = 'dnssec-failed.org';
const USE_VALIDATING =
  'Use a resolver that validates, such as Unbound on this machine, and set DELIVERABILITY_DNS_SERVERS. Until then, DANE and DNSSEC of domains can’t be judged.';

async function dnssecState({ resolver }: Checkup) {
  const [signed, broken] = await Promise.all([resolver('com', 'DS'), resolver(BROKEN_NAME, 'A')]);
  const failure = failureOf(signed);
  if (failure !== null)
    return unknown(`The DS record of com can’t be looked up: ${failure}.`, SET_SERVERS);
  if (signed.status !== 'found' || !signed.authenticated)
    return warning(
      'The resolver doesn’t validate: its answer for the signed zone com is not authenticated.',
      USE_VALIDATING,
    );
  if (broken.status === 'found')
    return problem(
      `The resolver marks answers as authenticated, but accepts the wrong signatures of ${BROKEN_NAME}.`,
      USE_VALIDATING,
    );
  if (broken.status === 'error' && broken.reason !== 'servfail')
    return unknown(
      `The resolver authenticates the zone com, but the lookup of ${BROKEN_NAME} failed: ${DNS_FAILURES[broken.reason]}.`,
      'Run this command again.',
    );
  return ok('The resolver authenticates signed zones and rejects wrong signatures.');
}

// The inbox domain.

export interface InboxAddresses {
  /** The hosts of its MX records, best first. */
  hosts: string[];
  addresses: string[];
}

const RESERVED = /(^|\.)(localhost|local|test|example|invalid|internal|lan|home\.arpa)$/;

/** Whether the inbox domain can exist only on this machine or network. */
export const isPrivateName = (domain: string): boolean =>
  !domain.includes('.') || RESERVED.test(domain);

/** The mail hosts of the inbox domain and their addresses; null if a lookup fails. */
export async function inboxAddresses({
  resolver,
  config,
}: Checkup): Promise<InboxAddresses | null> {
  const records = recordsOf(await resolver(config.INBOX_DOMAIN, 'MX'));
  if (records === null) return null;
  const mx = records.map(parseMx).sort((a, b) => a.preference - b.preference);
  const hosts =
    mx.length === 0
      ? [config.INBOX_DOMAIN]
      : mx.map(({ exchange }) => exchange).filter((name) => name !== '.');
  const answers = await Promise.all(
    hosts.slice(0, MAX_HOSTS).flatMap((host) => [resolver(host, 'A'), resolver(host, 'AAAA')]),
  );
  const lists = answers.map(recordsOf);
  if (lists.some((list) => list === null)) return null;
  return {
    hosts,
    addresses: [...new Set(lists.flatMap((list) => list ?? []))].filter(
      (address) => isIP(address) !== 0,
    ),
  };
}

const MAX_HOSTS = 5;

async function inboxState(checkup: Checkup): Promise<Finding[]> {
  const { config } = checkup;
  const domain = config.INBOX_DOMAIN;
  const titled = (id: string, title: string, outcome: Omit<Finding, 'id' | 'title'>): Finding => ({
    id,
    title,
    ...outcome,
  });
  if (isPrivateName(domain))
    return [
      titled(
        'inbox_mx',
        'Inbox domain',
        warning(
          `Test addresses end in @${domain}, which only programs on this machine or network can send to.`,
          'For mail from elsewhere, set DELIVERABILITY_INBOX_DOMAIN to a domain of yours, and publish its MX record.',
        ),
      ),
    ];
  const mx = titled('inbox_mx', 'Inbox domain', await mxState(checkup));
  if (mx.state === 'problem' || mx.state === 'unknown') return [mx];
  const found = await inboxAddresses(checkup);
  if (found === null)
    return [
      mx,
      titled(
        'inbox_address',
        'Inbox addresses',
        unknown(`The addresses of ${domain} can’t be looked up.`, 'Run this command again.'),
      ),
    ];
  return [
    mx,
    titled('inbox_address', 'Inbox addresses', await addressState(checkup, found)),
    ...(found.addresses.length === 0
      ? []
      : [titled('inbox_ptr', 'Reverse DNS', await reverseState(checkup, found))]),
    titled('feedback_authorization', 'Reports of receivers', await authorizationState(checkup)),
  ];
}

/** Any other domain: the record is a wildcard (RFC 9990 §4). */
const OTHER_DOMAIN = 'example.com';

async function authorizationState({ resolver, config }: Checkup) {
  const record = `*._report._dmarc.${config.INBOX_DOMAIN}`;
  const answer = await resolver(`${OTHER_DOMAIN}._report._dmarc.${config.INBOX_DOMAIN}`, 'TXT');
  const failure = failureOf(answer);
  if (failure !== null)
    return unknown(`${record} can’t be looked up: ${failure}.`, 'Run this command again.');
  const isAuthorized = (recordsOf(answer) ?? []).some((text) => /^v=DMARC1\s*(?:;|$)/.test(text));
  return isAuthorized
    ? ok(`${record} lets receivers send DMARC reports about all domains.`)
    : warning(
        `${record} has no record v=DMARC1, so receivers send no DMARC reports about domains outside of ${config.INBOX_DOMAIN}.`,
        `To get reports in the service, publish: ${record}. TXT "v=DMARC1".`,
      );
}

async function mxState({ resolver, config }: Checkup) {
  const { INBOX_DOMAIN: domain, SMTP_NAME: name } = config;
  const publish = `Publish: ${domain}. MX 10 ${name}.`;
  const answer = await resolver(domain, 'MX');
  const failure = failureOf(answer);
  if (failure !== null)
    return unknown(
      `The MX record of ${domain} can’t be looked up: ${failure}.`,
      'Run this command again. If it stays, check the name servers of the domain.',
    );
  const records = (recordsOf(answer) ?? []).map(parseMx);
  if (records.length === 0) {
    const direct = recordsOf(await resolver(domain, 'A'));
    return direct !== null && direct.length > 0
      ? warning(
          `${domain} has no MX record, only an address. Some senders require an MX record.`,
          publish,
        )
      : problem(`${domain} has no MX record, so no mail arrives.`, publish);
  }
  if (records.some(({ exchange }) => exchange === '.'))
    return problem(
      `${domain} has a null MX record, which refuses all mail (RFC 7505).`,
      `Remove it. ${publish}`,
    );
  const hosts = records.map(({ exchange }) => exchange.toLowerCase());
  for (const host of hosts) {
    if (isIP(host) !== 0)
      return problem(`The MX record names the address ${host} instead of a host.`, publish);
    if ((recordsOf(await resolver(host, 'CNAME')) ?? []).length > 0)
      return problem(
        `The MX host ${host} is an alias, which many senders refuse (RFC 2181).`,
        `Give ${host} an A record instead of the CNAME.`,
      );
  }
  const text = `MX ${records.map(({ preference, exchange }) => `${preference} ${exchange}`).join(', ')}.`;
  return hosts.includes(name)
    ? ok(text)
    : warning(
        `${text} This server greets as ${name}.`,
        `Set DELIVERABILITY_SMTP_NAME to the name in the MX record that leads here, such as ${hosts[0]}.`,
      );
}

async function addressState({ ownAddresses }: Checkup, { hosts, addresses }: InboxAddresses) {
  const names = hosts.join(', ');
  if (addresses.length === 0)
    return problem(
      `${names} has no A or AAAA record.`,
      `Publish an A record of ${hosts[0]} with the public address of this server.`,
    );
  const local = addresses.filter(isLocalAddress);
  const text = `${names}: ${addresses.join(', ')}.`;
  if (local.length > 0)
    return problem(
      `${text} ${local.join(', ')} can’t be reached from the internet.`,
      `Publish the public address of this server for ${hosts[0]}.`,
    );
  const own = addresses.filter((address) => ownAddresses.includes(address));
  return own.length > 0
    ? ok(`${text} This machine has ${own.join(', ')}.`)
    : ok(`${text} This machine has none of them, as is usual behind a router or balancer.`);
}

async function reverseState({ resolver, config }: Checkup, { addresses }: InboxAddresses) {
  const lines: string[] = [];
  const missing: string[] = [];
  const failed: string[] = [];
  for (const address of addresses) {
    const names = recordsOf(await resolver(reverseName(address), 'PTR'));
    if (names === null) failed.push(address);
    else if (names.length === 0) missing.push(address);
    else {
      const forward = recordsOf(await resolver(names[0]!, address.includes(':') ? 'AAAA' : 'A'));
      if (forward === null) failed.push(address);
      else if (forward.includes(address)) lines.push(`${address} is ${names[0]}`);
      else missing.push(`${address} (${names[0]} has another address)`);
    }
  }
  const text = [
    ...lines,
    ...missing.map((each) => `${each} has no reverse name that leads back`),
    ...failed.map((each) => `${each} can’t be looked up`),
  ].join('; ');
  if (missing.length > 0)
    return warning(
      `${text}.`,
      `If this address also sends mail, ask your provider to set its reverse name to ${config.SMTP_NAME}.`,
    );
  return failed.length > 0 ? unknown(`${text}.`, 'Run this command again.') : ok(`${text}.`);
}
