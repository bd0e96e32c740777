/** Queues a delivery for each endpoint that subscribes to an event, in the transaction of the event. */

import type { App } from '../app.ts';
import type { NewEventRow } from '../events/events.ts';
import { presentEvent } from '../events/routes.ts';
import { rememberTrace } from '../events/traces.ts';
import { toJson } from '../http/response.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import {
  afterCommit,
  inLockOrder,
  type PreparedParameter,
  prepared,
  shareIn,
  type Tx,
} from '../store/open.ts';
import type { Subscriber } from '../store/subscribers.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow } from '../store/tables.generated.ts';

/** Endpoints get the events of their mode. Disabled endpoints get no delivery. For automatically disabled ones, the delivery is held. */
export function enqueueDeliveries(
  app: Pick<App, 'clock' | 'newId' | 'scheduler'>,
): Subscriber<[event: NewEventRow]> {
  return async (tx, event) => {
    const endpoints = await findEnabled(tx, event);
    for (const { id, events, auto_disabled_at } of endpoints.toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    ))
      if (subscribesTo(events, event.type))
        await insertDelivery(tx, app, {
          endpoint_id: id,
          event_id: event.id,
          event_type: event.type,
          round_trigger: 'event',
          held: auto_disabled_at !== null,
        });
  };
}

/**
 * A request that disables or enables one waits, and then holds or recovers these deliveries too. In the order in which all
 * transactions lock endpoints.
 */
const findEnabled = prepared((db, parameter: PreparedParameter<Pick<NewEventRow, 'livemode'>>) =>
  shareIn(
    db,
    inLockOrder(
      db,
      db
        .selectFrom('webhook_endpoints')
        .select(['id', 'events', 'auto_disabled_at'])
        .where('enabled', '=', 1)
        .where('livemode', '=', parameter('livemode'))
        .where('deleted_at', 'is', null),
      'id',
    ),
  ),
);

export function subscribesTo(events: string, type: string): boolean {
  const subscribed: string[] = JSON.parse(events);
  return subscribed.includes('*') || subscribed.includes(type);
}

type NewDelivery = Pick<
  WebhookDeliveryRow,
  'endpoint_id' | 'event_id' | 'event_type' | 'round_trigger'
> & {
  /** The payload, if the event is a sample. */
  sample?: string;
  held: boolean;
};

/** A delivery that isn't held is due at once and starts when the transaction commits. */
export async function insertDelivery(
  tx: Tx,
  { clock, newId, scheduler }: Pick<App, 'clock' | 'newId' | 'scheduler'>,
  { held, sample = undefined, ...fields }: NewDelivery,
): Promise<WebhookDeliveryRow> {
  const now = isoTime(clock.now());
  const row: WebhookDeliveryRow = {
    id: newId('whd'),
    ...fields,
    sample: sample ?? null,
    created_at: now,
    status: held ? 'held' : 'pending',
    round_failures: 0,
    attempts: 0,
    due_at: held ? null : now,
    lease: null,
    resumes_at: null,
  };
  await tx.insertInto('webhook_deliveries').values(row).execute();
  if (!held) afterCommit(tx, () => scheduler.wake(DELIVER_JOB));
  return row;
}

// The name of the delivery job, to wake it, and the deliveries that it claims.

export const DELIVER_JOB = 'deliver webhooks';

/** A delivery whose attempt is recorded and about to be made. */
export interface ClaimedDelivery
  extends Pick<WebhookDeliveryRow, 'id' | 'endpoint_id' | 'round_failures' | 'resumes_at'> {
  lease: string;
  /** The number of the attempt. */
  number: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  url: string;
  headers: Record<string, string>;
  payload: string;
}

/** The body of a delivery: the event as in the API, identical in every attempt. */
export function eventPayload(event: NewEventRow): string {
  return toJson(presentEvent(event));
}

// The sample event for testing an endpoint: a made-up completed test.

const SAMPLE_TYPE = 'test.completed';

/** Queues the delivery of a sample, due at once. The event itself isn't stored. Call in `transact`. */
export async function enqueueSample(
  tx: Tx,
  app: App,
  { id }: Pick<WebhookEndpointRow, 'id'>,
): Promise<WebhookDeliveryRow> {
  const eventId = app.newId('evt');
  rememberTrace(app, eventId);
  const event = {
    id: eventId,
    type: SAMPLE_TYPE,
    livemode: 0,
    created_at: isoTime(app.clock.now()),
    data: JSON.stringify(sampleTest(app)),
  };
  return insertDelivery(tx, app, {
    endpoint_id: id,
    event_id: eventId,
    event_type: SAMPLE_TYPE,
    round_trigger: 'test',
    sample: eventPayload(event),
    held: false,
  });
}

/** Name, weight, points earned, and points possible. */
const SAMPLE_CATEGORIES: [name: string, weight: number, earned: number, points: number][] = [
  ['authentication', 35, 40, 40],
  ['reputation', 20, 20, 20],
  ['infrastructure', 15, 18, 20],
  ['compliance', 10, 8, 10],
  ['content', 10, 15, 20],
  ['spam_filters', 10, 0, 0],
];

const SAMPLE_RESULT = {
  score: 93,
  grade: 'A',
  summary: 'This is a sample: no message was tested.',
  coverage: 0.9,
  from_address: 'news@example.com',
  subject: 'Our spring newsletter',
  message_size: 28_416,
  line_ends_converted: false,
  auth_results: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
  placement_status: 'none',
  inbox_placement: {},
  categories: SAMPLE_CATEGORIES.map(([name, weight, earned, points]) => ({
    name,
    weight,
    earned,
    points,
    score: points === 0 ? null : (100 * earned) / points,
  })),
};

/** A test in its list form (contract §4). */
function sampleTest({ clock, newId, config }: Pick<App, 'clock' | 'newId' | 'config'>) {
  const now = clock.now();
  const token = 'samplesamplesamp';
  const id = newId('test');
  return {
    id,
    object: 'test',
    status: 'completed',
    failure_reason: null,
    report_url: `${config.APP_URL}/tests/${id}`,
    name: 'Sample for testing a webhook',
    kind: 'marketing',
    kind_confidence: 'certain',
    alternative: null,
    metadata: { sample: 'true' },
    tags: ['sample'],
    livemode: false,
    address: `${token}@${config.INBOX_DOMAIN}`,
    token,
    seed_addresses: [],
    monitor_id: null,
    inbox_id: null,
    domain_id: null,
    created_at: isoTime(now - 90_000),
    expires_at: isoTime(now - 90_000 + HOUR_MS),
    received_at: isoTime(now - 5000),
    completed_at: isoTime(now),
    ...SAMPLE_RESULT,
    ruleset: 'sample',
    previous: null,
  };
}
