/** Webhook endpoints with different behaviors: every committed event reaches its subscribers, and no other event does. */

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { isoTime, systemClock } from '../../../src/lib/clock.ts';
import { createSecretBox } from '../../../src/lib/crypto.ts';
import { createIdGenerator } from '../../../src/lib/ids.ts';
import type { Db } from '../../../src/store/open.ts';
import { newSigningSecret, sealSigningSecret } from '../../../src/webhooks/signatures.ts';
import type { Random } from '../../helpers/random.ts';
import type { Receiver } from '../../helpers/receiver.ts';
import { TEST_SECRET_KEY } from '../../helpers/store.ts';
import { atGate, createGate, type Load } from './load.ts';

/** How an endpoint responds until `recover` is called. */
type Behavior = 'healthy' | 'slow' | 'failing' | 'disconnecting' | 'flaky' | 'trickling';

interface Endpoint {
  behavior: Behavior;
  events: string[];
  enabled: boolean;
}

const repeat = (count: number, behavior: Behavior): Endpoint[] =>
  Array.from({ length: count }, () => ({ behavior, events: ['test.completed'], enabled: true }));

const ENDPOINTS: Endpoint[] = [
  ...repeat(3, 'healthy'),
  ...repeat(2, 'slow'),
  ...repeat(2, 'failing'),
  ...repeat(1, 'disconnecting'),
  ...repeat(1, 'flaky'),
  ...repeat(1, 'trickling'),
  { behavior: 'healthy', events: ['*'], enabled: true },
  { behavior: 'healthy', events: ['alert.triggered', 'test.placement_settled'], enabled: true },
  { behavior: 'healthy', events: ['test.failed'], enabled: true },
  { behavior: 'healthy', events: ['*'], enabled: false },
];

const subscribersOf = (type: string): number[] =>
  ENDPOINTS.flatMap(({ events, enabled }, place) =>
    enabled && (events.includes('*') || events.includes(type)) ? [place] : [],
  );

export interface Webhooks extends Load {
  /** How the endpoint with this path responds. Null if it has used the response itself. */
  respond(path: string, response: ServerResponse): Promise<number | null>;
}

/** The receiver acts as all endpoints. */
export function createWebhooks(receiver: Receiver, random: Random): Webhooks {
  const gate = createGate();
  let recovered = false;
  return {
    name: 'webhooks',
    env: receiver.env,
    async prepare(db) {
      const newId = createIdGenerator(systemClock);
      const secrets = createSecretBox(TEST_SECRET_KEY);
      for (const [index, { events, enabled }] of ENDPOINTS.entries()) {
        const id = newId('whe');
        await db
          .insertInto('webhook_endpoints')
          .values({
            id,
            url: `https://127.0.0.1:${receiver.port}/${index}`,
            events: JSON.stringify(events),
            enabled: enabled ? 1 : 0,
            livemode: 1,
            secret: sealSigningSecret(secrets, id, newSigningSecret()),
            created_at: isoTime(systemClock.now()),
          })
          .execute();
      }
    },
    async respond(path, response) {
      await gate.pass();
      const { behavior } = ENDPOINTS[Number(path.slice(1))]!;
      if (recovered || behavior === 'healthy') return 200;
      if (behavior === 'failing') return 500;
      if (behavior === 'flaky') return random.chance(0.5) ? 503 : 200;
      if (behavior === 'disconnecting') {
        response.destroy();
        return null;
      }
      if (behavior === 'slow') {
        await pause(100 + random.below(500));
        return 200;
      }
      response.write('.');
      await pause(random.below(300));
      response.end('.');
      return null;
    },
    recover() {
      recovered = true;
    },
    moments: [
      atGate('delivery', gate, async (db) => {
        const attempts = await db
          .selectFrom('webhook_attempts as attempt')
          .innerJoin('webhook_deliveries as delivery', 'delivery.id', 'delivery_id')
          .select('number')
          .where('lease', 'is not', null)
          .where('duration_ms', 'is', null)
          .execute();
        return attempts.length > 0;
      }),
    ],
    async verify(db) {
      const { faults, figures } = await compareWithDatabase(receiver, db);
      assert.deepEqual(faults.slice(0, 10), []);
      return figures;
    },
  };
}

/** Returns problems as sentences, and figures. All deliveries must be complete. */
async function compareWithDatabase(receiver: Receiver, db: Db) {
  const receipts = new Map<string, number>();
  const requests = receiver.requests.filter(({ path }) => /^\/\d+$/.test(path));
  for (const { path, headers } of requests) {
    const key = `${path.slice(1)} ${headers['x-service-event-id']}`;
    receipts.set(key, (receipts.get(key) ?? 0) + 1);
  }
  const { events, deliveries } = await readFacts(db);
  const faults: string[] = [];
  const known = new Map(deliveries.map((row) => [`${row.place} ${row.event_id}`, row]));
  const expected = events.flatMap(({ id, type }) =>
    subscribersOf(type).map((place) => `${place} ${id}`),
  );
  for (const key of expected) {
    if (!receipts.has(key)) faults.push(`${key} was not received`);
    if (known.get(key)?.status !== 'succeeded') faults.push(`${key} did not succeed`);
  }
  if (deliveries.length !== expected.length) faults.push('there are unexpected deliveries');
  let interrupted = 0;
  let duplicates = 0;
  for (const [key, count] of receipts) {
    const delivery = known.get(key);
    if (!delivery) {
      faults.push(`${key} was received but not committed`);
      continue;
    }
    const recorded = delivery.attempts - delivery.interrupted;
    if (count > delivery.attempts)
      faults.push(`${key} was received ${count} times in ${delivery.attempts} attempts`);
    interrupted += Math.max(0, count - recorded);
    if (count > 1 && count > recorded) duplicates++;
  }
  const figures = {
    events: events.length,
    deliveries: deliveries.length,
    receipts: requests.length,
    /** Requests received in attempts that a kill interrupted. */
    interrupted,
    /** Deliveries that were received more than once because of a kill. */
    duplicates,
  };
  return { faults, figures };
}

async function readFacts(db: Db) {
  const events = await db.selectFrom('events').select(['id', 'type', 'data']).execute();
  const rows = await db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'endpoint_id')
    .select(({ selectFrom, fn }) => [
      'event_id',
      'delivery.status',
      'attempts',
      'url',
      selectFrom('webhook_attempts')
        .whereRef('delivery_id', '=', 'delivery.id')
        .where('error', 'like', 'interrupted%')
        .select(fn.countAll<number>().as('count'))
        .as('interrupted'),
    ])
    .execute();
  return {
    events: events.filter(isPublished),
    deliveries: rows.map(({ url, interrupted, ...row }) => ({
      ...row,
      interrupted: Number(interrupted ?? 0),
      place: Number(url.split('/').at(-1)),
    })),
  };
}

/** A rule without the channel stores its events only. */
function isPublished({ type, data }: { type: string; data: string }): boolean {
  if (!type.startsWith('alert.')) return true;
  const { alert } = JSON.parse(data) as { alert: { channels: string[] } };
  return alert.channels.includes('webhook');
}
