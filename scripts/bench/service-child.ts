/** The service to benchmark, with its database in the given folder and the given number of waiting tests. */

import { isMainThread } from 'node:worker_threads';
import { readConfig } from '../../src/config/config.ts';
import { silentLog } from '../../src/lib/log.ts';
import { insertTest, newTestRow } from '../../src/mailtests/queries.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { startService } from '../../src/service.ts';
import { createApiKey } from '../../src/team/api-keys.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { benchMail } from './message.ts';

// In the bundle, analysis threads run this file too.
if (isMainThread) await serve();

async function serve(): Promise<void> {
  const [folder, count] = process.argv.slice(2) as [string, string];
  const { zone } = await benchMail();
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_SMTP_NAME: 'mx.bench.example',
    DELIVERABILITY_INBOX_DOMAIN: 'bench.example',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_RATE_LIMIT: '0',
  });
  const service = await startService(config, '0.0.0', {
    resolver: zoneResolver(zone),
    log: silentLog,
  });
  const { app, http, smtp, stop } = service;
  // The benchmarks measure receiving messages and serving requests, not analysis.
  await app.scheduler.stop();
  const { owner } = await makeOwner(app, 'owner@bench.example');
  const { key } = await createApiKey(app, {
    memberId: owner.id,
    name: 'bench',
    role: 'owner',
    livemode: true,
  });
  const seed = { kind: 'auto', metadata: {}, expires_in: 86_400, livemode: true } as const;
  const rows = Array.from({ length: Number(count) }, () => newTestRow(app, seed));
  await app.db.transaction().execute(async (tx) => {
    for (const row of rows) await insertTest(tx, row);
  });
  process.on('SIGTERM', () => void stop());
  console.log(
    JSON.stringify({
      http: http.port,
      smtp: smtp.port,
      key,
      tests: rows.map(({ id, token }) => ({ id, token })),
    }),
  );
}
