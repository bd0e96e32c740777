/**
 * Which sources may report a failure of which domain: never too few, sometimes too many. A few queries over all domains avoid
 * reading every source of every domain.
 */

import { STOPPED } from '../figures/dmarc.ts';
import { ERROR_RATES, SPAM_LIMITS, SPAM_RATE } from '../figures/gmail.ts';
import { isoTime } from '../lib/clock.ts';
import { blockFinder } from '../receivers/blocks.ts';
import { accountNames, addressBlocks } from '../receivers/queries.ts';
import { sendingAddresses } from './addresses.ts';
import { CURRENT_DAYS, daysAgo, RECENT_DAYS, type Reading } from './reading.ts';
import type { SourceId } from './vocabulary.ts';

export type AllReading = Omit<Reading, 'domain'>;

/** Tests are read one by one: see `worstOfTests`. */
export type StoredSource = Exclude<SourceId, 'tests'>;

/** By the ID of the domain. */
export type Suspects = Map<string, Set<StoredSource>>;

export async function suspectDomains(reading: AllReading): Promise<Suspects> {
  const { db } = reading;
  const recent = daysAgo(reading, RECENT_DAYS);
  const day = recent.slice(0, 10);
  const current = daysAgo(reading, CURRENT_DAYS).slice(0, 10);
  const domains = db.selectFrom('domains').select('domains.id').distinct();
  const suspects: Suspects = new Map();
  const suspect = (source: StoredSource, rows: { id: string }[]) => {
    for (const { id } of rows) suspects.set(id, (suspects.get(id) ?? new Set()).add(source));
  };
  suspect(
    'dns',
    await domains
      // What was critical may still be, if DNS gives no answer.
      .where('health_status', 'in', ['critical', 'unknown'])
      .where('health_checked_at', 'is not', null)
      .execute(),
  );
  suspect(
    'placement',
    await domains
      .crossJoin('test_tallies as tally')
      .whereRef('tally.domain_id', '=', 'domains.id')
      .where('livemode', '=', 1)
      .where('hour', '>=', recent)
      .whereRef('placement_inbox', '<', 'placement_samples')
      .execute(),
  );
  // Mail that receivers stopped, sources that began to fail, complaints, and bounces.
  suspect(
    'feedback',
    await domains
      .crossJoin('dmarc_days as days')
      .whereRef('days.domain_id', '=', 'domains.id')
      .where('day', '>=', day)
      .where(({ or, eb }) => or(STOPPED.map(({ name }) => eb(name, '>', 0))))
      .execute(),
  );
  suspect(
    'feedback',
    await domains
      .innerJoin('feedback_sources as source', 'source.domain_id', 'domains.id')
      .where('failing_since', 'is not', null)
      .execute(),
  );
  suspect(
    'feedback',
    await domains
      .crossJoin('feedback_message_sums as sums')
      .whereRef('sums.domain_id', '=', 'domains.id')
      .where('subject', 'in', ['complaint provider', 'bounce class'])
      .where('period', '>=', day)
      .execute(),
  );
  suspect(
    'receivers',
    await domains
      .crossJoin('receiver_days as days')
      .whereRef('days.name', '=', 'domains.name')
      .where('day', '>=', current)
      .where(({ or, eb }) =>
        or([
          eb(SPAM_RATE.column, '>=', SPAM_LIMITS.fail),
          ...ERROR_RATES.map(({ column }) => eb(column, '>', 0)),
        ]),
      )
      .execute(),
  );
  suspect(
    'receivers',
    await domains
      .innerJoin('receiver_requirements as one', 'one.name', 'domains.name')
      .where('one.status', '=', 'NEEDS_WORK')
      .execute(),
  );
  suspect('receivers', await usersOfBadAddresses(reading, current));
  return suspects;
}

/** Domains that send from an address which Outlook blocks or rates red. */
async function usersOfBadAddresses(reading: AllReading, from: string): Promise<{ id: string }[]> {
  const { db, config, clock } = reading;
  const today = isoTime(clock.now()).slice(0, 10);
  const rated = await db
    .selectFrom('receiver_addresses')
    .select('address')
    .distinct()
    .where('day', '>=', from)
    .where('filter_result', '=', 'RED')
    .execute();
  const red = new Set(rated.map(({ address }) => address));
  const blocks = await addressBlocks(db, accountNames(config));
  const blocked = blocks.filter((block) => block.blocked === 1);
  if (red.size + blocked.length === 0) return [];
  const find = blockFinder(blocked);
  const users: { id: string }[] = [];
  for (const { id } of await db.selectFrom('domains').select('id').execute()) {
    const addresses = await sendingAddresses(db, { id }, today);
    if (addresses.some((address) => red.has(address) || find(address) !== null)) users.push({ id });
  }
  return users;
}
