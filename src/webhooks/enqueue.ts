/** Writes a delivery for each endpoint that wants an event, in the transaction of the event. */

import type { App } from '../app.ts';
import { presentEvent } from '../events/routes.ts';
import { toJson } from '../http/response.ts';
import { isoTime } from '../lib/clock.ts';
import { afterCommit, type Tx } from '../store/open.ts';
import type { Subscriber } from '../store/subscribers.ts';
import type {
  EventRow,
  WebhookDeliveryRow,
  WebhookEndpointRow,
} from '../store/tables.generated.ts';

/** Endpoints that are switched off get none; for those that were disabled for failing it is held. */
export function enqueueDeliveries(
  app: Pick<App, 'clock' | 'newId' | 'scheduler'>,
): Subscriber<[event: EventRow]> {
  return async (tx, event) => {
    const endpoints = await tx
      .selectFrom('webhook_endpoints')
      .select(['id', 'events', 'auto_disabled_at'])
      .where('enabled', '=', 1)
      .where('deleted_at', 'is', null)
      .execute();
    for (const { id, events, auto_disabled_at } of endpoints)
      if (wants(events, event.type))
        await insertDelivery(tx, app, {
          endpoint_id: id,
          event_id: event.id,
          event_type: event.type,
          round_trigger: 'event',
          held: auto_disabled_at !== null,
        });
  };
}

export function wants(events: string, type: string): boolean {
  const wanted: string[] = JSON.parse(events);
  return wanted.includes('*') || wanted.includes(type);
}

type NewDelivery = Pick<
  WebhookDeliveryRow,
  'endpoint_id' | 'event_id' | 'event_type' | 'round_trigger'
> & {
  /** The event itself, where it is a sample. */
  sample?: string;
  held: boolean;
};

/** One that is not held is due at once: it is begun as soon as the transaction is committed. */
export async function insertDelivery(
  tx: Tx,
  { clock, newId, scheduler }: Pick<App, 'clock' | 'newId' | 'scheduler'>,
  { held, sample = undefined, ...rest }: NewDelivery,
): Promise<WebhookDeliveryRow> {
  const now = isoTime(clock.now());
  const row: WebhookDeliveryRow = {
    id: newId('whd'),
    ...rest,
    sample: sample ?? null,
    created_at: now,
    status: held ? 'held' : 'pending',
    round_failures: 0,
    attempts: 0,
    due_at: held ? null : now,
    lease: null,
  };
  await tx.insertInto('webhook_deliveries').values(row).execute();
  if (!held) afterCommit(tx, () => scheduler.wake(DELIVER_JOB));
  return row;
}

// The name under which deliveries are woken, and what is handed from the claim to the record.

export const DELIVER_JOB = 'deliver webhooks';

/** A delivery whose attempt is written down and about to be made. */
export interface ClaimedDelivery
  extends Pick<WebhookDeliveryRow, 'id' | 'endpoint_id' | 'round_failures'> {
  lease: string;
  /** Of the attempt. */
  number: number;
  /** Milliseconds since 1970. */
  startedAt: number;
  url: string;
  headers: Record<string, string>;
  payload: string;
}

// The body of a delivery: the event as the API answers it, the same text at every attempt.

export function eventPayload(event: EventRow): string {
  return toJson(presentEvent(event));
}

// The event that is sent to try an endpoint: a finished test as it could be, which never was.

const SAMPLE_TYPE = 'test.completed';

/** Its delivery, due at once; the event is in it alone. To be called in `transact`. */
export async function deliverSample(
  tx: Tx,
  app: App,
  { id }: Pick<WebhookEndpointRow, 'id'>,
): Promise<WebhookDeliveryRow> {
  const eventId = app.newId('evt');
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

/** Name, weight, and what was earned of how many points. */
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
  summary: 'This is a sample: no mail was tested.',
  coverage: 0.9,
  from_address: 'news@example.com',
  subject: 'Our news in spring',
  message_size: 28_416,
  line_ends_converted: false,
  auth_results: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
  inbox_placement: {},
  categories: SAMPLE_CATEGORIES.map(([name, weight, earned, points]) => ({
    ...{ name, weight, earned, points },
    score: points === 0 ? null : (100 * earned) / points,
  })),
};

/** A test in its list form (contract §4). */
function sampleTest({ clock, newId, config }: Pick<App, 'clock' | 'newId' | 'config'>) {
  const now = clock.now();
  const token = 'samplesamplesamp';
  return {
    id: newId('test'),
    object: 'test',
    status: 'completed',
    failure_reason: null,
    name: 'A sample to try the webhook',
    kind: 'marketing',
    metadata: { sample: 'true' },
    livemode: false,
    address: `${token}@${config.INBOX_DOMAIN}`,
    token,
    seed_addresses: [],
    domain_id: null,
    created_at: isoTime(now - 90_000),
    expires_at: isoTime(now - 90_000 + 3_600_000),
    received_at: isoTime(now - 5000),
    completed_at: isoTime(now),
    ...SAMPLE_RESULT,
    ruleset: 'sample',
    previous: null,
  };
}
