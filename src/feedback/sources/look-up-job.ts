/** The job that finds out to whom addresses belong, so that no page waits for DNS. */

import { type RawBuilder, sql } from 'kysely';
import type { App } from '../../app.ts';
import { isAddress } from '../../lib/addresses.ts';
import { isoTime } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { errorMessage } from '../../lib/errors.ts';
import { claimingJob, type Job } from '../../scheduler/scheduler.ts';
import { claimRows } from '../../store/leases.ts';
import type { Db } from '../../store/open.ts';
import type { DomainRow, FeedbackAddressRow } from '../../store/tables.generated.ts';
import { assignSource } from './assign.ts';
import { type Claims, claimsOf, refreshClaims } from './claims.ts';
import { confirmedHost, evidenceOf } from './look-up.ts';
import { nameSource, type SourceName, serviceName } from './name.ts';
import { serviceOfNetwork } from './networks.ts';
import { type OwnNetworks, ownNetworksOf } from './own-networks.ts';
import { isTenant } from './tenant-domains.ts';
import { tenantOf } from './tenants.ts';

export const SOURCES_JOB = 'feedback.sources';

/** Addresses per second, and at a time. Each makes one DNS query at a time: a third of the limit for background work. */
const CONCURRENCY = 32;
const LEASE_MS = 120_000;
const RETRY_MS = HOUR_MS;
const FACTS_MS = 10 * 60_000;

/** Facts about a domain that all of its addresses share. */
interface DomainFacts {
  networks: OwnNetworks;
  claims: Claims;
}
type FactsOf = (domain: Domain) => Promise<DomainFacts>;
type Domain = Pick<DomainRow, 'id' | 'name'>;

export function sourcesJob(app: App): Job {
  const known = new Map<string, { until: number; facts: Promise<DomainFacts> }>();
  const factsOf: FactsOf = ({ id, name }) => {
    const now = app.clock.now();
    const last = known.get(id);
    if (last && last.until > now) return last.facts;
    for (const [other, { until }] of known) if (until <= now) known.delete(other);
    const facts = lookUpFacts(app, { id, name });
    known.set(id, { until: now + FACTS_MS, facts });
    facts.catch(() => known.delete(id));
    return facts;
  };
  let lastDomain = '';
  return claimingJob({
    name: SOURCES_JOB,
    concurrency: CONCURRENCY,
    async claim(limit) {
      const unnamed = await largestUnnamed(app, limit, lastDomain);
      lastDomain = unnamed.lastDomain;
      const ids = [...unnamed.ids, ...(await dueAgain(app, limit - unnamed.ids.length))];
      if (ids.length === 0) return [];
      return claimRows(app, {
        table: 'feedback_addresses',
        due: app.db
          .selectFrom('feedback_addresses')
          .selectAll()
          .where('id', 'in', ids)
          .orderBy('messages', 'desc'),
        leaseMs: LEASE_MS,
      });
    },
    work: (address) => lookUp(app, address, factsOf),
    async onError({ id }, error) {
      app.log.warn('could not look up a source of feedback', {
        address: id,
        error: errorMessage(error),
      });
      await retryLater(app, id);
    },
    // Not at once, but with the next tick, which limits the rate of DNS queries.
    wake: () => {},
  });
}

/** Domains take turns, each with its largest addresses first. Each query uses an index, however many addresses wait. */
async function largestUnnamed(
  { db, clock }: App,
  limit: number,
  after: string,
): Promise<{ ids: string[]; lastDomain: string }> {
  const now = isoTime(clock.now());
  const domains = [
    ...(await waitingDomains(db, after, limit)),
    ...(after === '' ? [] : await waitingDomains(db, '', limit)),
  ];
  const turns = [...new Set(domains)].slice(0, limit);
  const share = Math.ceil(limit / Math.max(1, turns.length));
  const ids: string[][] = [];
  for (const domain of turns) {
    const rows = await db
      .selectFrom('feedback_addresses')
      .select('id')
      .where('domain_id', '=', domain)
      .where('source_id', 'is', null)
      .where('look_up_at', '<=', now)
      .where(({ or, eb }) => or([eb('lease', 'is', null), eb('leased_until', '<', now)]))
      .orderBy('messages', 'desc')
      .limit(share)
      .execute();
    ids.push(rows.map(({ id }) => id));
  }
  return { ids: ids.flat().slice(0, limit), lastDomain: turns.at(-1) ?? '' };
}

/** The next domains after this one with addresses without a source. */
async function waitingDomains(db: Db, after: string, limit: number): Promise<string[]> {
  const next = (from: RawBuilder<unknown>) => sql`(select min(domain_id) from feedback_addresses
    where source_id is null and domain_id > ${from})`;
  const { rows } = await sql<{ domain: string }>`
    with recursive waiting (domain, number) as (
      select ${next(sql`${after}`)}, 1
      union all
      select ${next(sql`waiting.domain`)}, number + 1 from waiting
      where waiting.domain is not null and number < ${limit}
    )
    select domain from waiting where domain is not null`.execute(db);
  return rows.map(({ domain }) => domain);
}

/** Addresses with a source that are due for another lookup, and that no other node looks up. */
async function dueAgain({ db, clock }: App, limit: number): Promise<string[]> {
  if (limit <= 0) return [];
  const now = isoTime(clock.now());
  const rows = await db
    .selectFrom('feedback_addresses')
    .select('id')
    .where('look_up_at', '<=', now)
    .where('source_id', 'is not', null)
    .where(({ or, eb }) => or([eb('lease', 'is', null), eb('leased_until', '<', now)]))
    .orderBy('look_up_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

async function lookUpFacts(app: App, domain: Domain): Promise<DomainFacts> {
  const { db, backgroundResolver } = app;
  const networks = await ownNetworksOf(backgroundResolver, domain.name);
  const claims = claimsOf(db, backgroundResolver, domain);
  await refreshClaims(db, domain, claims);
  return { networks, claims };
}

async function lookUp(app: App, address: FeedbackAddressRow, factsOf: FactsOf): Promise<void> {
  const domain = await app.db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('id', '=', address.domain_id)
    .executeTakeFirst();
  // Deleted with its domain.
  if (!domain) return;
  const facts = await factsOf(domain);
  const found = isTenant(address.address)
    ? { host: null, name: await nameTenant(app, domain, address) }
    : await nameAddress(app, domain, address, facts);
  const claim = await facts.claims(found.name.key);
  await assignSource(app, address, { ...found, claim });
}

async function nameAddress(
  app: App,
  domain: Domain,
  address: FeedbackAddressRow,
  { networks }: DomainFacts,
): Promise<{ host: string | null; name: SourceName; againMs?: number }> {
  let host: string | null = null;
  let againMs: number | undefined;
  try {
    // Sums have no host name, and large services are recognized without one.
    if (isAddress(address.address) && !serviceOfNetwork(address.address))
      host = await confirmedHost(app.backgroundResolver, address.address);
  } catch (error) {
    // It keeps the source that it has. Without any, its messages would be missing in all sums.
    if (address.source_id !== null) throw error;
    againMs = RETRY_MS;
  }
  const evidence = await evidenceOf(app.db, address, { domain: domain.name, own: networks, host });
  return { host, name: nameSource(evidence), againMs };
}

async function nameTenant(
  { db, backgroundResolver }: App,
  domain: Domain,
  row: FeedbackAddressRow,
): Promise<SourceName> {
  const { address } = row;
  const { service, isOwn } = await tenantOf(db, backgroundResolver, domain, row);
  return isOwn
    ? serviceName(service, `Messages have a valid DKIM signature of ${address}, your tenant.`)
    : {
        key: `tenant ${address}`,
        name: address,
        evidence: `Messages have a valid DKIM signature of ${address}, another customer of ${service.name}.`,
      };
}

const retryLater = ({ db, clock }: App, id: string): Promise<unknown> =>
  db
    .updateTable('feedback_addresses')
    .set({ look_up_at: isoTime(clock.now() + RETRY_MS), lease: null, leased_until: null })
    .where('id', '=', id)
    .execute();
