/** The images of a test that are on web servers: loaded once, when someone asks, and kept with the test. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import { requireSpare } from '../http/disk-space.ts';
import { isoTime } from '../lib/clock.ts';
import { createSemaphore, waitUntil } from '../lib/concurrency.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import type { ListedImage } from '../report/image-list.ts';
import type { LoadedImage } from '../report/preview/images.ts';
import { readMessage } from '../store/chunks.ts';
import { claimRows } from '../store/leases.ts';
import { type Db, lockIn, type Tx, transact } from '../store/open.ts';
import type { MessageRow, TestImageRow, TestRow } from '../store/tables.generated.ts';
import { type FetchedImage, fetchImages, IMAGE_LIMITS } from './fetch-images.ts';
import { findMessageOf } from './messages.ts';

/** Everything but the bytes. */
export type StoredImage = Omit<TestImageRow, 'bytes'>;

export interface StoredImages {
  status: 'not_loaded' | 'loading' | 'loaded';
  loadedAt: string | null;
  /** Empty unless they are loaded. */
  images: StoredImage[];
}

const IMAGE_COLUMNS = [
  'test_id',
  'position',
  'kind',
  'url',
  'status',
  'reason',
  'detail',
  'media_type',
  'width',
  'height',
  'size',
] as const;

/** What is known about the images of a test, without their bytes. */
export async function findImages(db: Db | Tx, testId: string): Promise<StoredImages> {
  const load = await db
    .selectFrom('image_loads')
    .select('loaded_at')
    .where('id', '=', testId)
    .executeTakeFirst();
  if (!load) return { status: 'not_loaded', loadedAt: null, images: [] };
  if (load.loaded_at === null) return { status: 'loading', loadedAt: null, images: [] };
  const images = await db
    .selectFrom('test_images')
    .select(IMAGE_COLUMNS)
    .where('test_id', '=', testId)
    .orderBy('position')
    .execute();
  return { status: 'loaded', loadedAt: load.loaded_at, images };
}

/** The images of a test, at most 10 MB together; null unless someone has loaded them. One query for each image. */
export async function loadedImagesOf(db: Db, testId: string): Promise<LoadedImage[] | null> {
  const { images, status: state } = await findImages(db, testId);
  if (state !== 'loaded') return null;
  const found: LoadedImage[] = [];
  for (const { position, kind, url, status, detail, media_type } of images) {
    const row =
      status === 'loaded'
        ? await db
            .selectFrom('test_images')
            .select('bytes')
            .where('test_id', '=', testId)
            .where('position', '=', position)
            .executeTakeFirst()
        : undefined;
    const bytes = row?.bytes ?? null;
    found.push({ kind, url, status, reason: detail, mediaType: media_type, bytes });
    if (bytes) await nextTurn();
  }
  return found;
}

// Loading.

/** Throws `conflict` or `unavailable` if the images of this test cannot be loaded. */
export async function requireLoadable(app: App, test: TestRow): Promise<void> {
  await requireAnalyzed(app, test);
  await requireSpare(app);
}

/** The message of a test, whose addresses may be requested. Throws `conflict` otherwise. */
export async function requireAnalyzed(app: App, test: TestRow): Promise<MessageRow> {
  if (!app.config.CHECK_LINKS)
    throw new AppError(
      'conflict',
      'This server makes no requests to addresses in messages: DELIVERABILITY_CHECK_LINKS is false.',
    );
  const message = test.checks === null ? undefined : await findMessageOf(app.db, test.id);
  if (!message)
    throw new AppError(
      'conflict',
      'This test has no analyzed message. Wait until it is completed.',
    );
  return message;
}

/** Records the request for the images. Returns false if they were requested before. */
export async function requestImages(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  testId: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('image_loads')
    .values({
      id: testId,
      requested_at: isoTime(clock.now()),
      loaded_at: null,
      lease: null,
      leased_until: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Longer than loading takes. If the process dies meanwhile, the next request after it loads them. */
const LEASE_MS = 120_000;
/** Each load holds up to 10 MB. */
const MAX_CONCURRENT_LOADS = 3;
const loadsOf = memoizePerObject((_: App) => createSemaphore(MAX_CONCURRENT_LOADS));
/** A request waits this long for its turn, or for the load of another request. */
const WAIT_MS = 45_000;

const signalOf = (testId: string): string => `${testId}/images`;

/**
 * Loads the images that were requested, unless this or another node is loading them or has. Resolves when they are
 * loaded, after 45 seconds, or when the client disconnects. Rejects with an AppError `unavailable`.
 */
export async function loadImages(app: App, test: TestRow, abort: AbortSignal): Promise<void> {
  const due = app.db
    .selectFrom('image_loads')
    .select('id')
    .where('id', '=', test.id)
    .where('loaded_at', 'is', null)
    .limit(1);
  const [claimed] = await claimRows(app, { table: 'image_loads', due, leaseMs: LEASE_MS });
  if (claimed) await loadClaimed(app, test, claimed.lease);
  else
    await waitUntil(
      app,
      { name: signalOf(test.id), ms: WAIT_MS, abort },
      () => findImages(app.db, test.id),
      ({ status }) => status !== 'loading',
    );
}

/** Does not end when the client disconnects: others may wait for the images. */
async function loadClaimed(app: App, test: TestRow, lease: string): Promise<void> {
  const semaphore = loadsOf(app);
  try {
    if (!(await semaphore.acquire(AbortSignal.timeout(WAIT_MS))))
      throw new AppError('unavailable', 'Too many images are being loaded. Try again in a minute.');
    try {
      const images = await fetchImages(await listed(app, test), app.web, IMAGE_LIMITS);
      await storeImages(app, { testId: test.id, lease }, images);
    } finally {
      semaphore.release();
    }
  } catch (error) {
    // The next request tries again.
    await transact(app.db, async (tx) => {
      if (await isHeld(tx, { testId: test.id, lease })) await forgetImages(tx, test.id);
    });
    throw error;
  } finally {
    app.signals.raise(signalOf(test.id));
  }
}

async function listed(app: App, test: TestRow): Promise<ListedImage[]> {
  const message = await findMessageOf(app.db, test.id);
  if (!message || test.checks === null) return [];
  const { bytes } = await app.reportRenderer.render({
    kind: 'images',
    message: () => readMessage(app.db, message),
    checks: test.checks,
  });
  return JSON.parse(new TextDecoder().decode(bytes));
}

interface Held {
  testId: string;
  lease: string;
}

/** Whether the images were neither deleted nor claimed by another node since. Locks the claim. */
async function isHeld(tx: Tx, { testId, lease }: Held): Promise<boolean> {
  const query = tx
    .selectFrom('image_loads')
    .select('id')
    .where('id', '=', testId)
    .where('lease', '=', lease);
  return (await lockIn(tx, query).executeTakeFirst()) !== undefined;
}

/** A transaction for each image with bytes, because a longer one would block the process. */
async function storeImages(app: App, held: Held, images: FetchedImage[]): Promise<void> {
  const rows = images.map((image, position) => rowOf(held.testId, image, position));
  const small = rows.filter(({ bytes }) => bytes === null);
  const store = (tx: Tx, some: TestImageRow[]) =>
    some.length === 0 ? undefined : tx.insertInto('test_images').values(some).execute();
  const steps: ((tx: Tx) => Promise<unknown>)[] = [
    async (tx) => {
      // A process that died may have left some.
      await tx.deleteFrom('test_images').where('test_id', '=', held.testId).execute();
      await store(tx, small);
    },
    ...rows.filter(({ bytes }) => bytes).map((row) => async (tx: Tx) => store(tx, [row])),
    (tx) =>
      tx
        .updateTable('image_loads')
        .set({ loaded_at: isoTime(app.clock.now()), lease: null, leased_until: null })
        .where('id', '=', held.testId)
        .execute(),
  ];
  for (const step of steps) {
    const isStillHeld = await transact(app.db, async (tx) => {
      if (!(await isHeld(tx, held))) return false;
      await step(tx);
      return true;
    });
    if (!isStillHeld) return;
    await nextTurn();
  }
}

const rowOf = (
  test_id: string,
  { kind, url, status, reason, detail, file }: FetchedImage,
  position: number,
): TestImageRow => ({
  test_id,
  position,
  kind,
  url,
  status,
  reason,
  detail,
  media_type: file?.mediaType ?? null,
  width: file?.width ?? null,
  height: file?.height ?? null,
  size: file?.bytes.byteLength ?? null,
  bytes: file?.bytes ?? null,
});

/** Deletes the images, so that they can be loaded again. A load that is running stores nothing more. */
export async function forgetImages(tx: Tx, testId: string): Promise<void> {
  await tx.deleteFrom('image_loads').where('id', '=', testId).execute();
  await tx.deleteFrom('test_images').where('test_id', '=', testId).execute();
}
