/** Incidents: opened on the first yes, closed on the first later no, each told of by its rule. */

import type { App } from '../app.ts';
import type { Result } from '../events/results.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';
import type { AlertIncidentRow, AlertRow } from '../store/watching-tables.ts';
import type { Value } from './conditions.ts';
import { dropLateNews } from './drop-late.ts';
import type { Resolution } from './schema.ts';
import type { Teller } from './tell.ts';

/** Nothing where one is open already, as where another result was faster. */
export async function openIncident(
  tx: Tx,
  app: App,
  tell: Teller,
  alert: AlertRow,
  { subject, value, result }: { subject: string; value: Value; result: Result },
): Promise<void> {
  const now = isoTime(app.clock.now());
  const { condition, threshold } = alert;
  const incident: AlertIncidentRow = {
    ...{ id: app.newId('inc'), alert_id: alert.id, subject, condition, threshold },
    status: 'open',
    value: JSON.stringify(value),
    test_id: result.kind === 'test' ? result.test.id : null,
    run_id: result.kind === 'run' ? result.run.id : null,
    opened_at: now,
    ...{ resolved_at: null, resolution: null, closing_id: null },
  };
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('alert_incidents')
    .values(incident)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) return;
  const change = { last_triggered_at: now };
  await tx.updateTable('alerts').set(change).where('id', '=', alert.id).execute();
  await tell.all('triggered', { ...alert, ...change }, incident, result);
}

/** Told by every channel; nothing where it was closed meanwhile. `result`: what ends it, where there is one. */
export async function endIncident(
  tx: Tx,
  app: App,
  tell: Teller,
  alert: AlertRow,
  incident: AlertIncidentRow,
  { resolution, result }: { resolution: Resolution; result: Result | null },
): Promise<void> {
  const [resolved] = await resolveIncidents(tx, app, [incident], resolution);
  if (resolved) await tell.all('resolved', alert, resolved, result);
}

/** Those of these that were open until now, as they are then; their event is up to the caller. */
export async function resolveIncidents(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  incidents: AlertIncidentRow[],
  resolution: Resolution,
): Promise<AlertIncidentRow[]> {
  const now = isoTime(clock.now());
  const ids = incidents.map(({ id }) => id);
  const rows = await tx
    .updateTable('alert_incidents')
    .set(({ fn, val }) => ({
      status: 'resolved' as const,
      // Of one that is closed with many others, these have been known since.
      resolved_at: fn.coalesce('resolved_at', val(now)),
      resolution: fn.coalesce('resolution', val(resolution)),
      closing_id: null,
    }))
    .where('id', 'in', ids)
    .where('status', '=', 'open')
    .returningAll()
    .execute();
  await dropLateNews(tx, ids, resolution);
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
