/**
 * Feedback: a large report, a million rows, and hostile files. Also the sums over these rows, and what an import costs
 * those who send tests at the same time.
 */

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { BOMBS } from '../../test/feedback/reading/bombs.ts';
import { dmarc, gzip, mail, record, text } from '../../test/feedback/reading/builders.ts';
import { makeKey, signMessage } from '../../test/helpers/signer.ts';
import { type Child, startChild } from './child.ts';
import { FILL_SUMS } from './counts.ts';
import { median, percentile, ratio, round2 } from './measure.ts';
import { memoryOf } from './memory.ts';
import { benchMail } from './message.ts';
import { openClient, sendAll } from './smtp.ts';

const REPORTER = 'receiver.example';
const DAY_S = 86_400;

/** The largest report that a public collection of samples has. */
const LARGE_RECORDS = 2286;
const LARGE_ROUNDS = 9;

const IMPORTED_REPORTS = 20_000;
const ROWS_EACH = 50;
/** Enough to keep the service busy. The command line sends one after the other. */
const UPLOADS = 2;
/** As many as `feedback import` sends in one form. */
const FILES_TOGETHER = 50;

const QUERIES = 30;
const TESTS = 600;
const TEST_ROUNDS = 3;
const HEALTH_INTERVAL_MS = 5;

interface Ready {
  http: number;
  smtp: number;
  key: string;
  tests: { token: string }[];
}

/** `--reports=2000` imports 2,000 reports instead of 20,000. */
export async function benchFeedback(options: string[] = []) {
  const given = options.find((option) => option.startsWith('--reports='));
  const reports = given ? Number(given.split('=')[1]) : IMPORTED_REPORTS;
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const key = makeKey('rsa2048');
  const zone = { [`s1._domainkey.${REPORTER}`]: { TXT: [key.record] } };
  const child = await startChild<Ready>('service-child.mjs', [
    folder,
    String(TESTS * (2 * (TEST_ROUNDS + 1) + 1)),
    '',
    JSON.stringify({ keepsJobs: true, zone }),
  ]);
  try {
    const service = createClient(child, join(folder, 'deliverability.db'));
    const domain = await service.post<{ id: string; feedback: { address: string } }>(
      '/v1/domains',
      JSON.stringify({ name: 'example.com' }),
    );
    confirmReporter(join(folder, 'deliverability.db'));
    const large = await measureLarge(service, domain.feedback.address, (raw) =>
      signMessage(Buffer.from(raw), { domain: REPORTER, selector: 's1', key }),
    );
    const imported = await measureImport(service, reports);
    nameSources(join(folder, 'deliverability.db'), domain.id);
    const queries = await measureQueries(service, domain.id);
    const beside = await measureTests(service);
    const hostile = await measureHostile(service);
    return { ...large, ...imported, ...queries, ...beside, ...hostile };
  } finally {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Client = ReturnType<typeof createClient>;

function createClient(child: Child<Ready>, path: string) {
  const database = new Sqlite(path, { readonly: true });
  const count = (query: string) => () => database.prepare(query).pluck().get() as number;
  const { http, smtp, key, tests } = child.ready;
  const lines = createInterface(child.process.stdout!)[Symbol.asyncIterator]();
  const base = `http://127.0.0.1:${http}`;
  const authorization = `Bearer ${key}`;
  async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await fetch(`${base}${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
  return {
    smtp,
    tests,
    pid: child.process.pid!,
    get: <T>(path: string) => request<T>(path, { headers: { authorization } }),
    post: <T>(path: string, body: string) =>
      request<T>(path, {
        method: 'POST',
        body,
        headers: { authorization, 'content-type': 'application/json' },
      }),
    upload(files: Uint8Array[]) {
      const body = new FormData();
      for (const [index, file] of files.entries())
        body.append('file', new Blob([Buffer.from(file)]), String(index));
      return request<{ data: { status: string }[] }>('/v1/feedback/reports', {
        method: 'POST',
        body,
        headers: { authorization },
      });
    },
    /** Sends a file that is refused, at once if it is too large for a request. */
    offer: (file: Uint8Array) =>
      fetch(`${base}/v1/feedback/reports`, {
        method: 'POST',
        body: Buffer.from(file),
        headers: { authorization, 'content-type': 'application/octet-stream' },
      }).then((response) => response.text()),
    countRows: count('SELECT count(*) FROM dmarc_rows'),
    countDue: count('SELECT count(*) FROM feedback_mails WHERE due_at IS NOT NULL'),
    countUnanalyzed: count('SELECT count(*) FROM tests WHERE analysis_due_at IS NOT NULL'),
    databaseBytes: () => statSync(path).size,
    health: () => fetch(`${base}/healthz`).then((response) => response.text()),
    /** CPU time of the service since its start, in milliseconds. */
    async cpu(): Promise<number> {
      child.process.stdin!.write('\n');
      return Number((await lines.next()).value);
    },
  };
}

const addressOf = (index: number): string =>
  `198.${18 + ((index >> 16) & 1)}.${(index >> 8) & 255}.${index & 255}`;

/** `first` makes the rows of reports differ. */
const records = (count: number, first: number): string =>
  Array.from({ length: count }, (_, index) =>
    record({
      source: addressOf(first + index),
      count: String(1 + (index % 7)),
      ...(index % 5 === 0 ? { dkim: 'fail', spf: 'fail' } : {}),
    }),
  ).join('');

/** Of a day within the last year. */
function reportOf(index: number, count: number): string {
  const today = Math.floor(Date.now() / 1000 / DAY_S) * DAY_S;
  const begin = today - (1 + (index % 365)) * DAY_S;
  return dmarc({
    orgName: `receiver ${index % 40}`,
    id: `bench-${index}`,
    begin: String(begin),
    end: String(begin + DAY_S - 1),
    records: records(count, (index * 37) % 4000),
  });
}

/** CPU time of the service from SMTP until all rows are stored. */
async function measureLarge(
  service: Client,
  address: string,
  sign: (raw: Uint8Array) => Promise<Uint8Array>,
) {
  const cpu: number[] = [];
  const smtp = await openClient(service.smtp);
  for (let round = 0; round <= LARGE_ROUNDS; round++) {
    const content = gzip(reportOf(1_000_000 + round, LARGE_RECORDS));
    const raw = await sign(mail([text('A report.'), { type: 'application/gzip', content }]));
    const before = await service.cpu();
    await smtp.send(address, Buffer.from(raw));
    while (service.countRows() < (round + 1) * LARGE_RECORDS || service.countDue() > 0)
      await pause(10);
    // The first one starts the thread.
    if (round > 0) cpu.push((await service.cpu()) - before);
  }
  smtp.close();
  return { large_report_records: LARGE_RECORDS, large_report_cpu_ms: Math.round(median(cpu)) };
}

/** As `feedback import` sends them. */
async function measureImport(service: Client, reports: number) {
  const files = Array.from({ length: reports }, (_, index) => gzip(reportOf(index, ROWS_EACH)));
  const before = await service.cpu();
  const started = performance.now();
  await uploadAll(service, files);
  const seconds = (performance.now() - started) / 1000;
  const rows = service.countRows();
  if (rows < reports * ROWS_EACH) throw new Error(`only ${rows} rows are stored`);
  return {
    imported_reports: reports,
    imported_rows: reports * ROWS_EACH,
    import_seconds: round2(seconds),
    import_cpu_seconds: round2(((await service.cpu()) - before) / 1000),
    database_mb: Math.round(service.databaseBytes() / 1e6),
  };
}

async function uploadAll(
  service: Client,
  files: Uint8Array[],
  { uploads = UPLOADS, signal }: { uploads?: number; signal?: AbortSignal } = {},
) {
  const forms = Array.from({ length: Math.ceil(files.length / FILES_TOGETHER) }, (_, index) =>
    files.slice(index * FILES_TOGETHER, (index + 1) * FILES_TOGETHER),
  );
  const rest = forms.values();
  await Promise.all(
    Array.from({ length: uploads }, async () => {
      for (const form of rest) {
        if (signal?.aborted) return;
        const { data } = await service.upload(form);
        const wrong = data.find(({ status }) => status !== 'counted');
        if (wrong) throw new Error(`a report is ${wrong.status}`);
      }
    }),
  );
}

/** As if a person had confirmed it. */
function confirmReporter(path: string): void {
  const database = new Sqlite(path, { timeout: 10_000 });
  database.exec(`
    INSERT INTO feedback_reporters (id, name, kind, title, trusted, first_at, last_at, reports, counted)
      VALUES ('rep_0', 'DKIM ${REPORTER}', 'dkim', '${REPORTER}', 1, '2026', '2026', 0, 0);`);
  database.close();
}

const SOURCES = 500;

/** As if all addresses had been looked up, which takes the service a quarter of an hour. */
function nameSources(path: string, domain: string): void {
  const database = new Sqlite(path, { timeout: 10_000 });
  // The service has looked up the first ones.
  database.exec(`
    DELETE FROM feedback_source_months;
    DELETE FROM feedback_source_days;
    DELETE FROM feedback_sources;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${SOURCES - 1})
    INSERT INTO feedback_sources (id, domain_id, key, name, evidence)
      SELECT 'src_' || i, '${domain}', 'host h' || i || '.example', 'h' || i || '.example', 'x' FROM n;
    UPDATE feedback_addresses SET source_id = 'src_' || (rowid % ${SOURCES}), look_up_at = '9';
    INSERT INTO feedback_source_days
      (source_id, domain_id, day, messages, passed, dkim, spf, quarantined, rejected, forwarded)
      SELECT source_id, r.domain_id, day, sum(count), sum(count * (outcome = 'pass')),
        sum(count * (dkim = 'pass')), sum(count * (spf = 'pass')), 0, 0, 0
      FROM dmarc_rows r JOIN feedback_addresses a ON a.id = r.domain_id || ' ' || r.address
      GROUP BY source_id, day;
    ${FILL_SUMS}`);
  database.close();
}

/** Times of requests for the sums, with all rows stored. */
async function measureQueries(service: Client, domainId: string) {
  const today = new Date().toISOString().slice(0, 10);
  const yearAgo = new Date(Date.now() - 364 * DAY_S * 1000).toISOString().slice(0, 10);
  const year = `&from=${yearAgo}&to=${today}`;
  const paths = {
    month_ms: `/v1/feedback/dmarc?domain_id=${domainId}`,
    year_ms: `/v1/feedback/dmarc?domain_id=${domainId}${year}`,
    sources_ms: `/v1/feedback/sources?domain_id=${domainId}`,
    sources_year_ms: `/v1/feedback/sources?domain_id=${domainId}${year}`,
    advice_ms: `/v1/feedback/advice?domain_id=${domainId}`,
    reports_ms: `/v1/feedback/reports?domain_id=${domainId}&status=counted&type=dmarc`,
    reporters_ms: '/v1/feedback/reporters',
  };
  const medians: Record<string, number> = {};
  for (const [name, path] of Object.entries(paths)) {
    const times: number[] = [];
    for (let i = 0; i < QUERIES; i++) {
      const started = performance.now();
      await service.get(path);
      times.push(performance.now() - started);
    }
    medians[name] = round2(median(times));
  }
  return medians;
}

/** Tests accepted per second without an import and beside one, in turns. */
async function measureTests(service: Client) {
  const { input } = await benchMail();
  const raw = Buffer.from(input.raw);
  const tokens = service.tests.map(({ token }) => token);
  const [alone, beside]: [number[], number[]] = [[], []];
  let next = 2_000_000;
  const files = Array.from({ length: 6000 }, () => gzip(reportOf(next++, ROWS_EACH)));
  for (let round = 0; round <= TEST_ROUNDS; round++) {
    const rateAlone = await sendAll([service.smtp], tokens.splice(0, TESTS), raw);
    await analyzed(service);
    const ending = new AbortController();
    const uploads = uploadAll(service, files.splice(0, 1500), {
      uploads: 1,
      signal: ending.signal,
    });
    const rateBeside = await sendAll([service.smtp], tokens.splice(0, TESTS), raw);
    ending.abort();
    await uploads;
    await analyzed(service);
    if (round > 0) {
      alone.push(rateAlone);
      beside.push(rateBeside);
    }
  }
  return {
    tests_per_second_alone: Math.round(median(alone)),
    tests_per_second_beside_import: Math.round(median(beside)),
    tests_beside_over_alone: ratio(beside, alone),
  };
}

async function analyzed(service: Client): Promise<void> {
  while (service.countUnanalyzed() > 0) await pause(100);
}

/** CPU time and memory of each hostile file, and the answers of the service while tests are analyzed beside them. */
async function measureHostile(service: Client) {
  const files = BOMBS.map(([, make]) => make());
  const cpu: number[] = [];
  const memory: number[] = [];
  for (const file of files) {
    const before = await service.cpu();
    const memoryBefore = memoryOf(service.pid).resident;
    resetPeak(service.pid);
    await service.offer(file);
    memory.push(memoryOf(service.pid).peak - memoryBefore);
    cpu.push((await service.cpu()) - before);
  }
  const { input } = await benchMail();
  const tokens = service.tests.slice(-TESTS).map(({ token }) => token);
  const health: number[] = [];
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      const started = performance.now();
      await service.health();
      health.push(performance.now() - started);
      await pause(HEALTH_INTERVAL_MS);
    }
  })();
  const tests = sendAll([service.smtp], tokens, Buffer.from(input.raw));
  for (const file of files) await service.offer(file);
  await tests;
  isDone = true;
  await watching;
  return {
    hostile_files: files.length,
    hostile_cpu_ms_most: Math.round(Math.max(...cpu)),
    hostile_memory_mb_most: Math.round(Math.max(...memory)),
    health_beside_hostile_p99_ms: round2(percentile(health, 0.99)),
  };
}

/** The peak of a process starts again (proc(5), clear_refs). */
const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');
