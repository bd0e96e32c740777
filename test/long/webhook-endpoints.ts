/** Twenty webhook endpoints with different behaviors; compares what they received with the database. */

import { setTimeout as pause } from 'node:timers/promises';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { createSecretBox } from '../../src/lib/crypto.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import { newSigningSecret, sealSigningSecret } from '../../src/webhooks/signatures.ts';
import type { Random } from '../helpers/random.ts';
import type { Receiver } from '../helpers/receiver.ts';

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
  ...repeat(10, 'healthy'),
  ...repeat(3, 'slow'),
  ...repeat(2, 'failing'),
  ...repeat(1, 'disconnecting'),
  ...repeat(1, 'flaky'),
  ...repeat(1, 'trickling'),
  { behavior: 'healthy', events: ['test.failed'], enabled: true },
  { behavior: 'healthy', events: ['*'], enabled: false },
];

export interface TestEndpoints {
  /** From now on, all endpoints respond with 200 immediately. */
  recover(): void;
  /** Resolves when an endpoint receives the next request, before it responds. */
  nextRequest(): Promise<void>;
}

/** Creates the endpoints in the database at `location`, and lets the receiver act as all of them. */
export async function startEndpoints(
  receiver: Receiver,
  location: string,
  secretKey: string,
  random: Random,
): Promise<TestEndpoints> {
  const store = await openStore(location);
  const newId = createIdGenerator(systemClock);
  const secrets = createSecretBox(secretKey);
  for (const [index, { events, enabled }] of ENDPOINTS.entries()) {
    const id = newId('whe');
    await store.db
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
  await store.close();
  let recovered = false;
  const waiting: (() => void)[] = [];
  receiver.respond = async ({ path: requestPath }, response) => {
    for (const resume of waiting.splice(0)) resume();
    const { behavior } = ENDPOINTS[Number(requestPath.slice(1))]!;
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
  };
  return {
    recover() {
      recovered = true;
    },
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
  };
}

interface DeliveryFacts {
  place: number;
  event_id: string;
  status: string;
  attempts: number;
  interrupted: number;
}

export interface DeliveryFigures {
  events: number;
  deliveries: number;
  receipts: number;
  /** Requests received in attempts that a kill interrupted. */
  interrupted: number;
  /** Deliveries that were received more than once because of a kill. */
  duplicates: number;
}

/** Returns problems as sentences, and figures. All deliveries must be complete. */
export async function compareWithDatabase(
  receiver: Receiver,
  db: Db,
): Promise<{ faults: string[]; figures: DeliveryFigures }> {
  const receipts = new Map<string, number>();
  for (const { path: requestPath, headers } of receiver.requests) {
    const key = `${requestPath.slice(1)} ${headers['x-service-event-id']}`;
    receipts.set(key, (receipts.get(key) ?? 0) + 1);
  }
  const { events, deliveries } = await readFacts(db);
  const faults: string[] = [];
  const known = new Map(deliveries.map((row) => [`${row.place} ${row.event_id}`, row]));
  const subscribers = ENDPOINTS.flatMap(({ events: types, enabled }, place) =>
    enabled && types.includes('test.completed') ? [place] : [],
  );
  for (const id of events)
    for (const place of subscribers) {
      const key = `${place} ${id}`;
      if (!receipts.has(key)) faults.push(`${key} was not received`);
      if (known.get(key)?.status !== 'succeeded') faults.push(`${key} did not succeed`);
    }
  if (known.size !== events.length * subscribers.length)
    faults.push('there are unexpected deliveries');
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
  return {
    faults,
    figures: {
      events: events.length,
      deliveries: deliveries.length,
      receipts: receiver.requests.length,
      interrupted,
      duplicates,
    },
  };
}

async function readFacts(db: Db): Promise<{ events: string[]; deliveries: DeliveryFacts[] }> {
  const events = await db.selectFrom('events').select('id').execute();
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
    events: events.map(({ id }) => id),
    deliveries: rows.map(({ url, interrupted, ...row }) => ({
      ...row,
      interrupted: interrupted ?? 0,
      place: Number(url.split('/').at(-1)),
    })),
  };
}
