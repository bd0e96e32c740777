/** Incidents: opened on the first yes, closed on the first later no or with their rule, each with its event. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/append.ts';
import type { Result } from '../events/results.ts';
import { isoTime } from '../lib/clock.ts';
import { presentListed } from '../mailtests/present.ts';
import { presentRun } from '../monitors/present.ts';
import type { Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';
import type { AlertIncidentRow, AlertRow, MonitorRunRow } from '../store/watching-tables.ts';
import { channelsOf, endpointsWanting } from './channels.ts';
import type { Value } from './conditions.ts';
import { queueNotifications } from './notifications.ts';
import { presentAlert } from './present.ts';
import { alertStates, presentIncidents } from './queries.ts';
import type { Resolution } from './schema.ts';

/** Nothing where one is open already, as where another result was faster. */
export async function openIncident(
  tx: Tx,
  app: App,
  alert: AlertRow,
  { subject, value, result }: { subject: string; value: Value; result: Result },
): Promise<void> {
  const now = isoTime(app.clock.now());
  const incident: AlertIncidentRow = {
    id: app.newId('inc'),
    alert_id: alert.id,
    subject,
    status: 'open',
    value: JSON.stringify(value),
    test_id: result.kind === 'test' ? result.test.id : null,
    run_id: result.kind === 'run' ? result.run.id : null,
    opened_at: now,
    resolved_at: null,
    resolution: null,
  };
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('alert_incidents')
    .values(incident)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) return;
  const change = { last_triggered_at: now };
  await tx.updateTable('alerts').set(change).where('id', '=', alert.id).execute();
  await tell(tx, app, 'triggered', { ...alert, ...change }, incident, result);
}

/** The first later no; nothing where it was closed meanwhile. */
export async function endIncident(
  tx: Tx,
  app: App,
  alert: AlertRow,
  incident: AlertIncidentRow,
  result: Result,
): Promise<void> {
  const resolved = await close(tx, app, incident, 'condition_ended');
  if (resolved) await tell(tx, app, 'resolved', alert, resolved, result);
}

/**
 * Closes all incidents of a rule that is as it was no more. Whoever changed it knows: there is the
 * event, and no notification. `alert`: as it is from now on, or was at last.
 */
export async function closeIncidents(
  tx: Tx,
  app: App,
  alert: AlertRow,
  resolution: Resolution,
): Promise<void> {
  const open = await tx
    .selectFrom('alert_incidents')
    .selectAll()
    .where('alert_id', '=', alert.id)
    .where('status', '=', 'open')
    .orderBy('id')
    .execute();
  for (const incident of open) {
    const resolved = await close(tx, app, incident, resolution);
    if (resolved) await appendAlertEvent(tx, app, 'resolved', alert, resolved, null);
  }
}

async function close(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  incident: AlertIncidentRow,
  resolution: Resolution,
): Promise<AlertIncidentRow | null> {
  const change = { status: 'resolved', resolved_at: isoTime(clock.now()), resolution } as const;
  const { numUpdatedRows } = await tx
    .updateTable('alert_incidents')
    .set(change)
    .where('id', '=', incident.id)
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n ? { ...incident, ...change } : null;
}

async function tell(
  tx: Tx,
  app: App,
  news: 'triggered' | 'resolved',
  alert: AlertRow,
  incident: AlertIncidentRow,
  result: Result,
): Promise<void> {
  const wanted = (await endpointsWanting(tx, `alert.${news}`)).length > 0;
  const test = result.kind === 'test' ? result.test : null;
  await queueNotifications(tx, app, { news, alert, incident, test }, wanted);
  await appendAlertEvent(tx, app, news, alert, incident, result);
}

/** With the test or the run that told of it, in list form; of a change of the rule, the one that opened it. */
async function appendAlertEvent(
  tx: Tx,
  app: App,
  news: 'triggered' | 'resolved',
  alert: AlertRow,
  incident: AlertIncidentRow,
  result: Result | null,
): Promise<void> {
  const [presented] = await presentIncidents(tx, [incident]);
  const [state] = await alertStates(tx, app, [alert]);
  const test = result?.kind === 'test' ? result.test : result ? null : await testOf(tx, incident);
  const run = result?.kind === 'run' ? result.run : result ? null : await runOf(tx, incident);
  const data = {
    ...presented!,
    alert: presentAlert(state!),
    ...(test && { test: presentListed(test, app.config) }),
    ...(run && { monitor_run: presentRun(run) }),
  };
  const webhooks = channelsOf(alert).includes('webhook');
  await appendEvent(tx, { type: `alert.${news}`, livemode: true, data, webhooks }, app);
}

const testOf = (tx: Tx, { test_id }: AlertIncidentRow): Promise<TestRow | undefined> =>
  tx.selectFrom('tests').selectAll().where('id', '=', test_id).executeTakeFirst();

const runOf = (tx: Tx, { run_id }: AlertIncidentRow): Promise<MonitorRunRow | undefined> =>
  tx.selectFrom('monitor_runs').selectAll().where('id', '=', run_id).executeTakeFirst();
