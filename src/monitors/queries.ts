/** Monitors and their runs: queries, and their JSON for the API and events. */

import type { BlocklistInUse } from '../analysis/blocklists/blocklist.ts';
import type { App } from '../app.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { seedAddress } from '../mailtests/placement.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import { rowCodec } from '../store/row-codec.ts';
import type { MonitorRow, MonitorRunRow } from '../store/tables.generated.ts';
import { uncoveredTargets } from './check-blocklists.ts';
import type { Changes } from './findings.ts';
import { monitorAddress } from './placement-address.ts';
import type { Monitor, MonitorListQuery, MonitorRun } from './schema.ts';

export const MONITOR_ROW = rowCodec<MonitorRow, { targets: string[] | null; enabled: boolean }>({
  targets: 'json',
  enabled: 'boolean',
});

/** Throws `not_found`. */
export async function monitorOr404(db: Db | Tx, id: string): Promise<MonitorRow> {
  const query = db.selectFrom('monitors').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such monitor.');
  return row;
}

/** One page of the matching monitors, newest first. */
export async function listMonitors(db: Db, { status, domain_id, ...page }: MonitorListQuery) {
  const all = db.selectFrom('monitors').selectAll();
  let query = all;
  if (status) query = query.where('status', '=', status);
  if (domain_id) query = query.where('domain_id', '=', domain_id);
  return fetchPage(query, page, all);
}

/** The number of monitors by status. */
export async function countMonitors(
  db: Db,
): Promise<Partial<Record<MonitorRow['status'], number>>> {
  const rows = await db
    .selectFrom('monitors')
    .select('status')
    .select(({ fn }) => fn.countAll().as('count'))
    .groupBy('status')
    .execute();
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
}

const runsOf = (db: Db | Tx, monitorId: string) =>
  db.selectFrom('monitor_runs').selectAll().where('monitor_id', '=', monitorId);

/** One page, newest first. */
export async function listRuns(db: Db, monitorId: string, page: Page) {
  return fetchPage(runsOf(db, monitorId), page);
}

/** Undefined before the first run. */
export async function lastRun(db: Db | Tx, monitorId: string): Promise<MonitorRunRow | undefined> {
  return runsOf(db, monitorId).orderBy('id', 'desc').limit(1).executeTakeFirst();
}

// The JSON of monitors and runs, in the API and in events.

const NO_SEEDS =
  'This monitor cannot run, because no seed mailboxes are configured (DELIVERABILITY_SEED_MAILBOXES). Its address rejects messages.';

export function presentMonitor(
  row: MonitorRow,
  { blocklists, config }: Pick<App, 'blocklists' | 'config'>,
): Monitor {
  const { id, name, type, domain_id, targets, frequency, enabled, status } =
    MONITOR_ROW.decode(row);
  const { last_run_at, next_run_at, created_at, token } = row;
  const seeds = config.SEED_MAILBOXES;
  return {
    id,
    object: 'monitor',
    name,
    type,
    domain_id,
    targets,
    address: monitorAddress(row, config),
    seed_addresses:
      token === null
        ? []
        : seeds.map((seed) => ({ provider: seed.provider, address: seedAddress(seed, token) })),
    frequency,
    enabled,
    status,
    detail:
      type === 'placement'
        ? seeds.length === 0
          ? NO_SEEDS
          : null
        : coverageProblem(targets, blocklists.snapshot()),
    last_run_at,
    next_run_at,
    created_at,
  };
}

const MAX_NAMED_TARGETS = 5;

/** Null if a tier 1 or 2 blocklist covers each target. */
function coverageProblem(targets: string[] | null, lists: BlocklistInUse[]): string | null {
  // Coverage depends on the kind of target only, so any name stands for a domain.
  const uncovered = uncoveredTargets(targets ?? ['example.com'], lists);
  if (uncovered.length === 0) return null;
  const more = uncovered.length - MAX_NAMED_TARGETS;
  const names =
    uncovered.slice(0, MAX_NAMED_TARGETS).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const subject = targets === null ? 'the domain name' : names;
  return `Cannot determine whether ${subject} is listed: no enabled tier 1 or 2 blocklist covers this kind of target (DELIVERABILITY_BLOCKLISTS).`;
}

export function presentRun(row: MonitorRunRow): MonitorRun {
  const { id, monitor_id, started_at, finished_at, status } = row;
  const { targets, placement, ...changes }: Changes = JSON.parse(row.changes);
  return {
    id,
    object: 'monitor_run',
    monitor_id,
    started_at,
    finished_at,
    status,
    targets: targets.map(({ target, known }) => ({ target, known })),
    findings: JSON.parse(row.findings),
    changes,
    placement: placement ?? null,
  };
}
