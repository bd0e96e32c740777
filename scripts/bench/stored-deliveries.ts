/** Creates a database with many completed deliveries, their events and attempts. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { isoTime } from '../../src/lib/clock.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { openStore } from '../../src/store/open.ts';

/** The deliveries belong to ten endpoints and are a day old, so that the service keeps them. */
export async function fillDeliveries(folder: string, count: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'deliverability.db');
  const store = await openStore(path);
  const at = Date.now() - 86_400_000;
  const newId = createIdGenerator({ now: () => at });
  const sqlite = new Sqlite(path);
  sqlite.pragma('synchronous = OFF');
  const time = isoTime(at);
  const data = JSON.stringify({ object: 'test', text: 'x'.repeat(300) });
  const event = sqlite.prepare(
    'INSERT INTO events (id, type, livemode, created_at, data) VALUES (?, ?, 1, ?, ?)',
  );
  const delivery = sqlite.prepare(
    `INSERT INTO webhook_deliveries
       (id, endpoint_id, event_id, event_type, created_at, status, round_trigger, attempts)
     VALUES (?, ?, ?, 'test.completed', ?, 'succeeded', 'event', 1)`,
  );
  const attempt = sqlite.prepare(
    `INSERT INTO webhook_attempts
       (delivery_id, number, trigger, started_at, duration_ms, url, request_headers, response_status)
     VALUES (?, 1, 'event', ?, 12, 'https://hooks.example.com/', ?, 200)`,
  );
  const endpoints = Array.from({ length: 10 }, () => newId('whe'));
  sqlite.exec('BEGIN');
  for (let i = 0; i < count; i++) {
    const eventId = newId('evt');
    const id = newId('whd');
    event.run(eventId, 'test.completed', time, data);
    delivery.run(id, endpoints[i % endpoints.length], eventId, time);
    attempt.run(id, time, '{"x-service-signature":"sha256=0"}');
  }
  sqlite.exec('COMMIT');
  sqlite.close();
  await store.close();
}
