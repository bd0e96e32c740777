/** Stores which ranges of addresses Microsoft blocks. */

import { isoTime } from '../lib/clock.ts';
import type { SndsRange, SndsRows } from '../net/snds/client.ts';
import type { Tx } from '../store/open.ts';
import type { ReceiverBlockRow } from '../store/tables.generated.ts';
import { blockFinder, subjectOf } from './blocks.ts';
import type { Fetch } from './fetch.ts';
import { appendStatusChange } from './status-changed.ts';

/**
 * Returns the ranges that are no longer listed. Microsoft leaves out addresses for which it has nothing to say, so an
 * empty answer changes nothing. Ranges that could be in a skipped line stay, too.
 */
export async function storeBlocks(
  tx: Tx,
  fetch: Fetch,
  { rows: ranges, skipped }: SndsRows<SndsRange>,
): Promise<ReceiverBlockRow[]> {
  if (ranges.length === 0) return [];
  const before = await tx
    .selectFrom('receiver_blocks')
    .selectAll()
    .where('receiver_id', '=', fetch.id)
    .execute();
  const known = new Map(before.map((row) => [subjectOf(row), row]));
  const findBefore = blockFinder(before);
  const rows = ranges.map((range) => {
    const first_address = range.firstAddress;
    const last_address = range.lastAddress;
    const previous =
      known.get(subjectOf({ first_address, last_address })) ?? findBefore(first_address);
    return { row: blockRow(fetch, range, previous), previous };
  });
  for (const { row, previous } of rows) {
    await tx
      .insertInto('receiver_blocks')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['receiver_id', 'first_address', 'last_address']).doUpdateSet(row),
      )
      .execute();
    await announce(tx, fetch, row, previous);
  }
  const current = new Set(rows.map(({ row }) => subjectOf(row)));
  const gone = skipped > 0 ? [] : before.filter((row) => !current.has(subjectOf(row)));
  const findNow = blockFinder(rows.map(({ row }) => row));
  for (const row of gone) {
    await tx
      .deleteFrom('receiver_blocks')
      .where('receiver_id', '=', fetch.id)
      .where('first_address', '=', row.first_address)
      .where('last_address', '=', row.last_address)
      .execute();
    const now = findNow(row.first_address);
    // It is part of a larger range now. If that is blocked, its own event says so.
    if (row.blocked && now && !now.blocked)
      await announce(tx, fetch, { ...row, blocked: 0, details: now.details }, row);
  }
  return gone;
}

function blockRow(
  { id, startedAt }: Fetch,
  { firstAddress, lastAddress, blocked, details }: SndsRange,
  previous: ReceiverBlockRow | null,
): ReceiverBlockRow {
  const checked_at = isoTime(startedAt);
  const isSame = previous !== null && (previous.blocked === 1) === blocked;
  return {
    receiver_id: id,
    first_address: firstAddress,
    last_address: lastAddress,
    blocked: blocked ? 1 : 0,
    details,
    checked_at,
    since: isSame ? previous.since : checked_at,
  };
}

const statusOf = ({ blocked }: ReceiverBlockRow): string => (blocked ? 'BLOCKED' : 'NOT_BLOCKED');

const announce = (
  tx: Tx,
  { app, id }: Fetch,
  row: ReceiverBlockRow,
  previous: ReceiverBlockRow | null,
): Promise<void> =>
  appendStatusChange(tx, app, {
    receiver: 'microsoft_snds',
    receiver_id: id,
    address: subjectOf(row),
    status: statusOf(row),
    previous_status: previous && statusOf(previous),
    detail: row.details === '' ? null : row.details,
  });
