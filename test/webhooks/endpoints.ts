/** For tests of deliveries: a service with a clock and a receiver, endpoints, events, and what became of each. */

import type { TestContext } from 'node:test';
import { appendEvent, type NewEvent } from '../../src/events/append.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { transact } from '../../src/store/after-commit.ts';
import type { EventRow } from '../../src/store/tables.ts';
import type { WebhookEndpointRow } from '../../src/store/webhook-tables.ts';
import { DELIVER_JOB } from '../../src/webhooks/jobs.ts';
import { newSigningSecret, sealSigningSecret } from '../../src/webhooks/signing-secrets.ts';
import { type ServiceOptions, startTestService } from '../helpers/app.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { type Receiver, startReceiver } from '../helpers/receiver.ts';

export interface Delivering {
  service: Awaited<ReturnType<typeof startTestService>>;
  app: Awaited<ReturnType<typeof startTestService>>['app'];
  clock: TestClock;
  receiver: Receiver;
  /** An endpoint at the receiver, for all events, unless the row says otherwise. */
  makeEndpoint(row?: Partial<WebhookEndpointRow>): Promise<{ id: string; secret: string }>;
  append(event?: Partial<NewEvent>): Promise<EventRow>;
  /** Makes what is due by the clock, and what becomes due by that, and waits for its end. */
  deliverDue(): Promise<void>;
  deliveries(): Promise<Awaited<ReturnType<typeof readDeliveries>>>;
}

export async function startDelivering(
  t: TestContext,
  { env, ...options }: ServiceOptions = {},
): Promise<Delivering> {
  const clock = testClock();
  const receiver = await startReceiver(t);
  const service = await startTestService(t, {
    clock,
    ...options,
    env: { ...receiver.env, ...env },
  });
  const { app } = service;
  return {
    service,
    app,
    clock,
    receiver,
    async makeEndpoint(row = {}) {
      const id = app.newId('whe');
      const secret = newSigningSecret();
      await app.db
        .insertInto('webhook_endpoints')
        .values({
          id,
          url: receiver.url,
          events: '["*"]',
          enabled: 1,
          secret: sealSigningSecret(app.secrets, id, secret),
          created_at: isoTime(clock.now()),
          ...row,
        })
        .execute();
      return { id, secret };
    },
    append: (event = {}) =>
      transact(app.db, (tx) =>
        appendEvent(tx, { type: 'test.completed', livemode: true, data: { n: 1 }, ...event }, app),
      ),
    async deliverDue() {
      app.scheduler.wake(DELIVER_JOB);
      await untilQuiet(app, clock);
    },
    deliveries: () => readDeliveries(app),
  };
}

type App = Delivering['app'];

/** Nothing due and nothing under way. The signals of ended attempts tell when to look again. */
async function untilQuiet(app: App, clock: TestClock): Promise<void> {
  for (;;) {
    const open = await app.db
      .selectFrom('webhook_deliveries')
      .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
      .select('webhook_deliveries.id')
      .where('enabled', '=', 1)
      .where('auto_disabled_at', 'is', null)
      .where(({ eb, or }) =>
        or([eb('lease', 'is not', null), eb('due_at', '<=', isoTime(clock.now()))]),
      )
      .limit(1)
      .executeTakeFirst();
    if (!open) return;
    await app.signals.wait(open.id, 50);
  }
}

function readDeliveries(app: App) {
  return app.db.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute();
}

/** The attempts of a delivery, in their order. */
export function attemptsOf(app: App, deliveryId: string) {
  return app.db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .orderBy('number')
    .execute();
}
