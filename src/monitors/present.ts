/** From rows to the monitors and runs that the API answers and events carry. */

import type { App } from '../app.ts';
import type { MonitorRow, MonitorRunRow } from '../store/watching-tables.ts';
import type { Monitor, MonitorRun } from './schema.ts';

/** Why a placement monitor is never run. */
export const NO_SEEDS =
  'It is not run: there are no seed mailboxes yet in which to look where mail arrives.';

export function presentMonitor(row: MonitorRow, { config }: Pick<App, 'config'>): Monitor {
  const { id, name, type, domain_id, frequency, status, last_run_at, next_run_at } = row;
  return {
    ...{ id, object: 'monitor', name, type, domain_id },
    targets: row.targets === null ? null : JSON.parse(row.targets),
    address: row.token === null ? null : `${row.token}@${config.INBOX_DOMAIN}`,
    frequency,
    enabled: row.enabled === 1,
    status,
    detail: type === 'placement' ? NO_SEEDS : null,
    ...{ last_run_at, next_run_at },
    created_at: row.created_at,
  };
}

export function presentRun(row: MonitorRunRow): MonitorRun {
  const { id, monitor_id, started_at, finished_at, status } = row;
  return {
    ...{ id, object: 'monitor_run', monitor_id, started_at, finished_at, status },
    findings: JSON.parse(row.findings),
    changes: JSON.parse(row.changes),
  };
}
