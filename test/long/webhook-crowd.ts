/** Twenty endpoints of webhooks of many kinds, what each got, and what the database says of it. */

import { setTimeout as pause } from 'node:timers/promises';
import BetterSqlite from 'better-sqlite3';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { createSecretBox } from '../../src/lib/crypto.ts';
import { createIds } from '../../src/lib/ids.ts';
import { openStore } from '../../src/store/open.ts';
import { newSigningSecret, sealSigningSecret } from '../../src/webhooks/signatures.ts';
import type { Random } from '../helpers/random.ts';
import type { Receiver } from '../helpers/receiver.ts';

/** How an endpoint answers, as long as the crowd is not told to be well. */
type Manner = 'good' | 'slow' | 'refusing' | 'hanging up' | 'moody' | 'dripping';

interface Place {
  manner: Manner;
  events: string[];
  enabled: boolean;
}

const every = (count: number, manner: Manner): Place[] =>
  Array.from({ length: count }, () => ({ manner, events: ['test.completed'], enabled: true }));

const PLACES: Place[] = [
  ...every(10, 'good'),
  ...every(3, 'slow'),
  ...every(2, 'refusing'),
  ...every(1, 'hanging up'),
  ...every(1, 'moody'),
  ...every(1, 'dripping'),
  { manner: 'good', events: ['test.failed'], enabled: true },
  { manner: 'good', events: ['*'], enabled: false },
];

export interface Crowd {
  /** From now on everybody answers well and at once. */
  recover(): void;
}

/** Writes the endpoints into a new database in the folder, and lets the receiver play them all. */
export async function startCrowd(
  receiver: Receiver,
  path: string,
  secretKey: string,
  random: Random,
): Promise<Crowd> {
  const store = openStore(path);
  const newId = createIds(systemClock);
  const secrets = createSecretBox(secretKey);
  for (const [index, { events, enabled }] of PLACES.entries()) {
    const id = newId('whe');
    await store.db
      .insertInto('webhook_endpoints')
      .values({
        id,
        url: `https://127.0.0.1:${receiver.port}/${index}`,
        events: JSON.stringify(events),
        enabled: enabled ? 1 : 0,
        secret: sealSigningSecret(secrets, id, newSigningSecret()),
        created_at: isoTime(systemClock.now()),
      })
      .execute();
  }
  await store.close();
  let well = false;
  receiver.answer = async ({ path: where }, response) => {
    const { manner } = PLACES[Number(where.slice(1))]!;
    if (well || manner === 'good') return 200;
    if (manner === 'refusing') return 500;
    if (manner === 'moody') return random.chance(0.5) ? 503 : 200;
    if (manner === 'hanging up') {
      response.destroy();
      return null;
    }
    if (manner === 'slow') {
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
      well = true;
    },
  };
}

interface DeliveryFacts {
  place: number;
  event_id: string;
  status: string;
  attempts: number;
  interrupted: number;
}

export interface CrowdFigures {
  events: number;
  deliveries: number;
  receipts: number;
  /** Receipts beyond those of attempts that were recorded: all of attempts that a kill cut short. */
  cutShort: number;
  /** Of those, how many the receiver had before or after. */
  duplicates: number;
}

/** What is wrong, in sentences, and the figures. All deliveries must be over. */
export function compare(
  receiver: Receiver,
  path: string,
): { faults: string[]; figures: CrowdFigures } {
  const receipts = new Map<string, number>();
  for (const { path: where, headers } of receiver.requests) {
    const key = `${where.slice(1)} ${headers['x-service-event-id']}`;
    receipts.set(key, (receipts.get(key) ?? 0) + 1);
  }
  const { events, deliveries } = readFacts(path);
  const faults: string[] = [];
  const known = new Map(deliveries.map((one) => [`${one.place} ${one.event_id}`, one]));
  const wanting = PLACES.flatMap(({ events: types, enabled }, place) =>
    enabled && types.includes('test.completed') ? [place] : [],
  );
  for (const id of events)
    for (const place of wanting) {
      const key = `${place} ${id}`;
      if (!receipts.has(key)) faults.push(`${key} never came`);
      if (known.get(key)?.status !== 'succeeded') faults.push(`${key} has not succeeded`);
    }
  if (known.size !== events.length * wanting.length) faults.push('there are other deliveries');
  let cutShort = 0;
  let duplicates = 0;
  for (const [key, count] of receipts) {
    const delivery = known.get(key);
    if (!delivery) {
      faults.push(`${key} came, but was never committed`);
      continue;
    }
    const recorded = delivery.attempts - delivery.interrupted;
    if (count > delivery.attempts)
      faults.push(`${key} came ${count} times, ${delivery.attempts} tried`);
    cutShort += Math.max(0, count - recorded);
    if (count > 1 && count > recorded) duplicates++;
  }
  return {
    faults,
    figures: {
      events: events.length,
      deliveries: deliveries.length,
      receipts: receiver.requests.length,
      cutShort,
      duplicates,
    },
  };
}

function readFacts(path: string): { events: string[]; deliveries: DeliveryFacts[] } {
  const sqlite = new BetterSqlite(path, { readonly: true });
  try {
    return {
      events: sqlite.prepare('SELECT id FROM events').pluck().all() as string[],
      deliveries: sqlite
        .prepare(
          `SELECT event_id, webhook_deliveries.status AS status, attempts,
            CAST(substr(url, length(rtrim(url, '0123456789')) + 1) AS INTEGER) AS place,
            (SELECT COUNT(*) FROM webhook_attempts WHERE delivery_id = webhook_deliveries.id
              AND error LIKE 'interrupted%') AS interrupted
          FROM webhook_deliveries JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id`,
        )
        .all() as DeliveryFacts[],
    };
  } finally {
    sqlite.close();
  }
}
