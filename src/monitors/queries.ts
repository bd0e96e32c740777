/** Monitors and their runs in the database: found and listed. */

import type { BlocklistInUse } from '../analysis/blocklists/blocklist.ts';
import type { App } from '../app.ts';
import { type Page, pageOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MonitorRow, MonitorRunRow } from '../store/tables.generated.ts';
import { uncoveredTargets } from './check-blocklists.ts';
import type { Changes } from './findings.ts';
import type { Monitor, MonitorRun } from './schema.ts';

/** Throws `not_found`. */
export async function monitorOr404(db: Db | Tx, id: string): Promise<MonitorRow> {
  const row = await db.selectFrom('monitors').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no monitor with this id.');
  return row;
}

/** One page, newest first. */
export async function listMonitors(db: Db, page: Page) {
  return pageOf(db.selectFrom('monitors').selectAll(), page);
}

const runsOf = (db: Db | Tx, monitorId: string) =>
  db.selectFrom('monitor_runs').selectAll().where('monitor_id', '=', monitorId);

/** One page, newest first. */
export async function listRuns(db: Db, monitorId: string, page: Page) {
  return pageOf(runsOf(db, monitorId), page);
}

/** Undefined before the first. */
export async function lastRun(db: Db | Tx, monitorId: string): Promise<MonitorRunRow | undefined> {
  return runsOf(db, monitorId).orderBy('id', 'desc').limit(1).executeTakeFirst();
}

// From rows to the monitors and runs that the API answers and events carry.

/** Why a placement monitor is never run. */
export const NO_SEEDS =
  'It is not run and has no address yet: there are no seed mailboxes in which to look where mail arrives.';

export function presentMonitor(row: MonitorRow, { blocklists }: Pick<App, 'blocklists'>): Monitor {
  const { id, name, type, domain_id, frequency, status, last_run_at, next_run_at } = row;
  return {
    ...{ id, object: 'monitor', name, type, domain_id },
    targets: row.targets === null ? null : JSON.parse(row.targets),
    // Mail to it would be refused.
    address: null,
    frequency,
    enabled: row.enabled === 1,
    status,
    detail: type === 'placement' ? NO_SEEDS : uncovered(row, blocklists.known()),
    ...{ last_run_at, next_run_at },
    created_at: row.created_at,
  };
}

const TARGETS_NAMED = 5;

/** Null where each target is looked at. */
function uncovered({ targets }: MonitorRow, lists: BlocklistInUse[]): string | null {
  // Of a domain it does not matter which.
  const all: string[] = targets === null ? ['example.com'] : JSON.parse(targets);
  const open = uncoveredTargets(all, lists);
  if (open.length === 0) return null;
  const more = open.length - TARGETS_NAMED;
  const names = open.slice(0, TARGETS_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const what = targets === null ? 'the name of the domain' : names;
  return `Whether ${what} is listed is not known: no blocklist that counts and is asked about such a target is switched on (DELIVERABILITY_BLOCKLISTS).`;
}

export function presentRun(row: MonitorRunRow): MonitorRun {
  const { id, monitor_id, started_at, finished_at, status } = row;
  const { targets = [], ...changes }: Changes = JSON.parse(row.changes);
  return {
    ...{ id, object: 'monitor_run', monitor_id, started_at, finished_at, status },
    targets: targets.map(({ target, known }) => ({ target, known })),
    findings: JSON.parse(row.findings),
    changes,
  };
}
