/** Looks up what shows to whom an address belongs: its confirmed host name, the domain's own networks, and what reports say. */

import { sql } from 'kysely';
import { fullHostName } from '../../analysis/dns/names.ts';
import { serviceOfHost } from '../../analysis/sending-services/services.ts';
import { normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { Db } from '../../store/open.ts';
import type { FeedbackAddressRow } from '../../store/tables.generated.ts';
import { forwarderOf } from './forwarders.ts';
import type { AddressEvidence } from './name.ts';
import type { OwnNetworks } from './own-networks.ts';
import { ownTestOf } from './own-tests.ts';

type Address = Pick<FeedbackAddressRow, 'domain_id' | 'address' | 'messages' | 'passed'>;

export async function evidenceOf(
  db: Db,
  row: Address,
  { domain, own, host }: { domain: string; own: OwnNetworks; host: string | null },
): Promise<AddressEvidence> {
  const { address } = row;
  const results = await resultsOf(db, row);
  const testedOn = await ownTestOf(db, row, domain);
  return { address, domain, host, isOwn: own.contains(address), testedOn, ...results };
}

const MAX_NAMES = 5;

/** The forward-confirmed host name; that of a known service or forwarder first. Throws if DNS does not answer. */
export async function confirmedHost(resolver: Resolver, address: string): Promise<string | null> {
  const answer = recordsOf(await resolver(reverseName(address), 'PTR'));
  if (answer === null) throw new Error(`Could not look up the host name of ${address}.`);
  const names = answer.flatMap((name) => fullHostName(name) ?? []).slice(0, MAX_NAMES);
  const confirmed: string[] = [];
  let isUnanswered = false;
  for (const name of names) {
    const forward = recordsOf(await resolver(name, address.includes(':') ? 'AAAA' : 'A'));
    isUnanswered ||= forward === null;
    if (forward?.some((text) => normalizeAddress(text) === address)) confirmed.push(name);
  }
  if (confirmed.length === 0 && isUnanswered)
    throw new Error(`Could not confirm the host name of ${address}.`);
  return confirmed.find(isKnown) ?? confirmed[0] ?? null;
}

const isKnown = (name: string): boolean =>
  forwarderOf(name) !== null || serviceOfHost(name) !== undefined;

const MAX_RESULTS = 50;

async function resultsOf(
  db: Db,
  { domain_id, address }: Address,
): Promise<Pick<AddressEvidence, 'signers' | 'mailFrom'>> {
  const rows = await db
    .selectFrom('dmarc_rows')
    .select(['dkim_domain', 'dkim_result', 'spf_domain', 'spf_result'])
    .select(({ fn }) => fn.sum('count').as('messages'))
    .where('domain_id', '=', domain_id)
    .where('address', '=', address)
    .where('counted', '=', 1)
    .groupBy(['dkim_domain', 'dkim_result', 'spf_domain', 'spf_result'])
    .orderBy(sql`sum(count)`, 'desc')
    .limit(MAX_RESULTS)
    .execute();
  const passing = (result: 'dkim_result' | 'spf_result', domain: 'dkim_domain' | 'spf_domain') => [
    ...new Set(rows.flatMap((row) => (row[result] === 'pass' ? (row[domain] ?? []) : []))),
  ];
  return {
    signers: passing('dkim_result', 'dkim_domain'),
    mailFrom: passing('spf_result', 'spf_domain'),
  };
}
