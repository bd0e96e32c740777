/** How many rows of work a second nodes claim, in batches as the jobs do, each row once. */

import { systemClock } from '../../src/lib/clock.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { claimRows } from '../../src/store/leases.ts';
import { openStore, type Store } from '../../src/store/open.ts';

const ROWS = 4000;
const BATCH = 20;
const WORKERS = 8;
const LEASE_MS = 3_600_000;
/** An empty batch can mean that other workers have locked all rows that are left. */
const MAX_EMPTY_BATCHES = 20;

/** The workers are divided among the nodes, which have their own connections. */
export async function claimsPerSecond(
  location: string,
  nodes: number,
): Promise<{ claims_per_second: number; claimed_twice: number }> {
  const stores: Store[] = [];
  for (let node = 0; node < nodes; node++) stores.push(await openStore(location));
  const newId = createIdGenerator(systemClock);
  const values = Array.from({ length: ROWS }, () => ({
    id: newId('mail'),
    created_at: '2026-01-01',
    recipient: 'a@example.com',
    status: 'queued' as const,
    due_at: '2026-01-01',
    attempts: 0,
    bulk: 0,
  }));
  for (let i = 0; i < ROWS; i += 1000)
    await stores[0]!.db
      .insertInto('outbox')
      .values(values.slice(i, i + 1000))
      .execute();
  const startedAt = performance.now();
  const claimed = await Promise.all(
    Array.from({ length: WORKERS }, (_, i) => claimAll(stores[i % nodes]!, `node-${i % nodes}`)),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(stores.map((store) => store.close()));
  const ids = claimed.flat();
  const once = new Set(ids).size;
  if (once < ROWS) throw new Error(`${ROWS - once} rows were not claimed`);
  return { claims_per_second: Math.round(ROWS / seconds), claimed_twice: ids.length - once };
}

async function claimAll({ db }: Store, node: string): Promise<string[]> {
  const worker = { db, clock: systemClock, newId: createIdGenerator(systemClock), node };
  const due = db
    .selectFrom('outbox')
    .select('id')
    .where('due_at', '<=', new Date().toISOString())
    .orderBy('bulk')
    .orderBy('due_at')
    .limit(BATCH);
  const ids: string[] = [];
  for (let empty = 0; empty < MAX_EMPTY_BATCHES; ) {
    const rows = await claimRows(worker, { table: 'outbox', due, leaseMs: LEASE_MS });
    empty = rows.length === 0 ? empty + 1 : 0;
    for (const { id } of rows) ids.push(id);
  }
  return ids;
}
