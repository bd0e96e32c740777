/** One service with its clients: it is killed at given moments, started again, and finishes its work. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { Kysely } from 'kysely';
import { type Db, openStore, type Store } from '../../../src/store/open.ts';
import { sqliteDialect } from '../../../src/store/sqlite/dialect.ts';
import { NO_WAL_SYNC } from '../../../src/store/sqlite/wal-sync.ts';
import type { Tables } from '../../../src/store/tables.generated.ts';
import { startTestService } from '../../helpers/app.ts';
import type { Environment } from '../../helpers/program.ts';
import type { Random } from '../../helpers/random.ts';
import { ownerKey, type ServeOptions, spawnServe } from '../../helpers/serve-process.ts';
import { databaseIn, onPostgres, SAME_NODE } from '../../helpers/store.ts';
import type { Load, Moment } from './load.ts';
import { errorsIn } from './log-errors.ts';
import { inTime, STARTING } from './moments.ts';
import { settle } from './settle.ts';
import { type Address, createSite, type Site, startClients } from './site.ts';

export interface OneService {
  site: Site;
  location: string;
  /** Starts the service, kills it once the moments have come, in this order. Resolves with those that the kill hit. */
  runAndKill(moments: Moment[], env?: Environment): Promise<string[]>;
  /** Ends the clients, finishes all work in this process, and calls `verify` before it stops. */
  finish(verify: (db: Db) => Promise<void>): Promise<void>;
}

interface OneServiceOptions {
  folder: string;
  env: Environment;
  loads: Load[];
  random: Random;
}

export async function prepareService(
  t: TestContext,
  { folder, env, loads, random }: OneServiceOptions,
): Promise<OneService> {
  const options: ServeOptions = { folder, env: { ...env, ...SAME_NODE } };
  const location = await databaseIn(folder);
  const key = await ownerKey(options);
  await inStore(location, async (db) => {
    for (const load of loads) await load.prepare?.(db);
  });
  let running: Address | null = null;
  const site = createSite({
    key,
    random,
    pick: () => running,
    async write(work) {
      while (!running) await site.retryPause();
      await inStore(location, work);
    },
  });
  const stopClients = startClients(t, site, loads);
  return {
    site,
    location,
    async runAndKill(moments, more = {}) {
      const service = await spawnServe({ folder, env: { ...options.env, ...more } });
      const reader = await openReader(location);
      try {
        const all = { service, db: reader.db, random };
        if (!moments.some((moment) => moment === STARTING)) {
          const ready = await service.nextLine('ready');
          assert.ok(ready, `the service did not restart: ${JSON.stringify(service.log)}`);
          running = addressOf(ready);
        }
        for (const moment of moments) await inTime(moment, all, site);
        service.signal('SIGKILL');
        running = null;
        const { code, signal } = await service.ended;
        assert.ok(signal === 'SIGKILL' || code === 0, `it ended: ${JSON.stringify(service.log)}`);
        for (const load of loads) await load.afterKill?.(reader.db);
        const hit: string[] = [];
        for (const moment of moments) if (await moment.end(reader.db)) hit.push(moment.name);
        assert.deepEqual(errorsIn(service.log), []);
        return hit;
      } finally {
        await reader.close();
        service.signal('SIGKILL');
      }
    },
    async finish(verify) {
      const { app, url, smtp, logged, stop } = await startTestService(t, {
        folder,
        env: options.env,
        // That of the environment, as in the program.
        resolver: undefined,
      });
      running = { url, smtpPort: smtp.port };
      await stopClients();
      for (const load of loads) load.recover?.();
      await settle(app.db);
      await verify(app.db);
      await stop();
      running = null;
      assert.deepEqual(errorsIn(logged.map(({ fields, ...line }) => ({ ...line, ...fields }))), []);
      const last = await spawnServe(options);
      assert.ok(await last.nextLine('ready'), JSON.stringify(last.log));
      last.signal('SIGTERM');
      assert.deepEqual(await last.ended, { code: 0, signal: null });
    },
  };
}

const addressOf = (ready: Record<string, unknown>): Address => ({
  url: String(ready.api),
  smtpPort: Number(String(ready.smtp).split(':').at(-1)),
});

async function inStore(location: string, work: (db: Db) => Promise<void>): Promise<void> {
  const store = await openStore(location);
  try {
    await work(store.db);
  } finally {
    await store.close();
  }
}

/** Read-only, so that recovery from the last kill is left to the service. */
async function openReader(location: string): Promise<Pick<Store, 'db' | 'close'>> {
  if (onPostgres) return openStore(location);
  const sqlite = new BetterSqlite(location, { readonly: true });
  const db: Db = new Kysely<Tables>({ dialect: sqliteDialect(sqlite, NO_WAL_SYNC) });
  return { db, close: () => db.destroy() };
}
