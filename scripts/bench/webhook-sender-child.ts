/** The service as webhook sender: appends events at a given rate. */

import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { readConfig } from '../../src/config/config.ts';
import { appendEvent } from '../../src/events/events.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { presentListed } from '../../src/mailtests/present.ts';
import { newTestRow } from '../../src/mailtests/queries.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { startService } from '../../src/service.ts';
import { transact } from '../../src/store/open.ts';
import { newSigningSecret, sealSigningSecret } from '../../src/webhooks/signatures.ts';
import { databaseVariables } from './postgres.ts';

export interface Order {
  perSecond: number;
  seconds: number;
}

export interface Sent {
  /** The commit time of each event, in milliseconds since the Unix epoch. */
  committed: [id: string, at: number][];
  /** Resident memory in MB, each second. */
  memory: number[];
  /** CPU seconds of the whole process. */
  cpu: number;
  /** Deliveries that have not succeeded. */
  unfinished: number;
}

// In the bundle, analysis threads run this file too.
if (isMainThread) await serve();

async function serve(): Promise<void> {
  const [folder, ca, port, database] = process.argv.slice(2) as [string, string, string, string?];
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: folder,
    ...databaseVariables(database),
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32',
    DELIVERABILITY_WEBHOOK_CA_FILE: ca,
  });
  const { app, stop } = await startService(config, '0.0.0', {
    resolver: zoneResolver({}),
    log: silentLog,
  });
  await ensureEndpoint(app, port);
  process.on('SIGTERM', () => void stop().then(() => process.exit(0)));
  console.log(JSON.stringify({}));
  for await (const line of createInterface(process.stdin))
    console.log(JSON.stringify(await send(app, JSON.parse(line))));
}

/** The nodes of one database share an endpoint. */
async function ensureEndpoint(app: App, port: string): Promise<void> {
  if (await app.db.selectFrom('webhook_endpoints').select('id').executeTakeFirst()) return;
  const id = app.newId('whe');
  await app.db
    .insertInto('webhook_endpoints')
    .values({
      id,
      url: `https://127.0.0.1:${port}/hook`,
      events: '["*"]',
      enabled: 1,
      livemode: 1,
      secret: sealSigningSecret(app.secrets, id, newSigningSecret()),
      created_at: isoTime(app.clock.now()),
    })
    .execute();
}

type App = Awaited<ReturnType<typeof startService>>['app'];

/** Appends each event in its own transaction, as the service does. */
async function send(app: App, { perSecond, seconds }: Order): Promise<Sent> {
  const seed = { kind: 'auto', metadata: {}, expires_in: 3600, livemode: true } as const;
  const data = presentListed(newTestRow(app, seed), app.config, []);
  const committed: Sent['committed'] = [];
  const memory: number[] = [];
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const appending = new Set<Promise<void>>();
  const append = async () => {
    const { id } = await transact(app.db, (tx) =>
      appendEvent(tx, { type: 'test.completed', livemode: true, data }, app),
    );
    committed.push([id, performance.timeOrigin + performance.now()]);
  };
  for (let count = 0; count < perSecond * seconds; ) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
    for (; count < Math.min(due, perSecond * seconds); count++) {
      const work = append().finally(() => appending.delete(work));
      appending.add(work);
    }
    if (memory.length < Math.floor((performance.now() - startedAt) / 1000))
      memory.push(Math.round(process.memoryUsage.rss() / 1e6));
    await pause(1);
  }
  await Promise.all(appending);
  const unfinished = await waitUntilDone(app);
  const used = process.cpuUsage(cpu);
  return { committed, memory, cpu: (used.user + used.system) / 1e6, unfinished };
}

/** Waits until all deliveries are done or none has completed for five seconds; returns how many are left. */
async function waitUntilDone(app: App): Promise<number> {
  let last = -1;
  for (let idleRounds = 0; idleRounds < 50; ) {
    const { count } = await app.db
      .selectFrom('webhook_deliveries')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('due_at', 'is not', null)
      .executeTakeFirstOrThrow();
    if (count === 0) return 0;
    idleRounds = count === last ? idleRounds + 1 : 0;
    last = count;
    await pause(100);
  }
  return last;
}
