/** Which IP addresses send the mail of a domain. */

import { dayBefore } from '../feedback/sums.ts';
import { isAddress } from '../lib/addresses.ts';
import type { Db, Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { testedAddresses } from './tests.ts';

const MAX_ADDRESSES = 200;
const DAYS = 30;

/**
 * Those of the latest tests, and those from which mail that passed DMARC was reported in the last 30 days; those with most
 * mail first. `today` is a day such as `2026-11-21`.
 */
export async function sendingAddresses(
  db: Db | Tx,
  { id }: Pick<DomainRow, 'id'>,
  today: string,
): Promise<string[]> {
  const from = dayBefore(today, DAYS - 1);
  const tested = await testedAddresses(db, id, { from });
  const reported = await db
    .selectFrom('feedback_addresses')
    .select('address')
    .where('domain_id', '=', id)
    .where('passed', '>', 0)
    .where('last_day', '>=', from)
    // Leaves out most sums, whose keys are networks instead of addresses.
    .where('address', 'not like', '%/%')
    .orderBy('passed', 'desc')
    .orderBy('address')
    .limit(MAX_ADDRESSES)
    .execute();
  const addresses = reported.map(({ address }) => address).filter(isAddress);
  return [...new Set([...tested, ...addresses])];
}
