/** Tells of incidents: the notifications of each, and its event, in the transaction of the change. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/append.ts';
import type { Result } from '../events/results.ts';
import { presentListed } from '../mailtests/present.ts';
import { presentRun } from '../monitors/present.ts';
import type { Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';
import type { AlertIncidentRow, AlertRow, MonitorRunRow } from '../store/watching-tables.ts';
import { type EndpointsWanting, endpointsWanting } from './channels.ts';
import { noteWebhook, queueNotifications } from './notifications.ts';
import { findOccasion, type Occasion } from './occasion.ts';
import { presentAlert } from './present.ts';
import { alertStates, presentIncidents } from './queries.ts';
import type { Alert } from './schema.ts';

export type News = 'triggered' | 'resolved';

/** What one transaction reads once, however much it has to tell. */
export interface Teller {
  /** By every channel of the rule; `result`: what tells of it, null where none does. */
  all(
    news: News,
    alert: AlertRow,
    incident: AlertIncidentRow,
    result: Result | null,
  ): Promise<void>;
  /** The event alone, and so webhooks: whoever ended it knows. `alert`: as events have it. */
  event(incidents: AlertIncidentRow[], alert: Alert | null): Promise<void>;
}

export function createTeller(tx: Tx, app: App): Teller {
  const endpoints = new Map<string, Promise<EndpointsWanting>>();
  const wanting = (news: News) => {
    const type = `alert.${news}`;
    if (!endpoints.has(type)) endpoints.set(type, endpointsWanting(tx, type));
    return endpoints.get(type)!;
  };
  return {
    async all(news, alert, incident, result) {
      const wanted = (await wanting(news)).length > 0;
      const occasion = result
        ? occasionOf(news, alert, incident, result)
        : await findOccasion(tx, news, alert, incident);
      await queueNotifications(tx, app, occasion, wanted);
      const [state] = await alertStates(tx, app, [alert]);
      const about = result ? resultOf(result) : await openersOf(tx, [incident]);
      await appendEvents(tx, app, news, [incident], presentAlert(state!), about);
    },
    async event(incidents, alert) {
      if (incidents.length === 0) return;
      if (alert?.channels.includes('webhook')) {
        const wanted = (await wanting('resolved')).length > 0;
        for (const incident of incidents) await noteWebhook(tx, app, incident, wanted);
      }
      const about = await openersOf(tx, incidents);
      await appendEvents(tx, app, 'resolved', incidents, alert, about);
    },
  };
}

const occasionOf = (
  news: News,
  alert: AlertRow,
  incident: AlertIncidentRow,
  result: Result,
): Occasion => ({
  ...{ news, alert, incident },
  test: result.kind === 'test' ? result.test : null,
  run: result.kind === 'run' ? { findings: result.run.findings, monitor: result.monitor } : null,
});

interface About {
  test(incident: AlertIncidentRow): TestRow | undefined;
  run(incident: AlertIncidentRow): MonitorRunRow | undefined;
}

const resultOf = (result: Result): About => ({
  test: () => (result.kind === 'test' ? result.test : undefined),
  run: () => (result.kind === 'run' ? result.run : undefined),
});

/** Where nothing that was found tells of it, that which opened it. */
async function openersOf(tx: Tx, incidents: AlertIncidentRow[]): Promise<About> {
  const testIds = incidents.flatMap(({ test_id }) => test_id ?? []);
  const runIds = incidents.flatMap(({ run_id }) => run_id ?? []);
  const tests =
    testIds.length === 0
      ? []
      : await tx.selectFrom('tests').selectAll().where('id', 'in', testIds).execute();
  const runs =
    runIds.length === 0
      ? []
      : await tx.selectFrom('monitor_runs').selectAll().where('id', 'in', runIds).execute();
  const [testOf, runOf] = [byId(tests), byId(runs)];
  return {
    test: ({ test_id }) => testOf.get(test_id ?? ''),
    run: ({ run_id }) => runOf.get(run_id ?? ''),
  };
}

const byId = <Row extends { id: string }>(rows: Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

/** With the test or the run in list form; `alert` null: nothing is left of the rule, so to no webhook. */
async function appendEvents(
  tx: Tx,
  app: App,
  news: News,
  incidents: AlertIncidentRow[],
  alert: Alert | null,
  about: About,
): Promise<void> {
  const presented = await presentIncidents(tx, incidents);
  const webhooks = alert?.channels.includes('webhook') ?? false;
  for (const [index, incident] of incidents.entries()) {
    const [test, run] = [about.test(incident), about.run(incident)];
    const data = {
      ...presented[index]!,
      ...(alert && { alert }),
      ...(test && { test: presentListed(test, app.config) }),
      ...(run && { monitor_run: presentRun(run) }),
    };
    const event = { type: `alert.${news}`, livemode: true, data, webhooks } as const;
    const { id } = await appendEvent(tx, event, app);
    if (webhooks)
      await tx
        .updateTable('alert_notifications')
        .set({ event_id: id })
        .where('incident_id', '=', incident.id)
        .where('channel', '=', 'webhook')
        .where('news', '=', news)
        .execute();
  }
}
