/** `dane`: whether the TLSA records of the domain's mail servers are usable (RFC 7672). */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { MailTlsResult, ProbeMailTls } from '../../net/smtp/probe.ts';
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
import { lookUpTlsa, matchesChain, recommendedTlsa, type TlsaHost } from '../dane/tlsa.ts';
import { fromDomain } from '../dns/names.ts';
import { unlistedHosts } from './mta-sts.ts';

const NOT_CHECKED = 'DANE was not checked.';

/**
 * `probe`: null if connections to mail servers are turned off. Certificates are then not compared.
 * A resolver that does not validate never sets the AD bit, so only a missing DS record shows that a
 * zone is unsigned.
 */
export function dane(probe: ProbeMailTls | null): Check {
  return {
    id: 'dane',
    category: 'infrastructure',
    points: 0,
    label: 'DANE',
    reference: rfc(7672),
    publicEvidence: {
      hosts: {
        host: 'shown',
        name: 'shown',
        records: 'shown',
        authenticated: 'shown',
        certificate: 'shown',
      },
      problems: 'shown',
      ...PUBLIC_FAILED_LOOKUPS,
    },
    about: fromDomain,
    async run(context) {
      const domain = fromDomain(context);
      if (domain === null) return skipped(NOT_CHECKED, 'The From field has no domain.');
      if (context.offline) return offline(NOT_CHECKED);
      const { hosts, failures } = await lookUpTlsa(context, domain);
      if (failures.length > 0) return failedFinding(failures);
      if (hosts.length === 0)
        return info(`DANE does not apply to ${domain}.`, 'The domain has no mail servers.');
      if (hosts.every(({ records, misplaced }) => records.length === 0 && misplaced === null))
        return unusedFinding(domain, hosts);
      return evaluate(context, domain, hosts, probe);
    },
  };
}

function failedFinding(failures: Parameters<typeof lookupFailed>[1]): Finding {
  const finding = lookupFailed('Could not look up the TLSA records.', failures);
  const isTlsa = failures.some(({ type }) => type === 'TLSA');
  if (!isTlsa) return finding;
  return {
    ...finding,
    detail: `${finding.detail} Senders that use DANE delay mail while this lookup fails.`,
  };
}

const unusedFinding = (domain: string, hosts: TlsaHost[]): Finding =>
  info(
    `${domain} does not use DANE.`,
    'With DANE, DNSSEC tells senders which certificate your mail servers have. It protects mail you receive and does not affect mail you send.',
    { hosts: hosts.map((host) => evidenceOf(host, null)) },
  );

type CertificateState = 'matches' | 'differs' | 'not compared';

interface ProbedHost {
  host: TlsaHost;
  tls: MailTlsResult | null;
  certificate: CertificateState;
}

function evidenceOf(
  { host, name, records, authenticated }: TlsaHost,
  certificate: CertificateState | null,
) {
  return {
    host,
    name,
    records: records.map(({ text }) => text),
    authenticated,
    ...(certificate && { certificate }),
  };
}

async function evaluate(
  context: Context,
  domain: string,
  hosts: TlsaHost[],
  probe: ProbeMailTls | null,
): Promise<Finding> {
  const probed = await Promise.all(hosts.map((host) => probeHost(host, probe)));
  const problems = [
    ...hosts.flatMap(({ misplaced }) => misplaced?.problem ?? []),
    ...probed.flatMap(certificateProblems),
    ...hosts.flatMap(recordProblems),
    ...(await unsignedZones(context, hosts)),
    ...missingRecords(hosts),
    ...(await contradictions(context, hosts)),
  ];
  const evidence = {
    hosts: probed.map(({ host, certificate }) => evidenceOf(host, certificate)),
    ...(problems.length > 0 && { problems }),
  };
  if (problems.length > 0)
    return {
      ...info(
        `DANE is not set up correctly for ${domain}.`,
        `${problems.join(' ')} Senders that use DANE may not deliver, or may ignore the records.`,
        evidence,
      ),
      fix: fixOf(probed),
    };
  const isValidated = hosts.every(({ authenticated }) => authenticated);
  const compared = probed.some(({ certificate }) => certificate === 'matches')
    ? 'The certificates match the records.'
    : 'This check did not compare the certificates.';
  return info(
    `${domain} protects its incoming mail with DANE.`,
    isValidated
      ? `The TLSA records are valid and signed with DNSSEC. ${compared}`
      : `The TLSA records are valid. The DNS resolver of this service did not confirm their DNSSEC signatures. Many resolvers do not validate. ${compared}`,
    evidence,
  );
}

async function probeHost(host: TlsaHost, probe: ProbeMailTls | null): Promise<ProbedHost> {
  const usable = host.records.filter(({ problem }) => problem === null);
  if (probe === null || usable.length === 0)
    return { host, tls: null, certificate: 'not compared' };
  const tls = await probe(host.host);
  const chain = tls.status === 'tls' ? (tls.chain ?? []) : [];
  if (chain.length === 0) return { host, tls, certificate: 'not compared' };
  return { host, tls, certificate: matchesChain(usable, chain) ? 'matches' : 'differs' };
}

function certificateProblems({ host: { host, name }, tls, certificate }: ProbedHost): string[] {
  if (tls?.status === 'no_starttls') return [`${host} has TLSA records but no STARTTLS.`];
  return certificate === 'differs'
    ? [`The certificate of ${host} matches none of the records at ${name}.`]
    : [];
}

const recordProblems = ({ name, records }: TlsaHost): string[] =>
  records.flatMap(({ text, problem }) =>
    problem === null ? [] : [`The record "${text.slice(0, 20)}" at ${name} ${problem}.`],
  );

/** A registered domain without a DS record is not signed, so senders ignore its TLSA records. */
async function unsignedZones(context: Context, hosts: TlsaHost[]): Promise<string[]> {
  const candidates = hosts.filter(
    ({ records, authenticated }) => records.length > 0 && !authenticated,
  );
  const zones = [...new Set(candidates.map(({ host }) => organizationalDomain(host)))];
  const answers = await Promise.all(
    zones.map(async (zone) => (zone === null ? null : context.resolver(zone, 'DS'))),
  );
  return zones.flatMap((zone, index) =>
    answers[index]?.status === 'nodata'
      ? [`${zone} is not signed with DNSSEC, so senders ignore its TLSA records.`]
      : [],
  );
}

/** An attacker can direct mail to the server without records. */
const missingRecords = (hosts: TlsaHost[]): string[] =>
  hosts.flatMap(({ host, records, misplaced }) =>
    records.length === 0 && misplaced === null
      ? [`${host} has no TLSA records, but another mail server of the domain does.`]
      : [],
  );

async function contradictions(context: Context, hosts: TlsaHost[]): Promise<string[]> {
  const names = hosts.flatMap(({ host, records }) => (records.length > 0 ? [host] : []));
  const unlisted = await unlistedHosts(context, names);
  return unlisted.map(
    (host) => `${host} has TLSA records, but the MTA-STS policy does not list it.`,
  );
}

function fixOf(probed: ProbedHost[]): Fix {
  const misplaced = probed.find(({ host }) => host.misplaced !== null)?.host.misplaced;
  if (misplaced) return misplaced.fix;
  const differing = probed.find(({ certificate }) => certificate === 'differs');
  const leaf = differing?.tls?.status === 'tls' ? differing.tls.chain?.[0] : undefined;
  if (differing && leaf)
    return {
      text: `Publish this record next to the old ones, and remove the old ones a day later. If ${differing.host.host} has the wrong certificate, install the right one instead.`,
      record: { type: 'TLSA', name: differing.host.name, value: recommendedTlsa(leaf) },
    };
  return {
    text: 'Publish a TLSA record "3 1 1" with the SHA-256 of the public key for each mail server, in zones that are signed with DNSSEC. List all servers in the MTA-STS policy, too. Or remove all TLSA records.',
  };
}
