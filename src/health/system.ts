/** Facts about the running service for its administrators: versions, nodes, queues, sizes, and counts. */

import { type SelectQueryBuilder, sql } from 'kysely';
import { RULESET } from '../analysis/ruleset.ts';
import type { App } from '../app.ts';
import { type Share, sharesOf } from '../feedback/storage/shares.ts';
import { storageUsage } from '../feedback/storage/usage.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { SCHEMA_VERSION } from '../store/migrations/index.ts';
import { type Db, engineOf } from '../store/open.ts';
import { otherNodes } from '../store/postgres/sessions.ts';
import { type DatabaseFacts, describeDatabase } from './database.ts';
import { type Dependency, probeDependencies } from './dependencies.ts';

export interface SystemFacts {
  /** The name of this node. */
  node: string;
  /** ISO time. The facts are up to a few seconds old. */
  checkedAt: string;
  dependencies: Dependency[];
  database: DatabaseFacts & {
    /** In bytes, with its log; null if it is not known. */
    size: number | null;
    /** Bytes free on the disk of an SQLite file; null for other databases. */
    free: number | null;
  };
  /** Null if it is not known. */
  feedbackShares: Share[] | null;
  versions: { ruleset: string; schema: number };
  /** The names of the other nodes; null if this node cannot know them. */
  otherNodes: string[] | null;
  /** Null while the database does not respond. */
  work: WorkFacts | null;
  /** Null while the database does not respond. */
  counts: Count[] | null;
}

export interface WorkFacts {
  outbox: {
    queued: Tally;
    /** ISO time at which the email that waits longest was queued; null if none waits. */
    oldestQueuedAt: string | null;
    failedLastDay: Tally;
  };
  tests: {
    waitingForMail: Tally;
    waitingForAnalysis: Tally;
    /** ISO time since when an analysis is due; null if none is. */
    oldestDueAt: string | null;
  };
  deliveries: { pending: Tally; failed: Tally; held: Tally };
}

/** A number of rows, counted up to a limit. */
export interface Tally {
  count: number;
  /** There are more. */
  isCapped: boolean;
}

export interface Count extends Tally {
  name: string;
}

/** Several administrators may keep the page open. */
const CACHE_MS = 5_000;
const TIMEOUT_MS = 2_000;

interface Cached {
  at: number;
  facts: Promise<SystemFacts>;
}

const cacheOf = memoizePerObject((_: App): { current: Cached | null } => ({ current: null }));

/** Never rejects: facts that cannot be determined are null. Reads them at most once in a few seconds. */
export function describeSystem(app: App): Promise<SystemFacts> {
  const cache = cacheOf(app);
  const now = app.clock.now();
  const { current } = cache;
  if (current && now >= current.at && now - current.at < CACHE_MS) return current.facts;
  cache.current = { at: now, facts: readFacts(app) };
  return cache.current.facts;
}

async function readFacts(app: App): Promise<SystemFacts> {
  const { db, config, node } = app;
  const isPostgres = engineOf(db) === 'postgres';
  const [dependencies, database, size, disk, storage, nodes, work, counts] = await Promise.all([
    probeDependencies(app),
    describeDatabase(db),
    orNull(databaseSize(db)),
    orNull(app.disk()),
    orNull(storageUsage(app)),
    isPostgres && !config.DATABASE_NOTIFY ? null : orNull(isPostgres ? otherNodes(db, node) : []),
    orNull(readWork(app)),
    orNull(readCounts(db)),
  ]);
  return {
    node,
    checkedAt: isoTime(app.clock.now()),
    dependencies,
    database: {
      ...database,
      size,
      free: disk !== null && Number.isFinite(disk.free) ? disk.free : null,
    },
    feedbackShares: storage && sharesOf(storage),
    versions: { ruleset: RULESET, schema: SCHEMA_VERSION },
    otherNodes: nodes,
    work,
    counts,
  };
}

/** Null if it fails or takes too long: the page is for finding out what is wrong. */
async function orNull<T>(value: Promise<T> | T): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, TIMEOUT_MS, null);
  const result = Promise.resolve(value).catch(() => null);
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}

async function databaseSize(db: Db): Promise<number> {
  const query =
    engineOf(db) === 'postgres'
      ? sql<{ size: number }>`select pg_database_size(current_database()) as size`
      : sql<{ size: number }>`
          select page_count * page_size as size from pragma_page_count(), pragma_page_size()`;
  const { rows } = await query.execute(db);
  return Number(rows[0]!.size);
}

// Queues.

const MAX_QUEUED = 1_000;

async function readWork({ db, clock }: App): Promise<WorkFacts> {
  const yesterday = isoTime(clock.now() - DAY_MS);
  const queued = db.selectFrom('outbox').where('due_at', 'is not', null);
  const due = db.selectFrom('tests').where('analysis_due_at', 'is not', null);
  const waiting = db.selectFrom('tests').where('status', '=', 'waiting');
  const failed = db
    .selectFrom('outbox')
    .where('created_at', '>=', yesterday)
    .where('status', '=', 'failed');
  // By endpoint, as the index is.
  const endpoints = db.selectFrom('webhook_endpoints').select('id').where('deleted_at', 'is', null);
  const deliveries = (status: 'pending' | 'failed' | 'held') =>
    tally(
      db,
      db
        .selectFrom('webhook_deliveries')
        .where('endpoint_id', 'in', endpoints)
        .where('status', '=', status),
    );
  const oldestQueued = await queued
    .select(({ fn }) => fn.min('created_at').as('at'))
    .executeTakeFirstOrThrow();
  const oldestDue = await due
    .select(({ fn }) => fn.min('analysis_due_at').as('at'))
    .executeTakeFirstOrThrow();
  return {
    outbox: {
      queued: await tally(db, queued),
      oldestQueuedAt: oldestQueued.at,
      failedLastDay: await tally(db, failed),
    },
    tests: {
      waitingForMail: await tally(db, waiting),
      waitingForAnalysis: await tally(db, due),
      oldestDueAt: oldestDue.at,
    },
    deliveries: {
      pending: await deliveries('pending'),
      failed: await deliveries('failed'),
      held: await deliveries('held'),
    },
  };
}

/** Stops at the limit, so that a large table takes no longer. */
async function tally<DB, TB extends keyof DB>(
  db: Db,
  rows: SelectQueryBuilder<DB, TB, object>,
  max = MAX_QUEUED,
): Promise<Tally> {
  const some = rows
    .clearSelect()
    .select(sql<number>`1`.as('one'))
    .limit(max + 1);
  const { rows: found } = await sql<{ count: number }>`
    select count(*) as count from ${some} as found_rows`.execute(db);
  const count = Number(found[0]!.count);
  return { count: Math.min(count, max), isCapped: count > max };
}

// Objects.

const COUNTED = [
  ['Tests', 'tests'],
  ['Domains', 'domains'],
  ['Monitors', 'monitors'],
  ['Alert rules', 'alerts'],
  ['Shared links', 'shared_reports'],
  ['Report schedules', 'report_schedules'],
  ['Webhook endpoints', 'webhook_endpoints'],
  ['Webhook deliveries', 'webhook_deliveries'],
  ['Events', 'events'],
  ['Audit log entries', 'audit_log'],
  ['Members', 'members'],
  ['API keys', 'api_keys'],
] as const;

/** An exact count of more rows would block an SQLite database for too long. */
const MAX_COUNTED = 10_000;

async function readCounts(db: Db): Promise<Count[]> {
  const counts: Count[] = [];
  for (const [name, table] of COUNTED) {
    let rows = db.selectFrom(table as 'tests');
    if (name === 'API keys') rows = rows.where('revoked_at' as 'id', 'is', null as never);
    if (name === 'Webhook endpoints') rows = rows.where('deleted_at' as 'id', 'is', null as never);
    counts.push({ name, ...(await tally(db, rows, MAX_COUNTED)) });
  }
  return counts;
}
