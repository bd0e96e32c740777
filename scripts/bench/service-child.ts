/**
 * The service to benchmark, with its data in the given folder, the given number of waiting tests, and optionally
 * a PostgreSQL database and options in JSON. Without tests, it is another node of a database that has an owner.
 */

import { createInterface } from 'node:readline';
import { isMainThread } from 'node:worker_threads';
import { readConfig } from '../../src/config/config.ts';
import { silentLog } from '../../src/lib/log.ts';
import { insertTest, newTestRow } from '../../src/mailtests/queries.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { type Service, startService } from '../../src/service.ts';
import { createApiKey } from '../../src/team/api-keys.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { benchMail } from './message.ts';
import { databaseVariables } from './postgres.ts';

export interface ServiceOptions {
  /** Records beside those of the message. */
  zone?: Zone;
  /** Whether messages are analyzed and reports read. */
  keepsJobs?: boolean;
}

// In the bundle, analysis threads run this file too.
if (isMainThread) await serve();

async function serve(): Promise<void> {
  const [folder, count, database, json = '{}'] = process.argv.slice(2) as [
    string,
    string,
    string?,
    string?,
  ];
  const options: ServiceOptions = JSON.parse(json);
  const { zone } = await benchMail();
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: folder,
    ...databaseVariables(database),
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_SMTP_NAME: 'mx.bench.example',
    DELIVERABILITY_INBOX_DOMAIN: 'bench.example',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_RATE_LIMIT: '0',
  });
  const service = await startService(config, '0.0.0', {
    resolver: zoneResolver({ ...zone, ...options.zone }),
    log: silentLog,
  });
  const { app, http, smtp, stop } = service;
  // Most benchmarks measure receiving messages and serving requests, not analysis.
  if (!options.keepsJobs) await app.scheduler.stop();
  const key = Number(count) > 0 ? await createKey(app) : '';
  const seed = { kind: 'auto', metadata: {}, expires_in: 86_400, livemode: true } as const;
  const rows = Array.from({ length: Number(count) }, () => newTestRow(app, seed));
  await app.db.transaction().execute(async (tx) => {
    for (const row of rows) await insertTest(tx, row);
  });
  process.on('SIGTERM', () => void stop().then(() => process.exit(0)));
  console.log(
    JSON.stringify({
      http: http.port,
      smtp: smtp.port,
      key,
      tests: rows.map(({ id, token }) => ({ id, token })),
    }),
  );
  // Each line requests the CPU time since the start, in milliseconds.
  createInterface(process.stdin).on('line', () => {
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify((user + system) / 1000));
  });
}

async function createKey(app: Service['app']): Promise<string> {
  const { owner } = await makeOwner(app, 'owner@bench.example');
  const options = { memberId: owner.id, name: 'bench', role: 'owner', livemode: true } as const;
  return (await createApiKey(app, options)).key;
}
