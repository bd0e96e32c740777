/** Which domains are broken now, the worst first: read from the same sources as their pictures. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { App } from '../app.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { type Db, inSnapshot } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { dnsReport } from './dns.ts';
import { feedbackReport } from './feedback.ts';
import type { SourceReport } from './findings.ts';
import { pictureOf } from './picture.ts';
import { placementReport } from './placement.ts';
import { daysAgo, RECENT_DAYS, type Reading } from './reading.ts';
import { receiversReport } from './receivers.ts';
import type { Picture } from './schema.ts';
import { type StoredSource, suspectDomains } from './suspects.ts';
import { findingsOf, latestIds, readTests, senderOf } from './tests.ts';

type Source = Pick<App, 'db' | 'clock' | 'config'>;

export interface BrokenDomains {
  pictures: Picture[];
  /** How many more are broken. */
  more: number;
}

type ListedDomain = Pick<DomainRow, 'id' | 'name' | 'status' | 'missing_since'>;

/**
 * Domains whose picture fails, and domains that lost their verification or are about to. With hundreds of domains, only the
 * returned ones are read in full. For the others, the cost of their worst failure is enough.
 */
export async function brokenDomains(app: Source, limit: number): Promise<BrokenDomains> {
  const suspects = await inSnapshot(app.db, (db) => suspectDomains({ ...app, db }));
  const domains: ListedDomain[] = await app.db
    .selectFrom('domains')
    .select(['id', 'name', 'status', 'missing_since'])
    .execute();
  const found: { id: string; name: string; cost: number }[] = [];
  for (const domain of domains) {
    const cost = await costOf(app, domain, suspects.get(domain.id) ?? new Set());
    if (cost > 0) found.push({ id: domain.id, name: domain.name, cost });
    // Requests are served in between.
    await yieldToEventLoop();
  }
  const worst = found
    .toSorted((a, b) => b.cost - a.cost || (a.name < b.name ? -1 : 1))
    .slice(0, limit);
  const pictures: Picture[] = [];
  for (const { id } of worst) {
    const row = await domainOf(app, id);
    if (row) pictures.push(await pictureOf(app, row));
  }
  return { pictures, more: found.length - worst.length };
}

const domainOf = ({ db }: Pick<Source, 'db'>, id: string): Promise<DomainRow | undefined> =>
  db.selectFrom('domains').selectAll().where('id', '=', id).executeTakeFirst();

const REPORTS: Record<StoredSource, (reading: Reading) => Promise<SourceReport>> = {
  dns: dnsReport,
  placement: placementReport,
  feedback: feedbackReport,
  receivers: receiversReport,
};

/** What the worst problem of a broken domain costs; 0 if it is not broken. */
async function costOf(
  app: Source,
  { id, status, missing_since }: ListedDomain,
  suspected: Set<StoredSource>,
): Promise<number> {
  const ofTests = await worstOfTests(app, id);
  const domain = suspected.size === 0 ? undefined : await domainOf(app, id);
  const costs = [ofTests];
  if (domain)
    await inSnapshot(app.db, async (db) => {
      for (const source of suspected) {
        const { findings } = await REPORTS[source]({ ...app, db, domain });
        costs.push(...findings.map(({ state, problem }) => (state === 'fail' ? problem!.cost : 0)));
      }
    });
  const worst = Math.max(...costs);
  if (worst > 0 || (status !== 'failed' && missing_since === null)) return worst;
  // Without a failure, warnings decide, and any source may have some.
  const row = await domainOf(app, id);
  return row ? ((await pictureOf(app, row)).problems[0]?.cost ?? 0) : 0;
}

// What the worst failure in the latest tests costs. The result of a test never changes, so it is read once.

/** By the ID of the test and the time of its result: a reanalysis has another. */
const costsOf = memoizePerObject((_: Db) => new Map<string, number>());
const MAX_REMEMBERED = 20_000;

/** 0 without a failure. As in the report of all tests, the latest one of each sender counts. */
async function worstOfTests(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  domainId: string,
): Promise<number> {
  const rows = await db
    .selectFrom('tests')
    .select(['id', 'name', 'from_address', 'completed_at'])
    .where('id', 'in', latestIds(db, domainId))
    .where('completed_at', '>=', daysAgo({ clock }, RECENT_DAYS))
    .where('checks', 'is not', null)
    .orderBy('id', 'desc')
    .execute();
  const costs = costsOf(db);
  const keyOf = ({ id, completed_at }: { id: string; completed_at: string | null }) =>
    `${id} ${completed_at}`;
  const latest = [...Map.groupBy(rows, senderOf).values()].map(([newest]) => newest!);
  const unread = latest.filter((row) => !costs.has(keyOf(row)));
  for (const test of await readTests(
    db,
    unread.map(({ id }) => id),
    '',
  )) {
    if (costs.size >= MAX_REMEMBERED) costs.clear();
    const failures = findingsOf([test]).filter(({ state }) => state === 'fail');
    costs.set(keyOf(test), Math.max(0, ...failures.map(({ problem }) => problem!.cost)));
  }
  return Math.max(0, ...latest.map((row) => costs.get(keyOf(row)) ?? 0));
}
