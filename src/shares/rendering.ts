/** Renders shared reports as HTML, PDF and JSON. Readers who open a report at about the same time share one rendering. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import { brandOf } from '../brand/feature.ts';
import { responseFilter } from '../http/response.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { presentListed, storedReport } from '../mailtests/present.ts';
import { findTest } from '../mailtests/queries.ts';
import { storedMessage } from '../mailtests/report.ts';
import { statusOf, taggedDomains } from '../picture/status.ts';
import { redactStoredReport } from '../report/redact.ts';
import { TOO_MANY_REPORTS } from '../report/renderer.ts';
import type { Rendered, ReportFormat, SharedReport, StoredShare } from '../report/report.ts';
import type { SharedReportRow, TestRow } from '../store/tables.generated.ts';
import { sharedTestIds, tagsOf, testsVersion } from './queries.ts';
import { PublicTest, publicDomain } from './schema.ts';

export type ShareFormat = ReportFormat | 'json';

interface Renderings {
  cache: RenderCache;
  /** By their cache key. */
  pending: Map<string, Promise<Rendered>>;
  /** The last rendering in the JSON queue. They run one at a time, as in the render thread. */
  lastJson: Promise<unknown>;
  /** The number of JSON renderings that are running or waiting. */
  queuedJson: number;
}

const renderings = memoizePerObject(
  (app: App): Renderings => ({
    cache: createRenderCache(app.clock),
    pending: new Map(),
    lastJson: Promise.resolve(),
    queuedJson: 0,
  }),
);

/** Renders once for all concurrent readers, so that a popular link does not block other reports. Rejects as the reporter does. */
export async function renderShare(
  app: App,
  row: SharedReportRow,
  format: ShareFormat,
): Promise<Rendered> {
  const { cache, pending } = renderings(app);
  const key = await cacheKey(app, row, format);
  const existing = cache.get(key) ?? pending.get(key);
  if (existing) return existing;
  const rendering = render(app, row, format)
    .then((rendered) => {
      cache.set(key, rendered);
      return rendered;
    })
    .finally(() => pending.delete(key));
  pending.set(key, rendering);
  return rendering;
}

/** The cached rendering; null if there is none. */
export async function cachedShare(
  app: App,
  row: SharedReportRow,
  format: ShareFormat,
): Promise<Rendered | null> {
  return renderings(app).cache.get(await cacheKey(app, row, format));
}

/**
 * Changes when a test is reanalyzed, renamed or deleted, and when its images are loaded or deleted. Also when domains get or
 * lose the tags of the link, and with the brand.
 */
async function cacheKey({ db }: App, row: SharedReportRow, format: ShareFormat): Promise<string> {
  const { id, preview } = row;
  const tags = tagsOf(row);
  const content = tags ? JSON.stringify(await taggedDomains(db, tags)) : await testsVersion(db, id);
  const brand = JSON.stringify(await brandOf(db));
  return `${id} ${format} ${preview} ${sha256(`${content} ${brand}`)}`;
}

// Ignores the abort signal of the first reader, because others may wait for the same rendering.
async function render(app: App, row: SharedReportRow, format: ShareFormat): Promise<Rendered> {
  if (format !== 'json') {
    const { title, created_at, expires_at } = row;
    const brand = await brandOf(app.db);
    const tags = tagsOf(row);
    // Read before the thread is asked, because there may be hundreds of domains.
    const status = tags && (await statusOf(app, tags));
    return app.reportRenderer.render({
      kind: 'shared',
      format,
      shared: async () =>
        status
          ? { title, created_at, expires_at, brand, status, reports: [], deletedTests: 0 }
          : { ...(await storedShare(app, row)), brand },
    });
  }
  return { bytes: await runInJsonQueue(renderings(app), () => publicJson(app, row)), policy: null };
}

const MAX_QUEUED_JSON = 10;

async function runInJsonQueue<T>(queue: Renderings, work: () => Promise<T>): Promise<T> {
  if (queue.queuedJson >= MAX_QUEUED_JSON) throw new AppError('unavailable', TOO_MANY_REPORTS);
  queue.queuedJson += 1;
  const result = queue.lastJson.then(work);
  queue.lastJson = result.catch(() => {});
  try {
    return await result;
  } finally {
    queue.queuedJson -= 1;
  }
}

// The content of a shared report: stored reports for the render thread, or redacted JSON.

type Context = Pick<App, 'db' | 'config' | 'clock'>;

/** The input of the render thread, which redacts it. */
async function storedShare(app: Context, row: SharedReportRow): Promise<StoredShare> {
  const { title, created_at, expires_at } = row;
  const reports: SharedReport[] = [];
  let deletedTests = 0;
  for await (const test of testsOf(app, row))
    if (test) reports.push(sharedReport(test, app));
    else deletedTests += 1;
  const [first] = reports;
  if (first && reports.length === 1 && row.preview !== 'none')
    first.message = await storedMessage(app, first.id!, row.preview === 'with_images');
  return { title, created_at, expires_at, reports, deletedTests };
}

/** A `PublicReport` as JSON. Yields to other work after each test, because tests may be large. */
export async function publicJson(app: Context, row: SharedReportRow): Promise<Uint8Array> {
  const { title, created_at, expires_at } = row;
  const tests: Buffer[] = [];
  let deleted_tests = 0;
  for await (const test of testsOf(app, row)) {
    if (test) {
      const text = JSON.stringify(publicTest(test, app));
      tests.push(Buffer.from(tests.length === 0 ? text : `,${text}`));
    } else deleted_tests += 1;
    await nextTurn();
  }
  const object = 'public_report';
  const head = JSON.stringify({ object, title, created_at, expires_at, deleted_tests });
  const tags = tagsOf(row);
  const domains = tags && (await statusOf(app, tags)).domains.map(publicDomain);
  return Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"tests":[`),
    ...tests,
    Buffer.from(`],"domains":${JSON.stringify(domains)}}`),
  ]);
}

/** The tests in the order in which they were shared; null for each deleted test. */
async function* testsOf({ db }: Context, { id, livemode }: SharedReportRow) {
  const ids = (await sharedTestIds(db, [id])).get(id)!;
  for (const testId of ids) {
    const test = await findTest(db, testId, livemode === 1);
    yield test?.checks == null ? null : test;
  }
}

/** Without the message. */
export function sharedReport(row: TestRow, { config }: Pick<App, 'config'>): SharedReport {
  const { address, token, seed_addresses } = presentListed(row, config, []);
  const seeds = seed_addresses.map((seed) => seed.address);
  return { ...storedReport(row, { config }), conceal: [address, token, ...seeds], message: null };
}

const filterPublic = responseFilter(PublicTest);

/** Drops every field that `PublicTest` does not declare. */
function publicTest(row: TestRow, app: Context): unknown {
  const report = redactStoredReport(sharedReport(row, app));
  return filterPublic({ ...presentListed(row, app.config, []), ...report });
}

// A cache of renderings, so that repeated reads within a minute cost nothing.

/** Recipients of one email tend to open its link within this time. */
const CACHE_TTL_MS = 60_000;
const MAX_CACHE_ENTRIES = 40;
const MAX_CACHE_BYTES = 64 * 1024 * 1024;

interface CacheEntry {
  rendered: Rendered;
  expiresAt: number;
}

interface RenderCache {
  get(key: string): Rendered | null;
  /** Evicts the oldest entries to make space. Does nothing for a rendering larger than the whole cache. */
  set(key: string, rendered: Rendered): void;
}

export function createRenderCache(clock: App['clock'], maxBytes = MAX_CACHE_BYTES): RenderCache {
  const entries = new Map<string, CacheEntry>();
  let bytes = 0;

  function remove(key: string): void {
    bytes -= entries.get(key)!.rendered.bytes.byteLength;
    entries.delete(key);
  }

  /** Entries are in the order of their expiry, because all have the same lifetime. */
  function removeExpired(): void {
    for (const [key, { expiresAt }] of entries)
      if (expiresAt <= clock.now()) remove(key);
      else return;
  }

  return {
    get(key) {
      removeExpired();
      return entries.get(key)?.rendered ?? null;
    },
    set(key, rendered) {
      removeExpired();
      const size = rendered.bytes.byteLength;
      if (size > maxBytes) return;
      if (entries.has(key)) remove(key);
      for (const oldest of entries.keys()) {
        if (entries.size < MAX_CACHE_ENTRIES && bytes + size <= maxBytes) break;
        remove(oldest);
      }
      entries.set(key, { rendered, expiresAt: clock.now() + CACHE_TTL_MS });
      bytes += size;
      // Frees the memory even if there are no further requests.
      setTimeout(removeExpired, CACHE_TTL_MS + 1000).unref();
    },
  };
}
