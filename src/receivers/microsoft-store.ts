/** Stores the activity of addresses at Microsoft, and publishes what is known about each address. */

import { observed } from '../events/observations.ts';
import { dayBefore } from '../feedback/sums.ts';
import { isoTime } from '../lib/clock.ts';
import type { SndsAddress, SndsRows } from '../net/snds/client.ts';
import type { Tx } from '../store/open.ts';
import type { ReceiverAddressRow, ReceiverBlockRow } from '../store/tables.generated.ts';
import { blockFinder, type FindBlock, isSingle, subjectOf } from './blocks.ts';
import type { Fetch } from './fetch.ts';
import {
  FILTER_RESULTS,
  type FilterResult,
  type SendingAddressObservation,
} from './observations.ts';
import { appendStatusChange } from './status-changed.ts';

/** Databases limit the number of parameters. */
const MAX_ROWS_PER_STATEMENT = 500;
/** How old a filter result may be that says how things are now. */
const RECENT_DAYS = 7;
/** How long an address without activity is still observed, so that its incidents end. */
const OBSERVED_DAYS = 30;

/** Replaces the rows of the addresses in the answer. Those of others stay: the answer says nothing about them. */
export async function storeAddresses(
  tx: Tx,
  fetch: Fetch,
  day: string,
  { rows: lines, skipped }: SndsRows<SndsAddress>,
): Promise<void> {
  const rows = onePerPeriod(lines);
  const fetched_at = isoTime(fetch.app.clock.now());
  for (let i = 0; i < rows.length; i += MAX_ROWS_PER_STATEMENT) {
    const some = rows.slice(i, i + MAX_ROWS_PER_STATEMENT);
    const addresses = [...new Set(some.map(({ address }) => address))];
    const before = await latestResults(tx, fetch, addresses);
    if (skipped === 0) await deleteReplaced(tx, fetch, day, rows, addresses);
    await upsert(
      tx,
      some.map((row) => addressRow(fetch, day, row, fetched_at)),
    );
    const after = await latestResults(tx, fetch, addresses);
    for (const address of addresses) await announce(tx, fetch, address, before, after);
  }
}

/** Of lines that begin at the same time, as in the hour that repeats in fall, the one with the worst filter result. */
const onePerPeriod = (rows: SndsAddress[]): SndsAddress[] =>
  [...Map.groupBy(rows, ({ address, startedAt }) => `${address} ${startedAt}`).values()].map(
    (same) => same.reduce((worst, row) => (rank(row) > rank(worst) ? row : worst)),
  );

const rank = ({ filterResult }: SndsAddress): number =>
  filterResult === null ? -1 : FILTER_RESULTS.indexOf(filterResult);

/** A period of activity that begins at another time now. */
async function deleteReplaced(
  tx: Tx,
  { id }: Fetch,
  day: string,
  rows: SndsAddress[],
  addresses: string[],
): Promise<void> {
  const stored = await tx
    .selectFrom('receiver_addresses')
    .select(['address', 'started_at'])
    .where('day', '=', day)
    .where('receiver_id', '=', id)
    .where('address', 'in', addresses)
    .execute();
  const current = new Set(rows.map(({ address, startedAt }) => `${address} ${startedAt}`));
  for (const { address, started_at } of stored)
    if (!current.has(`${address} ${started_at}`))
      await tx
        .deleteFrom('receiver_addresses')
        .where('day', '=', day)
        .where('receiver_id', '=', id)
        .where('address', '=', address)
        .where('started_at', '=', started_at)
        .execute();
}

const addressRow = (
  { id }: Fetch,
  day: string,
  row: SndsAddress,
  fetched_at: string,
): ReceiverAddressRow => ({
  address: row.address,
  day,
  receiver_id: id,
  fetched_at,
  started_at: row.startedAt,
  ended_at: row.endedAt,
  rcpt_commands: row.rcptCommands,
  data_commands: row.dataCommands,
  recipients: row.recipients,
  filter_result: row.filterResult,
  complaint_rate: row.complaintRate,
  is_below_rate: row.isBelowRate ? 1 : 0,
  trap_hits: null,
  sample_helo: null,
  sample_mail_from: null,
  comments: row.comments,
});

const upsert = (tx: Tx, rows: ReceiverAddressRow[]): Promise<unknown> =>
  tx
    .insertInto('receiver_addresses')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['address', 'day', 'receiver_id', 'started_at'])
        .doUpdateSet(({ ref, fn, eb }) => {
          const latest = (column: keyof ReceiverAddressRow) =>
            fn.coalesce(
              ref(`excluded.${column}` as never),
              ref(`receiver_addresses.${column}` as never),
            );
          return {
            ended_at: ref('excluded.ended_at'),
            rcpt_commands: ref('excluded.rcpt_commands'),
            data_commands: ref('excluded.data_commands'),
            recipients: ref('excluded.recipients'),
            fetched_at: ref('excluded.fetched_at'),
            is_below_rate: eb
              .case()
              .when('excluded.complaint_rate', 'is', null)
              .then(ref('receiver_addresses.is_below_rate'))
              .else(ref('excluded.is_below_rate'))
              .end(),
            filter_result: latest('filter_result'),
            complaint_rate: latest('complaint_rate'),
            comments: latest('comments'),
          };
        }),
    )
    .execute();

// The filter results of an address.

interface AddressResult {
  result: FilterResult;
  day: string;
  /** The first of the days in a row with this result, among those that have any. */
  since: string;
}

/** The worst result of the latest day that has one, within the last 30 days, by address. */
async function latestResults(
  tx: Tx,
  { id, startedAt }: Fetch,
  addresses: string[] | null,
): Promise<Map<string, AddressResult>> {
  let query = tx
    .selectFrom('receiver_addresses')
    .select(['address', 'day', 'filter_result'])
    .where('receiver_id', '=', id)
    .where('day', '>=', dayBefore(isoTime(startedAt).slice(0, 10), OBSERVED_DAYS))
    .where('filter_result', 'is not', null);
  if (addresses) query = query.where('address', 'in', addresses);
  const rows = await query.orderBy('day').execute();
  rows.sort((a, b) => (a.day === b.day ? severity(b) - severity(a) : a.day < b.day ? -1 : 1));
  const byAddress = new Map<string, AddressResult>();
  for (const { address, day, filter_result } of rows) {
    const result = filter_result as FilterResult;
    const last = byAddress.get(address);
    // The first of a day is the worst.
    if (last?.day === day) continue;
    if (last?.result === result) last.day = day;
    else byAddress.set(address, { result, day, since: day });
  }
  return byAddress;
}

const severity = ({ filter_result }: Pick<ReceiverAddressRow, 'filter_result'>): number =>
  FILTER_RESULTS.indexOf(filter_result as FilterResult);

async function announce(
  tx: Tx,
  { app, id }: Fetch,
  address: string,
  before: Map<string, AddressResult>,
  after: Map<string, AddressResult>,
): Promise<void> {
  const now = after.get(address);
  if (!now) return;
  await appendStatusChange(tx, app, {
    receiver: 'microsoft_snds',
    receiver_id: id,
    address,
    status: now.result,
    previous_status: before.get(address)?.result ?? null,
    detail: null,
  });
}

// Observations.

/** `gone`: ranges that are no longer listed, about which there may be incidents. */
export async function publishAddresses(
  tx: Tx,
  fetch: Fetch,
  gone: ReceiverBlockRow[],
): Promise<void> {
  const { app, id, startedAt } = fetch;
  const blocks = await tx
    .selectFrom('receiver_blocks')
    .selectAll()
    .where('receiver_id', '=', id)
    .execute();
  const active = await tx
    .selectFrom('receiver_addresses')
    .select('address')
    .distinct()
    .where('receiver_id', '=', id)
    .where('day', '>=', dayBefore(isoTime(startedAt).slice(0, 10), OBSERVED_DAYS))
    .execute();
  const results = await latestResults(tx, fetch, null);
  const findBlock = blockFinder(blocks);
  const singles = [...blocks, ...gone].filter(isSingle);
  const addresses = new Set([
    ...active.map(({ address }) => address),
    ...singles.map(({ first_address }) => first_address),
  ]);
  const recent = dayBefore(isoTime(startedAt).slice(0, 10), RECENT_DAYS);
  const observations = [
    ...[...addresses].map((address) =>
      observeAddress(address, results.get(address), findBlock, recent),
    ),
    ...blocks.filter((block) => !isSingle(block)).map((block) => observeRange(block, block)),
    ...gone
      .filter((range) => !isSingle(range))
      .map((range) => observeRange(range, findBlock(range.first_address))),
  ];
  if (observations.length > 0) await app.subscribers.publish(observed, tx, observations);
}

function observeAddress(
  address: string,
  latest: AddressResult | undefined,
  findBlock: FindBlock,
  recent: string,
): SendingAddressObservation {
  const block = findBlock(address);
  const result = latest && latest.day >= recent ? latest : null;
  const isOwn = block !== null && (isSingle(block) || block.blocked === 0);
  return {
    kind: 'sending_address',
    subject: address,
    domainId: null,
    blocked: isOwn ? block.blocked === 1 : null,
    details: isOwn && block.details !== '' ? block.details : null,
    filterResult: result?.result ?? null,
    day: result?.day ?? null,
    since: isOwn && block.blocked === 1 ? block.since : (result?.since ?? null),
  };
}

/** `block` is what is known about it now. A larger blocked range has an observation of its own. */
function observeRange(
  range: ReceiverBlockRow,
  block: ReceiverBlockRow | null,
): SendingAddressObservation {
  const isKnown = block !== null && (block === range || block.blocked === 0);
  return {
    kind: 'sending_address',
    subject: subjectOf(range),
    domainId: null,
    blocked: isKnown ? block.blocked === 1 : null,
    details: isKnown && block.details !== '' ? block.details : null,
    filterResult: null,
    day: null,
    since: isKnown ? block.since : null,
  };
}
