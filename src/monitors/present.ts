/** From rows to the monitors and runs that the API answers and events carry. */

import type { BlocklistInUse } from '../analysis/reputation/blocklist.ts';
import type { App } from '../app.ts';
import type { MonitorRow, MonitorRunRow } from '../store/watching-tables.ts';
import { uncoveredTargets } from './ask-blocklists.ts';
import type { Changes } from './changes.ts';
import type { Monitor, MonitorRun } from './schema.ts';

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
