/** A service for webhook tests, with a clock, a receiver, endpoints, and events. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { appendEvent, type NewEvent, type NewEventRow } from '../../src/events/events.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { transact } from '../../src/store/open.ts';
import type { WebhookEndpointRow } from '../../src/store/tables.generated.ts';
import { DELIVER_JOB } from '../../src/webhooks/enqueue.ts';
import { newSigningSecret, sealSigningSecret } from '../../src/webhooks/signatures.ts';
import {
  type ApiResponse,
  type CallOptions,
  type ServiceOptions,
  startTestService,
} from '../helpers/app.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { type Receiver, startReceiver } from '../helpers/receiver.ts';

export interface WebhookTestService {
  service: Awaited<ReturnType<typeof startTestService>>;
  app: Awaited<ReturnType<typeof startTestService>>['app'];
  clock: TestClock;
  receiver: Receiver;
  /** An endpoint at the receiver, for all events unless the row says otherwise. */
  makeEndpoint(row?: Partial<WebhookEndpointRow>): Promise<{ id: string; secret: string }>;
  append(event?: Partial<NewEvent>): Promise<NewEventRow>;
  /** Sends all due deliveries, including those that become due meanwhile, and waits until they finish. */
  deliverDue(): Promise<void>;
  deliveries(): Promise<Awaited<ReturnType<typeof readDeliveries>>>;
}

export async function startWebhookService(
  t: TestContext,
  { env, ...options }: ServiceOptions = {},
): Promise<WebhookTestService> {
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
          livemode: 1,
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
      await waitUntilIdle(app, clock);
    },
    deliveries: () => readDeliveries(app),
  };
}

type App = WebhookTestService['app'];

/** Resolves when nothing is due or in progress. Checks again whenever an attempt signals its end. */
async function waitUntilIdle(app: App, clock: TestClock): Promise<void> {
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

/** The attempts of a delivery, in order. */
export function attemptsOf(app: App, deliveryId: string) {
  return app.db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .orderBy('number')
    .execute();
}

// Requests to the webhook operations, and the types of their responses.

export const ENDPOINTS = '/v1/webhooks/endpoints';
export const DELIVERIES = '/v1/webhooks/deliveries';

export interface Endpoint {
  id: string;
  object: 'webhook_endpoint';
  url: string;
  events: string[];
  description: string | null;
  livemode: boolean;
  enabled: boolean;
  status: string;
  created_at: string;
  secret: string;
}

export interface Attempt {
  number: number;
  trigger: string;
  started_at: string;
  duration_ms: number | null;
  url: string;
  request_headers: Record<string, string>;
  response_status: number | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  error: string | null;
}

export interface Delivery {
  id: string;
  object: 'webhook_delivery';
  endpoint_id: string;
  event_id: string;
  event_type: string;
  livemode: boolean | null;
  status: string;
  next_attempt_at: string | null;
  created_at: string;
  payload: string | null;
  attempts: Attempt[];
}

type WebhookClient = Pick<WebhookTestService, 'service' | 'receiver'>;

/** An endpoint at the receiver, for all events. */
export async function createEndpoint(
  { service, receiver }: WebhookClient,
  json: object = {},
  options: CallOptions = {},
): Promise<Endpoint> {
  const body = { url: receiver.url, events: ['*'], ...json };
  const response = await service.call<Endpoint>('POST', ENDPOINTS, { ...options, json: body });
  assert.equal(response.status, 201, response.text);
  return response.body;
}

/** Resolves once no attempt of the delivery is due or in progress. */
export async function waitForDelivery(
  { service }: Pick<WebhookTestService, 'service'>,
  id: string,
) {
  return (await service.call<Delivery>('GET', `${DELIVERIES}/${id}?wait=20`)).body;
}

/** The deliveries to an endpoint, newest first. */
export async function listDeliveries(
  { service }: Pick<WebhookTestService, 'service'>,
  id: string,
  query = '',
) {
  const path = `${ENDPOINTS}/${id}/deliveries${query}`;
  const { status, body, text } = await service.call<{ data: Delivery[]; has_more: boolean }>(
    'GET',
    path,
  );
  assert.equal(status, 200, text);
  return body.data;
}

/** The errors of a response as `param message`. */
export function paramErrorsOf({ body }: ApiResponse<unknown>): string[] {
  const { errors = [] } = body as { errors?: { param: string; message: string }[] };
  return errors.map(({ param, message }) => `${param} ${message}`);
}

export const statusAndCodeOf = ({ status, body }: ApiResponse<unknown>) => [
  status,
  (body as { code?: string }).code,
];
