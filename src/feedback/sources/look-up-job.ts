/** The job that finds out whom addresses belong to, a few a second, so that no page waits for DNS. */

import type { App } from '../../app.ts';
import { isAddress } from '../../lib/addresses.ts';
import { isoTime } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { errorMessage } from '../../lib/errors.ts';
import { claimingJob, type Job } from '../../scheduler/scheduler.ts';
import { claimRows } from '../../store/leases.ts';
import type { FeedbackAddressRow } from '../../store/tables.generated.ts';
import { assignSource } from './assign.ts';
import { confirmedHost, evidenceOf } from './look-up.ts';
import { nameSource } from './name.ts';
import { type OwnNetworks, ownNetworksOf } from './own-networks.ts';

export const SOURCES_JOB = 'feedback.sources';

/** Each second. */
const PER_TICK = 4;
const LEASE_MS = 120_000;
const RETRY_MS = HOUR_MS;
const OWN_MS = 10 * 60_000;

export function sourcesJob(app: App): Job {
  const owned = new Map<string, { until: number; networks: Promise<OwnNetworks> }>();
  const ownNetworks = (domain: string): Promise<OwnNetworks> => {
    const now = app.clock.now();
    const known = owned.get(domain);
    if (known && known.until > now) return known.networks;
    for (const [name, { until }] of owned) if (until <= now) owned.delete(name);
    const networks = ownNetworksOf(app.backgroundResolver, domain);
    owned.set(domain, { until: now + OWN_MS, networks });
    networks.catch(() => owned.delete(domain));
    return networks;
  };
  return claimingJob({
    name: SOURCES_JOB,
    concurrency: PER_TICK,
    claim: (limit) =>
      claimRows(app, {
        table: 'feedback_addresses',
        due: app.db
          .selectFrom('feedback_addresses')
          .selectAll()
          .where('look_up_at', '<=', isoTime(app.clock.now()))
          .orderBy('look_up_at')
          .limit(limit),
        leaseMs: LEASE_MS,
      }),
    work: (address) => lookUp(app, address, ownNetworks),
    async onError({ id }, error) {
      app.log.warn('could not look up a source of feedback', {
        address: id,
        error: errorMessage(error),
      });
      await retryLater(app, id);
    },
    // The next ones follow with the next tick, so that DNS servers are asked a few names a second.
    wake: () => {},
  });
}

async function lookUp(
  app: App,
  address: FeedbackAddressRow,
  ownNetworks: (domain: string) => Promise<OwnNetworks>,
): Promise<void> {
  const domain = await app.db
    .selectFrom('domains')
    .select('name')
    .where('id', '=', address.domain_id)
    .executeTakeFirst();
  // Deleted with its domain.
  if (!domain) return;
  const own = await ownNetworks(domain.name);
  let host: string | null = null;
  let againMs: number | undefined;
  try {
    // What sums up addresses has no host name.
    if (isAddress(address.address))
      host = await confirmedHost(app.backgroundResolver, address.address);
  } catch (error) {
    // It keeps the source that it has. Without any, its messages would be missing in all sums.
    if (address.source_id !== null) throw error;
    againMs = RETRY_MS;
  }
  const evidence = await evidenceOf(app.db, address, { domain: domain.name, own, host });
  await assignSource(app, address, { host, name: nameSource(evidence), againMs });
}

const retryLater = ({ db, clock }: App, id: string): Promise<unknown> =>
  db
    .updateTable('feedback_addresses')
    .set({ look_up_at: isoTime(clock.now() + RETRY_MS), lease: null, leased_until: null })
    .where('id', '=', id)
    .execute();
