/** The event that is sent to try an endpoint: a finished test as it could be, which never was. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow } from '../store/webhook-tables.ts';
import { insertDelivery } from './enqueue.ts';
import { eventPayload } from './payload.ts';

const TYPE = 'test.completed';

/** Its delivery, due at once; the event is in it alone. To be called in `transact`. */
export async function deliverSample(
  tx: Tx,
  app: App,
  { id }: Pick<WebhookEndpointRow, 'id'>,
): Promise<WebhookDeliveryRow> {
  const eventId = app.newId('evt');
  const event = {
    id: eventId,
    type: TYPE,
    livemode: 0,
    created_at: isoTime(app.clock.now()),
    data: JSON.stringify(sampleTest(app)),
  };
  return insertDelivery(tx, app, {
    endpoint_id: id,
    event_id: eventId,
    event_type: TYPE,
    round_trigger: 'test',
    sample: eventPayload(event),
    held: false,
  });
}

/** Name, weight, and what was earned of how many points. */
const CATEGORIES: [name: string, weight: number, earned: number, points: number][] = [
  ['authentication', 35, 40, 40],
  ['reputation', 20, 20, 20],
  ['infrastructure', 15, 18, 20],
  ['compliance', 10, 8, 10],
  ['content', 10, 15, 20],
  ['spam_filters', 10, 0, 0],
];

const RESULT = {
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
  categories: CATEGORIES.map(([name, weight, earned, points]) => ({
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
    ...RESULT,
    ruleset: 'sample',
    previous: null,
  };
}
