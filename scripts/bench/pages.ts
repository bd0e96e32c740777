/** How long the service takes for each page of the dashboard with much data, and how large the pages are. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { isoTime } from '../../src/lib/clock.ts';
import { sha256 } from '../../src/lib/crypto.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { startChild } from './child.ts';
import { storeResult } from './http.ts';
import { percentile, round2 } from './measure.ts';
import { fillTests } from './recorded-tests.ts';

const TESTS = Number(process.env.BENCH_TESTS ?? 100_000);
const DOMAINS = 10_000;
const REQUESTS = 40;
const TOKEN = 'bench-session';

interface Ready {
  http: number;
  tests: { id: string }[];
}

export async function benchPages() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const { domain } = await fillTests(folder, TESTS);
  const path = join(folder, 'deliverability.db');
  addDomains(path);
  const service = await startChild<Ready>('service-child.mjs', [folder, '2']);
  try {
    const [waiting, completed] = service.ready.tests;
    await storeResult(path, completed!.id);
    signIn(path);
    const url = `http://127.0.0.1:${service.ready.http}`;
    const pages = [
      ...PAGES,
      `/tests/${waiting!.id}`,
      `/tests/${completed!.id}`,
      `/domains/${domain}`,
      `/domains/${domain}/files`,
      `/tests?domain_id=${domain}`,
      `/?period=month&domain_id=${domain}`,
    ];
    const figures: Record<string, number> = {};
    let [slowest, largest] = [0, 0];
    for (const page of pages) {
      const { p95, bytes } = await measurePage(url + page);
      const name = page.replace(/\/(test|dom)_\w+/, '/$1').replace(/dom_\w+/, 'dom');
      figures[`${name} p95_ms`] = round2(p95);
      figures[`${name} kb`] = round2(bytes / 1000);
      // A report takes a thread that renders it; its time is shown, but is not that of a page.
      if (page !== `/tests/${completed!.id}`) slowest = Math.max(slowest, p95);
      largest = Math.max(largest, bytes);
    }
    const assets = await assetBytes(url);
    return {
      tests: TESTS,
      domains: DOMAINS,
      slowest_page_p95_ms: round2(slowest),
      script_kb: round2(assets.script / 1000),
      largest_page_with_assets_kb: round2((largest + assets.script + assets.style) / 1000),
      ...figures,
    };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const PAGES = [
  '/',
  '/?period=month',
  '/tests',
  '/tests?status=failed',
  '/tests?q=customers',
  '/tests?q=nothing+like+this',
  '/tests?max_score=69',
  '/search?q=customers',
  '/search?q=nothing+like+this',
  '/tests/new',
  '/inboxes',
  '/domains',
  '/monitors',
  '/receivers',
  '/alerts',
  '/reports',
  '/reports?period=month',
  '/reports/shares',
  '/reports/schedules',
  '/team',
  '/api-keys',
  '/webhooks',
  '/audit-log',
  '/system',
  '/account',
];

function addDomains(path: string): void {
  const sqlite = new Sqlite(path);
  const newId = createIdGenerator({ now: () => Date.now() });
  const now = isoTime(Date.now());
  const insert = sqlite.prepare(
    "INSERT INTO domains (id, name, status, token, created_at, pending_since, given_selectors, learnt_selectors, health_status, health_checks) VALUES (?, ?, ?, 'x', ?, ?, '[]', '[]', ?, '[]')",
  );
  sqlite.transaction(() => {
    for (let i = 0; i < DOMAINS; i++)
      insert.run(
        newId('dom'),
        `customer-${i}.example`,
        i % 50 === 0 ? 'pending' : 'verified',
        now,
        now,
        i % 20 === 0 ? 'critical' : 'healthy',
      );
  })();
  sqlite.close();
}

/** A session of the owner, as the service stores it. */
export const SIGN_IN_SQL =
  'INSERT INTO sessions (id, member_id, hash, created_at, last_seen_at, expires_at) SELECT ?, id, ?, ?, ?, ? FROM members';

export const signInValues = (): string[] => [
  'ses_bench',
  sha256(TOKEN),
  ...[0, 0, 86_400_000].map((ms) => isoTime(Date.now() + ms)),
];

export function signIn(path: string): void {
  const sqlite = new Sqlite(path);
  sqlite.prepare(SIGN_IN_SQL).run(...signInValues());
  sqlite.close();
}

const HEADERS = { cookie: `deliverability=${TOKEN}`, 'accept-encoding': 'gzip' };

export async function measurePage(url: string): Promise<{ p95: number; bytes: number }> {
  const times: number[] = [];
  let bytes = 0;
  for (let i = 0; i < REQUESTS + 3; i++) {
    const startedAt = performance.now();
    const response = await fetch(url, { headers: HEADERS, redirect: 'manual' });
    const body = await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${url} returned ${response.status}`);
    // The first requests load code and statements.
    if (i >= 3) times.push(performance.now() - startedAt);
    // Fetch has decompressed the body, so the header tells its size.
    bytes = Number(response.headers.get('content-length') ?? body.byteLength);
  }
  return { p95: percentile(times, 0.95), bytes };
}

async function assetBytes(url: string): Promise<{ style: number; script: number }> {
  const html = await (await fetch(`${url}/account`, { headers: HEADERS })).text();
  const sizeOf = async (pattern: RegExp) => {
    const response = await fetch(url + pattern.exec(html)![1]!, { headers: HEADERS });
    const body = await response.arrayBuffer();
    return Number(response.headers.get('content-length') ?? body.byteLength);
  };
  return {
    style: await sizeOf(/href="(\/assets\/[^"]+\.css)"/),
    script: await sizeOf(/src="(\/assets\/[^"]+\.js)"/),
  };
}
