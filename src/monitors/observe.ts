/** What a monitor run says about each target of its monitor. */

import type { Config } from '../config/config.ts';
import type { Observed } from '../events/observations.ts';
import type { Tx } from '../store/open.ts';
import type { MonitorRow, MonitorRunRow } from '../store/tables.generated.ts';
import type { Changes, Finding } from './findings.ts';
import { monitorAddress } from './placement-address.ts';
import { MONITOR_ROW } from './queries.ts';

/** What a monitor run says about one of its targets, or about its address. */
export interface RunObservation extends Observed {
  kind: 'run';
  run: MonitorRunRow;
  monitor: MonitorRow;
  findings: Finding[];
  changes: Changes;
}

declare module '../events/observations.ts' {
  interface Observations {
    run: RunObservation;
  }
}

export async function observeRun(
  tx: Tx,
  config: Pick<Config, 'INBOX_DOMAIN'>,
  run: MonitorRunRow,
  monitor: MonitorRow,
): Promise<RunObservation[]> {
  const findings = JSON.parse(run.findings);
  const changes = JSON.parse(run.changes);
  return (await targetsOf(tx, config, monitor)).map((subject) => ({
    kind: 'run',
    subject,
    domainId: monitor.domain_id,
    run,
    monitor,
    findings,
    changes,
  }));
}

/** Its targets, its address, or its domain. */
async function targetsOf(
  tx: Tx,
  config: Pick<Config, 'INBOX_DOMAIN'>,
  monitor: MonitorRow,
): Promise<string[]> {
  const { targets, domain_id } = MONITOR_ROW.decode(monitor);
  const address = monitorAddress(monitor, config);
  if (address !== null) return [address];
  if (targets !== null) return targets;
  const domain = await tx
    .selectFrom('domains')
    .select('name')
    .where('id', '=', domain_id)
    .executeTakeFirst();
  return domain ? [domain.name] : [];
}
