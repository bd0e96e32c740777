/** The placements of tests in the database: those that are not final, and recording what a look found. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { findMessageOf } from '../mailtests/messages.ts';
import { placementColumns } from '../mailtests/placement.ts';
import { readChunks } from '../store/chunks.ts';
import { afterCommit, type Db, lockIn, type Tx, transact } from '../store/open.ts';
import type { PlacementRow, TestRow } from '../store/tables.generated.ts';
import { readCopy } from './mail-copy.ts';
import type { WantedTest } from './match.ts';

/** A placement that is not final, with what is needed of its test. */
export type OpenPlacement = PlacementRow &
  Pick<TestRow, 'token' | 'received_at' | 'expires_at' | 'status' | 'monitor_id'>;

/** All tests that wait for a seed mailbox. */
export async function openPlacements(db: Db, seed: string): Promise<OpenPlacement[]> {
  return (
    db
      .selectFrom('placements')
      .innerJoin('tests', 'tests.id', 'placements.test_id')
      .leftJoin('monitors', 'monitors.id', 'tests.monitor_id')
      .selectAll('placements')
      .select(['tests.received_at', 'tests.expires_at', 'tests.status', 'tests.monitor_id'])
      // All messages to a monitor have its token.
      .select(({ fn }) => fn.coalesce('monitors.token', 'tests.token').as('token'))
      .where('placements.seed', '=', seed)
      .where('placements.settled_at', 'is', null)
      .orderBy('placements.test_id')
      .execute()
  );
}

/** Longer than any placement takes. */
const TAKEN_MS = 10 * DAY_MS;

/** The keys of messages that belong to a test. */
export async function takenMessages(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  seed: string,
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('placements')
    .select('message_key')
    .where('seed', '=', seed)
    .where('created_at', '>', isoTime(clock.now() - TAKEN_MS))
    .where('message_key', 'is not', null)
    .execute();
  return new Set(rows.map(({ message_key }) => message_key!));
}

const COPY_BYTES = 64 * 1024;

/** `received` is what an earlier call returned, to read each message once. */
export async function wantedTest(
  { db, config }: Pick<App, 'db' | 'config'>,
  row: OpenPlacement,
  received: WantedTest['received'],
): Promise<WantedTest> {
  return {
    id: row.test_id,
    token: row.token,
    address: row.address,
    createdAt: Date.parse(row.created_at),
    received: received ?? (row.received_at === null ? null : await receivedCopy(db, row)),
    timeoutMs: config.PLACEMENT_TIMEOUT,
    sharesToken: row.monitor_id !== null,
  };
}

/** Null if the message was deleted meanwhile. */
async function receivedCopy(
  db: Db,
  { test_id, received_at }: OpenPlacement,
): Promise<WantedTest['received']> {
  const message = await findMessageOf(db, test_id);
  if (!message || received_at === null) return null;
  for await (const chunk of readChunks(db, message))
    return { copy: await readCopy(chunk.subarray(0, COPY_BYTES)), at: Date.parse(received_at) };
  return null;
}

// When a message that was not found counts as missing.

type Deadline = Pick<OpenPlacement, 'received_at' | 'expires_at'>;
type Timeout = Pick<Config, 'PLACEMENT_TIMEOUT'>;

const PROVISIONAL_MS = 15 * 60_000;

/** From the arrival at the test address; without one, from the expiry of that address. */
const startOf = ({ received_at, expires_at }: Deadline): number =>
  Date.parse(received_at ?? expires_at);

/** When the placement is shown as missing so far. */
export const provisionalTime = (row: Deadline, { PLACEMENT_TIMEOUT }: Timeout): number =>
  startOf(row) + Math.min(PROVISIONAL_MS, PLACEMENT_TIMEOUT);

/** When the placement becomes final. */
export const finalTime = (row: Deadline, { PLACEMENT_TIMEOUT }: Timeout): number =>
  startOf(row) + PLACEMENT_TIMEOUT;

// Recording.

export type PlacementChange = Partial<PlacementRow> & Pick<PlacementRow, 'placement'>;

/** Stores a change, unless the placement is final or the same. */
export async function recordChange(
  app: App,
  current: PlacementRow,
  change: PlacementChange,
): Promise<void> {
  const isSame = (Object.keys(change) as (keyof PlacementRow)[]).every(
    (column) => change[column] === current[column],
  );
  if (isSame) return;
  await transact(app.db, async (tx) => {
    const test = await lockIn(
      tx,
      tx.selectFrom('tests').select(['id']).where('id', '=', current.test_id),
    ).executeTakeFirst();
    if (!test) return;
    const { numUpdatedRows } = await tx
      .updateTable('placements')
      .set(change)
      .where('test_id', '=', current.test_id)
      .where('seed', '=', current.seed)
      .where('settled_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return;
    await updateTest(tx, current.test_id);
    afterCommit(tx, () => app.signals.raise(current.test_id));
  });
}

/** Updates what the row of a test holds about its placements. Returns them. */
export async function updateTest(tx: Tx, testId: string): Promise<PlacementRow[]> {
  const rows = await placementsOf(tx, testId);
  await tx.updateTable('tests').set(placementColumns(rows)).where('id', '=', testId).execute();
  return rows;
}

export const placementsOf = (tx: Tx, testId: string): Promise<PlacementRow[]> =>
  tx
    .selectFrom('placements')
    .selectAll()
    .where('test_id', '=', testId)
    .orderBy('provider')
    .orderBy('seed')
    .execute();
