/** How long the table of domains, the overview and the search take for a team with 1,000 domains, on both databases. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig } from '../../src/config/config.ts';
import { readDigest } from '../../src/domain-table/digest.ts';
import { refreshDue } from '../../src/domain-table/refresh.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { postgresPrograms } from '../../test/helpers/postgres-server.ts';
import { startChild } from './child.ts';
import { fillDomains } from './filled-domains.ts';
import { percentile, round2 } from './measure.ts';
import { measurePage, SIGN_IN_SQL, signIn, signInValues } from './pages.ts';
import { startBenchServer } from './postgres.ts';

const DOMAINS = Number(process.env.BENCH_DOMAINS ?? 1000);
const REQUESTS = 60;

interface Ready {
  http: number;
  key: string;
}

export async function benchDomainTable() {
  const figures: Record<string, number> = { domains: DOMAINS };
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    Object.assign(figures, await measureOn('sqlite', folder, undefined));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (postgresPrograms() === null) return figures;
  const server = await startBenchServer();
  const other = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    Object.assign(figures, await measureOn('postgres', other, await server.create('domains')));
  } finally {
    rmSync(other, { recursive: true, force: true });
    await server.stop();
  }
  return figures;
}

async function measureOn(engine: string, folder: string, url: string | undefined) {
  const path = join(folder, 'deliverability.db');
  const { digestMs, name } = await fill(url ?? path);
  const service = await startChild<Ready>('service-child.mjs', [
    folder,
    '1',
    ...(url === undefined ? [] : [url]),
  ]);
  try {
    const { key, http } = service.ready;
    const base = `http://127.0.0.1:${http}`;
    if (url === undefined) signIn(path);
    else await signInOnPostgres(url);
    const figures: Record<string, number> = { digest_ms: digestMs };
    const api = {
      table: '/v1/domains/table',
      table_sorted: '/v1/domains/table?sort=dmarc&group=client',
      table_filtered: '/v1/domains/table?q=customer-9&next_step=yes',
      search: `/v1/search?q=${name}`,
      search_part: '/v1/search?q=mer-4',
    };
    for (const [what, request] of Object.entries(api))
      figures[`${what} p95_ms`] = await p95(base + request, key);
    for (const page of [
      '/',
      '/domains',
      '/domains?sort=dmarc&group=client',
      '/search?q=customer',
    ]) {
      const { p95: ms, bytes } = await measurePage(base + page);
      figures[`page ${page} p95_ms`] = round2(ms);
      figures[`page ${page} kb`] = round2(bytes / 1000);
    }
    return Object.fromEntries(
      Object.entries(figures).map(([what, value]) => [`${engine} ${what}`, value]),
    );
  } finally {
    await service.stop();
  }
}

/** Fills the database, and reads all digests as the job does. */
async function fill(location: string): Promise<{ digestMs: number; name: string }> {
  const { db, close } = await openStore(location);
  const name = await fillDomains(db, DOMAINS);
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: '/nonexistent',
    DELIVERABILITY_INBOX_DOMAIN: 'bench.example',
    DELIVERABILITY_SECRET_KEY: 'the secret key of all benchmarked nodes',
  });
  const app = { db, clock: systemClock, config };
  const read = async () =>
    Number(
      (
        await db
          .selectFrom('domain_digests')
          .select(({ fn }) => fn.countAll().as('count'))
          .executeTakeFirstOrThrow()
      ).count,
    );
  while ((await read()) < DOMAINS) await refreshDue(app);
  const domains = await db.selectFrom('domains').selectAll().limit(100).execute();
  const started = performance.now();
  for (const domain of domains) await readDigest(app, domain);
  const digestMs = round2((performance.now() - started) / domains.length);
  await close();
  return { digestMs, name };
}

async function signInOnPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let place = 0;
  await client.query(
    SIGN_IN_SQL.replace(/\?/g, () => `$${++place}`),
    signInValues(),
  );
  await client.end();
}

async function p95(url: string, key: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < REQUESTS + 5; i++) {
    const started = performance.now();
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body}`);
    if (i >= 5) times.push(performance.now() - started);
  }
  return round2(percentile(times, 0.95));
}
