/**
 * Keeps the digests of domains current. What features write events and observations about is read again within seconds, and
 * everything within the hour, because some statements also change with time.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { App } from '../app.ts';
import { domainRemoved } from '../domains/change-domain.ts';
import { findDomain } from '../domains/queries.ts';
import { eventAppended } from '../events/events.ts';
import { observed } from '../events/observations.ts';
import { isoTime, monotonicClock } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { errorMessage } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { DatabaseUnavailableError } from '../store/errors.ts';
import { afterCommit, type Db, isLimited, transact } from '../store/open.ts';
import { type Subscription, subscribe } from '../store/subscribers.ts';
import type { DomainDigestRow, DomainRow } from '../store/tables.generated.ts';
import { readDigest, type Source } from './digest.ts';
import { presentDigest } from './queries.ts';
import type { TableRow } from './schema.ts';

/** A page waits for so few. With more, it shows what is stored, and the job reads them. */
const MAX_BEFORE_PAGE = 5;
/** With more domains, comparing all with their digests takes longer than a page may, and only those that changed are read. */
const MAX_COMPARED = 1_000;
/** The job leaves most of the time to other work. */
const MAX_RUN_MS = 1_000;
const BATCH = 25;

/** Domains about which something was stored since their digest was read. A hint: it only makes them due earlier. */
const changedOf = memoizePerObject((_: Db) => new Set<string>());

/** The IDs of domains to read: those that changed, those never read, then the oldest. */
async function dueDomains({ db, clock }: Source, limit: number): Promise<string[]> {
  const now = isoTime(clock.now());
  const hourAgo = isoTime(clock.now() - HOUR_MS);
  const changed = [...changedOf(db)].slice(0, limit);
  const rows = await db
    .selectFrom('domains')
    .leftJoin('domain_digests as digest', 'digest.id', 'domains.id')
    .select('domains.id')
    .where(({ and, eb, or, ref }) =>
      or([
        eb('digest.read_at', 'is', null),
        eb('digest.read_at', '<=', hourAgo),
        // Written before the clock was set back.
        eb('digest.read_at', '>', now),
        ...(['domains.health_checked_at', 'domains.last_checked_at'] as const).map((column) =>
          // The same for a later time.
          and([eb(column, '>', ref('digest.read_at')), eb(column, '<=', now)]),
        ),
      ]),
    )
    .orderBy(({ eb }) => eb('digest.read_at', 'is not', null))
    .orderBy('digest.read_at')
    .limit(limit)
    .execute();
  return [...new Set([...changed, ...rows.map(({ id }) => id)])].slice(0, limit);
}

type Refreshed = Source & Partial<Pick<App, 'log'>>;

async function refresh(app: Refreshed, ids: string[]): Promise<number> {
  const digests: DomainDigestRow[] = [];
  for (const id of ids) {
    changedOf(app.db).delete(id);
    const domain = await findDomain(app.db, id);
    if (domain) digests.push(...(await tryToRead(app, domain)));
    // Requests are served in between.
    await yieldToEventLoop();
  }
  if (digests.length > 0) await transact(app.db, (tx) => store(tx, digests));
  return digests.length;
}

/** An error in one domain must not block the others. */
async function tryToRead(app: Refreshed, domain: DomainRow): Promise<DomainDigestRow[]> {
  try {
    return [await readDigest(app, domain)];
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) throw error;
    app.log?.error('could not read a domain for the table', {
      domain: domain.id,
      error: errorMessage(error),
      fault: error instanceof Error ? error.stack : undefined,
    });
    return [];
  }
}

async function store(tx: Parameters<typeof findDomain>[0], digests: DomainDigestRow[]) {
  // A domain may have been deleted meanwhile.
  for (const digest of digests)
    if (await findDomain(tx, digest.id))
      await tx
        .insertInto('domain_digests')
        .values(digest)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(digest))
        .execute();
}

/** Reads due domains until none is left that can be read, or for a second. */
export async function refreshDue(app: Refreshed): Promise<void> {
  const endsAt = monotonicClock.now() + MAX_RUN_MS;
  while (monotonicClock.now() < endsAt) {
    const ids = await dueDomains(app, BATCH);
    if (ids.length === 0 || (await refresh(app, ids)) === 0) return;
  }
}

/**
 * Before a page: if only a few domains are due, it shows them as they are now. A limited caller sees what is stored: what they
 * could read would be stored for the whole team.
 */
export async function refreshFew(app: Source & Pick<App, 'log'>): Promise<void> {
  if (isLimited(app.db)) return;
  const { count } = await app.db
    .selectFrom('domains')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  const ids =
    Number(count) > MAX_COMPARED
      ? [...changedOf(app.db)]
      : await dueDomains(app, MAX_BEFORE_PAGE + 1);
  if (ids.length === 0 || ids.length > MAX_BEFORE_PAGE) return;
  // What is stored can be shown, even if nothing can be written.
  await refresh(app, ids).catch((error) =>
    app.log.warn('could not refresh domains', { error: errorMessage(error) }),
  );
}

/** Rows without a digest, or with one that is hidden from the caller, as the caller sees them. At most some of a page. */
export async function readMissing(app: Refreshed, rows: TableRow[]): Promise<TableRow[]> {
  if (!isLimited(app.db)) return rows;
  const missing = rows.filter(({ read_at }) => read_at === null).slice(0, BATCH);
  const read = new Map<string, ReturnType<typeof presentDigest>>();
  for (const { id } of missing) {
    const domain = await findDomain(app.db, id);
    const [digest] = domain ? await tryToRead(app, domain) : [];
    if (digest) read.set(id, presentDigest(digest));
    await yieldToEventLoop();
  }
  return rows.map((row) => ({ ...row, ...read.get(row.id) }));
}

export const refreshJob = (app: App): Job => ({
  name: 'domain-table.refresh',
  tick: '*/10 * * * * *',
  run: () => refreshDue(app),
});

const domainIn = ({ type, data }: { type: string; data: string }): string | null => {
  const { id, domain_id } = JSON.parse(data) as { id?: string; domain_id?: string | null };
  return (type.startsWith('domain.') ? id : domain_id) ?? null;
};

export function refreshSubscriptions(app: App): Subscription[] {
  const changed = (id: string | null) => () => {
    if (id !== null) changedOf(app.db).add(id);
  };
  return [
    subscribe(eventAppended, async (tx, event) => afterCommit(tx, changed(domainIn(event)))),
    subscribe(observed, async (tx, observations) => {
      for (const { domainId } of observations) afterCommit(tx, changed(domainId));
    }),
    subscribe(domainRemoved, async (tx, { id }) => {
      await tx.deleteFrom('domain_digests').where('id', '=', id).execute();
    }),
  ];
}
