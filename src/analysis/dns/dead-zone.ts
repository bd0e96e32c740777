/** Judges whether the DNS of a domain works for others, and names the cause if it does not. Pure. */

import { DNS_FAILURES } from '../../net/dns/resolver.ts';
import { explainAppended } from './appended-zone.ts';
import { type DnssecFault, dnssecFault, dsTags } from './dnssec-fault.ts';
import type { ServerAnswer, ZoneFacts, ZoneServer } from './zone-survey.ts';

export interface ZoneVerdict {
  /**
   * `fail`: others see nothing of the domain. `warn`: some of its name servers do not work. `error`: unknown. `info`: a
   * difference that does no harm, or servers that could not be asked.
   */
  status: 'pass' | 'info' | 'warn' | 'fail' | 'error';
  cause: Cause | null;
  title: string;
  detail: string;
  fix: string | null;
  /** When the signatures expired, or become valid. */
  at: number | null;
}

type Cause =
  | DnssecFault['cause']
  | 'bogus'
  | 'servers_dead'
  | 'server_lame'
  | 'name_appended'
  | 'own_resolver'
  | 'servers_differ'
  | 'unexplained';

/** `now`: in milliseconds since the Unix epoch; null if unknown. */
export function judgeZone(facts: ZoneFacts, now: number | null): ZoneVerdict {
  return (
    judgeResolver(facts) ??
    judgeServers(facts) ??
    judgeDnssec(facts, now) ??
    judgeNames(facts) ??
    judgeSomeServers(facts) ??
    judgeFailures(facts) ??
    judgeDelegation(facts)
  );
}

const verdict = (
  status: ZoneVerdict['status'],
  cause: Cause | null,
  texts: { title: string; detail: string; fix?: string; at?: number | null },
): ZoneVerdict => ({
  status,
  cause,
  title: texts.title,
  detail: texts.detail,
  fix: texts.fix ?? null,
  at: texts.at ?? null,
});

// The resolver in use.

/** The resolver refuses the name by its own rules (RFC 8914 §4.16 to §4.19). */
const REFUSES = [15, 16, 17, 18];

function judgeResolver({ domain, failed, resolverWorks, security }: ZoneFacts): ZoneVerdict | null {
  if (!resolverWorks)
    return verdict('error', 'own_resolver', {
      title: `Could not check the DNS of ${domain}: the DNS resolver used here does not work.`,
      detail:
        'It cannot look up com either, so the problem is not with the domain. Run "deliverability doctor" to check the resolver.',
    });
  const refusal = security?.extended.find((text) => REFUSES.includes(Number.parseInt(text, 10)));
  if (failed.length === 0 || refusal === undefined) return null;
  return verdict('error', 'own_resolver', {
    title: `Could not check the DNS of ${domain}: the DNS resolver used here blocks the name.`,
    detail: `It says: ${refusal}. Others may see the domain. Use a resolver without a filter.`,
  });
}

// Servers that do not answer.

const FAULTS: Record<Exclude<ServerAnswer, 'yes' | 'unknown'>, string> = {
  timeout: 'does not respond',
  refused: 'refuses to answer for the zone (REFUSED)',
  servfail: 'fails to answer for the zone (SERVFAIL)',
  lame: 'does not have the zone',
  no_address: 'has no address in DNS',
};

const isBad = ({ answer }: ZoneServer): boolean => answer !== 'yes' && answer !== 'unknown';

const faultOf = ({ host, address, answer }: ZoneServer): string =>
  `${address === null ? host : `${host} (${address})`} ${FAULTS[answer as keyof typeof FAULTS]}`;

/** More names would not help the reader. */
const MAX_NAMED = 4;

function listFaults(servers: ZoneServer[]): string {
  const rest = servers.length - MAX_NAMED;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return `${servers.slice(0, MAX_NAMED).map(faultOf).join('; ')}${more}.`;
}

/** Silence of all servers counts only if the resolver fails too: a firewall here may stop the queries. */
function judgeServers(facts: ZoneFacts): ZoneVerdict | null {
  const { domain, zone, servers, failed, isDirect, appended } = facts;
  if (!isDirect || servers.length === 0 || !servers.every(isBad)) return null;
  const correct =
    appended.length > 0
      ? correctNames(facts)
      : `At the registrar of ${zone}, set the name servers to those that your DNS provider shows now. If they are the same, ask the DNS provider why its servers do not answer for ${zone}.`;
  if (failed.length > 0)
    return verdict('fail', 'servers_dead', {
      title: `Nobody can look up ${domain}: none of its name servers answers for ${zone}.`,
      detail: `${listFaults(servers)} Without DNS, mail to the domain bounces, and mail from it fails SPF, DKIM and DMARC.`,
      fix: correct,
    });
  if (servers.some(({ answer }) => answer === 'timeout')) return null;
  return verdict('warn', 'server_lame', {
    title: `None of the name servers of ${zone} answers for it.`,
    detail: `${listFaults(servers)} Lookups still work here, perhaps because the resolver has cached earlier answers.`,
    fix: correct,
  });
}

/** Resolvers ask the servers that the zone itself names, too. */
function judgeNames(facts: ZoneFacts): ZoneVerdict | null {
  const { zone, appended } = facts;
  const [first] = appended;
  if (!first) return null;
  return verdict('warn', 'name_appended', {
    title:
      appended.length === 1
        ? `The NS records of ${zone} name ${first.host}, which does not exist: ${zone} was appended to it.`
        : `The NS records of ${zone} name ${appended.length} servers that do not exist: ${zone} was appended to them.`,
    detail: `${shown(appended.map(({ host }) => host))}: resolvers that ask there fail or are slow, so some receivers sometimes see no records of the domain.`,
    fix: correctNames(facts),
  });
}

function correctNames({ zone, appended: [first, ...others] }: ZoneFacts): string {
  const rest =
    others.length > 0 ? ` Do the same for ${shown(others.map(({ meant }) => meant))}.` : '';
  return `Correct the NS records of ${zone}, also at its registrar if they are wrong there. ${explainAppended(first!.host, first!.meant)}${rest}`;
}

function judgeSomeServers({ zone, servers, isDirect }: ZoneFacts): ZoneVerdict | null {
  const bad = servers.filter(isBad);
  const works = servers.some(({ answer }) => answer === 'yes');
  if (!isDirect || bad.length === 0 || !works) return null;
  const hosts = LIST.format(bad.slice(0, MAX_NAMED).map(({ host }) => host));
  const [only] = bad;
  const isOne = bad.length === 1;
  return verdict('warn', 'server_lame', {
    title: isOne
      ? `${only!.host} does not answer for ${zone}.`
      : `${bad.length} of the ${servers.length} name servers of ${zone} do not answer for it.`,
    detail: `${listFaults(bad)} Lookups at ${isOne ? 'this server' : 'these servers'} fail or are slow, so some receivers sometimes see no records of the domain.`,
    fix: `At the registrar of ${zone}, remove ${hosts} from the name servers, or replace ${isOne ? 'it' : 'them'} with ${isOne ? 'the one' : 'those'} that your DNS provider shows now. If ${isOne ? 'it is' : 'they are'} already right, ask the DNS provider to set up ${zone} there.`,
  });
}

const LIST = new Intl.ListFormat('en-GB');

// DNSSEC.

const CONSEQUENCE =
  'Validating resolvers, which most large mailbox providers use, reject all answers of the zone. Mail to the domain is delayed or bounces, and mail from it fails SPF, DKIM and DMARC.';

/** Without the resolver's rejection, only what the records themselves show. */
function judgeDnssec(
  { domain, zone, failed, security }: ZoneFacts,
  now: number | null,
): ZoneVerdict | null {
  if (!security || security.ds.length === 0) return null;
  const rejects = failed.some(({ reason }) => reason === 'servfail') && security.answersUnchecked;
  const fault = dnssecFault(security, zone, now);
  if (!fault) return rejects ? bogus(domain, zone, security.extended) : null;
  const at = 'at' in fault ? fault.at : null;
  return verdict('fail', fault.cause, {
    title: `Receivers that validate DNSSEC cannot look up ${domain}: ${clauseOf(fault)}.`,
    detail: `${CONSEQUENCE}${saidBy(security.extended)}`,
    fix: fixOf(fault, zone, security.ds),
    at,
  });
}

const bogus = (domain: string, zone: string, extended: string[]): ZoneVerdict =>
  verdict('fail', 'bogus', {
    title: `Receivers that validate DNSSEC cannot look up ${domain}: its signatures are not valid.`,
    detail: `${CONSEQUENCE}${saidBy(extended)}`,
    fix: `Sign ${zone} again at its DNS provider, and compare the DS record at the registrar with the one that the provider shows. ${removal(zone)}`,
  });

const saidBy = (extended: string[]): string =>
  extended.length === 0 ? '' : ` The resolver says: ${extended[0]}.`;

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

function clauseOf(fault: DnssecFault): string {
  switch (fault.cause) {
    case 'expired':
      return fault.at === null
        ? 'its signatures have expired'
        : `its signatures expired on ${DAY.format(fault.at)}`;
    case 'not_yet':
      return fault.at === null
        ? 'its signatures are not valid yet'
        : `its signatures are valid only from ${DAY.format(fault.at)}`;
    case 'unsigned':
      return 'its parent zone has a DS record, but the zone is not signed';
    case 'wrong_ds':
      return 'none of its keys matches the DS record at its parent zone';
    case 'wrong_key':
      return 'it is signed with a key that it does not publish';
  }
}

const removal = (zone: string): string =>
  `If that takes too long, remove the DS record at the registrar of ${zone}. Once its TTL has passed, the zone counts as unsigned and works again.`;

function fixOf({ cause }: DnssecFault, zone: string, ds: string[]): string {
  const tags = dsTags(ds);
  const record = `the DS record${tags.length === 1 ? '' : 's'} with the key tag${tags.length === 1 ? '' : 's'} ${LIST.format(tags)}`;
  if (cause === 'unsigned')
    return `At the registrar of ${zone}, remove ${record}. Or turn on DNSSEC signing at the DNS provider first, and then replace the DS record with the one that the provider shows.`;
  if (cause === 'wrong_ds')
    return `At the registrar of ${zone}, replace ${record} with the one that the DNS provider shows now. If the DNS provider shows none, only remove it.`;
  if (cause === 'not_yet')
    return `Correct the clock of the server that signs ${zone}, and sign the zone again. ${removal(zone)}`;
  return `Sign ${zone} again at its DNS provider, and turn on automatic signing there. ${removal(zone)}`;
}

// The rest.

function judgeFailures({ domain, failed, servers, security }: ZoneFacts): ZoneVerdict | null {
  const [first] = failed;
  if (!first) return null;
  const answering = servers.filter(({ answer }) => answer === 'yes').length;
  const known =
    answering > 0
      ? ` ${answering} of its ${servers.length} name servers ${answering === 1 ? 'answers' : 'answer'} when asked directly.`
      : ' Its name servers could not be asked directly.';
  return verdict('error', 'unexplained', {
    title: `Could not determine why lookups of ${domain} fail.`,
    detail: `${first.type} ${first.name}: ${DNS_FAILURES[first.reason]}.${known}${saidBy(security?.extended ?? [])}`,
  });
}

function judgeDelegation(facts: ZoneFacts): ZoneVerdict {
  const { zone, servers, isDirect, parentHosts, ownHosts } = facts;
  const answering = servers.filter(({ answer }) => answer === 'yes');
  if (!isDirect || answering.length === 0)
    return verdict('info', null, {
      title: `The name servers of ${zone} were not checked one by one.`,
      detail: 'Lookups work, but the servers could not be asked directly from here.',
    });
  if (parentHosts && ownHosts && !isSame(parentHosts, ownHosts))
    return verdict('info', 'servers_differ', {
      title: `The registrar of ${zone} and the zone itself list different name servers.`,
      detail: `The parent zone has ${shown(parentHosts)}; the zone has ${shown(ownHosts)}. The name servers that the parent zone lists answer, so lookups work.`,
      fix: `Make both lists the same: change the name servers at the registrar of ${zone}, or the NS records of the zone.`,
    });
  return verdict('pass', null, {
    title: `The name servers of ${zone} answer for it.`,
    detail: `Asked directly: ${shown(answering.map(({ host }) => host))}.`,
  });
}

const isSame = (a: string[], b: string[]): boolean =>
  JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted());

const shown = (hosts: string[]): string =>
  hosts.length > MAX_NAMED
    ? `${hosts.slice(0, MAX_NAMED).join(', ')} and ${hosts.length - MAX_NAMED} more`
    : LIST.format(hosts);
