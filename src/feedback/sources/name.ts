/** Names the source of an address: a person reads "Mailchimp", and not four hundred addresses. */

import type { SendingService } from '../../analysis/sending-services/service.ts';
import {
  serviceOfHost,
  serviceOfMailFrom,
  serviceOfSigner,
} from '../../analysis/sending-services/services.ts';
import { organizationalDomain, ownerOf } from '../../lib/domain-names.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { networkOfRow } from '../reading/fold-rows.ts';
import { forwarderOf } from './forwarders.ts';
import { serviceOfNetwork } from './networks.ts';

/** What is known about an address that sends with a domain in From. */
export interface AddressEvidence {
  address: string;
  /** The domain in From, which a person added. */
  domain: string;
  /** The forward-confirmed host name. */
  host: string | null;
  /** Whether the domain's own SPF record or a mail server of its own names the address. */
  isOwn: boolean;
  /** The day of a test that shows that the owner of the domain sends from the address; see `ownTestOf`. */
  testedOn: string | null;
  /** Domains with a valid signature, the most frequent first. */
  signers: string[];
  /** Domains for which SPF passed, the most frequent first. */
  mailFrom: string[];
}

/** How a source was named, the strongest first. */
export const SOURCE_BASES = [
  'own',
  'service',
  'tenant',
  'forwarder',
  'host',
  'spf',
  'network',
  'rest',
] as const;
export type SourceBasis = (typeof SOURCE_BASES)[number];

export interface SourceName {
  /** The same for all addresses of the source: its basis, a space, and what they have in common. */
  key: string;
  name: string;
  /** What shows it, in a sentence. */
  evidence: string;
}

/**
 * The host name and SPF name the machine that sends, so they come before signatures, which survive forwarding. Some
 * forwarders use the servers of others: their bounce domain shows them, if most messages from the address have it.
 */
export function nameSource(evidence: AddressEvidence): SourceName {
  const { address, host, isOwn, mailFrom, signers, domain } = evidence;
  if (isOwn || isHostOf(host, domain))
    return {
      key: `own ${host ?? address}`,
      name: host ?? address,
      evidence: isOwn
        ? `The SPF record or a mail server of ${domain} names the address.`
        : `The confirmed host name ${host} is one of the domain.`,
    };
  return (
    forwarderBySpf(mailFrom.slice(0, 1)) ??
    serviceByHost(host) ??
    serviceByNetwork(address) ??
    serviceBySpf(mailFrom) ??
    forwarderBySpf(mailFrom) ??
    (host === null ? serviceBySignature(signers) : null) ??
    testedName(evidence) ??
    hostName(host) ??
    spfName(evidence) ??
    networkName(address)
  );
}

/** After services and forwarders, whose servers do not become the domain's own by a test through them. */
function testedName({ address, host, domain, testedOn }: AddressEvidence): SourceName | null {
  if (testedOn === null) return null;
  return {
    key: `own ${host ?? address}`,
    name: host ?? address,
    evidence: `A test of your team came from ${address} on ${dayInWords(testedOn)} and was authenticated as ${domain}.`,
  };
}

/** A sum without a network has many senders. */
function networkName(address: string): SourceName {
  const network = networkOfRow(address);
  return network === null
    ? {
        key: 'rest others',
        name: 'Senders of few messages',
        evidence:
          'The smallest senders of large reports are summed up here, with rows that have no address.',
      }
    : {
        key: `network ${network}`,
        name: network,
        evidence: 'The addresses have no confirmed host name.',
      };
}

/** Who controls the domain controls its host names, and a confirmed one was chosen for the address. */
const isHostOf = (host: string | null, domain: string): boolean =>
  host !== null && ownerOf(host) === ownerOf(domain);

export const serviceName = ({ id, name }: SendingService, evidence: string): SourceName => ({
  key: `service ${id}`,
  name,
  evidence,
});

const forwarderName = (name: string, evidence: string): SourceName => ({
  key: `forwarder ${name}`,
  name,
  evidence,
});

function serviceByHost(host: string | null): SourceName | null {
  if (host === null) return null;
  const evidence = `The confirmed host name is ${host}.`;
  const forwarder = forwarderOf(host);
  if (forwarder) return forwarderName(forwarder, evidence);
  const service = serviceOfHost(host);
  return service ? serviceName(service, evidence) : null;
}

function serviceByNetwork(address: string): SourceName | null {
  const service = serviceOfNetwork(address);
  return service
    ? serviceName(service, `${service.name} publishes the networks of the addresses.`)
    : null;
}

function forwarderBySpf(domains: string[]): SourceName | null {
  for (const domain of domains) {
    const forwarder = forwarderOf(domain);
    if (forwarder) return forwarderName(forwarder, `SPF passes for ${domain}.`);
  }
  return null;
}

function serviceBySpf(domains: string[]): SourceName | null {
  for (const domain of domains) {
    const service = serviceOfMailFrom(domain);
    if (service) return serviceName(service, `SPF passes for ${domain}.`);
  }
  return null;
}

/** A forwarder signs last, so its signature says more than that of a service. */
function serviceBySignature(domains: string[]): SourceName | null {
  for (const domain of domains) {
    const forwarder = forwarderOf(domain);
    if (forwarder) return forwarderName(forwarder, `Messages have a valid signature of ${domain}.`);
  }
  for (const domain of domains) {
    const service = serviceOfSigner(domain);
    if (service) return serviceName(service, `Messages have a valid signature of ${domain}.`);
  }
  return null;
}

function hostName(host: string | null): SourceName | null {
  const base = host === null ? null : organizationalDomain(host);
  if (base === null) return null;
  return { key: `host ${base}`, name: base, evidence: `The confirmed host name is ${host}.` };
}

/** The domain itself says nothing about who sends. */
function spfName({ mailFrom, domain }: AddressEvidence): SourceName | null {
  const own = ownerOf(domain);
  const other = mailFrom.map(ownerOf).find((name) => name !== own);
  return other ? { key: `spf ${other}`, name: other, evidence: `SPF passes for ${other}.` } : null;
}
