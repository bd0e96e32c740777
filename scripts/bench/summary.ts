/** Time of a monthly summary with few tests, many tests and concurrent writers; correctness; cost of counting. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnalysisPool } from '../../src/analysis/pool.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { type CountedTest, countTest } from '../../src/mailtests/tally.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import { type Child, startChild } from './child.ts';
import { measureInTurns, median, rate, ratio, round2 } from './measure.ts';
import { benchMail } from './message.ts';
import { fillTests } from './recorded-tests.ts';
import { benchManyDomains } from './summary-domains.ts';
import { startWriting, verifySummaries } from './summary-writers.ts';

const FEW = 10_000;
const MANY = Number(process.env.BENCH_TESTS ?? 1_000_000);
/** Requests, analyses and counted tests per round. */
const REQUESTS = 40;
const ANALYSES = 500;
const COUNTED = 2000;

interface Ready {
  http: number;
  key: string;
}

export async function benchSummary() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const paths = { few: join(folder, 'few'), many: join(folder, 'many') };
  try {
    const few = await fillTests(paths.few, FEW);
    const many = await fillTests(paths.many, MANY);
    return {
      tests: MANY,
      ...(await latencies(paths, { few: few.domain, many: many.domain })),
      ...(await benchManyDomains(join(folder, 'domains.db'))),
      ...(await besideWriters(paths.many, many.domain)),
      equal_to_a_recount: await verifySummaries(databaseIn(paths.many), [many.domain]),
      ...(await countingCost(databaseIn(paths.many))),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const databaseIn = (folder: string): string => join(folder, 'deliverability.db');

/** Measures while this process stores and counts tests without a pause. */
async function besideWriters(folder: string, domain: string) {
  const service = await startChild<Ready>('service-child.mjs', [folder, '0']);
  const writing = await startWriting(databaseIn(folder), [domain]);
  try {
    return { month_ms_beside_writers: round2(await medianMs(service, '')) };
  } finally {
    await writing.stop();
    await service.stop();
  }
}

type Pair<T> = Record<'few' | 'many', T>;

async function latencies(paths: Pair<string>, domains: Pair<string>) {
  const services: Pair<Child<Ready>> = {
    few: await startChild<Ready>('service-child.mjs', [paths.few, '0']),
    many: await startChild<Ready>('service-child.mjs', [paths.many, '0']),
  };
  try {
    const all = (of: keyof Pair<string>) => () => medianMs(services[of], '');
    const one = (of: keyof Pair<string>) => () =>
      medianMs(services[of], `&domain_id=${domains[of]}`);
    const found = await measureInTurns({
      few: all('few'),
      many: all('many'),
      fewOfDomain: one('few'),
      manyOfDomain: one('many'),
    });
    return {
      month_ms_beside_10_000: round2(median(found.few)),
      month_ms_beside_all: round2(median(found.many)),
      all_over_10_000: ratio(found.many, found.few),
      domain_month_ms_beside_10_000: round2(median(found.fewOfDomain)),
      domain_month_ms_beside_all: round2(median(found.manyOfDomain)),
      domain_all_over_10_000: ratio(found.manyOfDomain, found.fewOfDomain),
    };
  } finally {
    await Promise.all([services.few.stop(), services.many.stop()]);
  }
}

/** The median of sequential requests over a persistent connection. */
async function medianMs({ ready }: Child<Ready>, parameters: string): Promise<number> {
  const url = `http://127.0.0.1:${ready.http}/v1/reports/summary?period=month${parameters}`;
  const headers = { authorization: `Bearer ${ready.key}` };
  const times: number[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const started = performance.now();
    const response = await fetch(url, { headers });
    const { total_tests: tests } = (await response.json()) as { total_tests: number };
    times.push(performance.now() - started);
    if (!response.ok || tests === 0) throw new Error('The summary contains no tests');
  }
  return median(times);
}

/** The cost of counting a real result in the current hour, compared with an analysis by one worker. */
async function countingCost(path: string) {
  const { input, zone } = await benchMail();
  const pool = createAnalysisPool({ threads: 1, resolver: zoneResolver(zone), log: silentLog });
  const outcome = await pool.analyze(input);
  if (!outcome.ok) throw new Error(outcome.detail);
  const store = await openStore(path);
  const row = {
    livemode: 1,
    domain_id: 'dom_bench',
    status: 'completed',
    score: 90,
    grade: 'A',
    ...outcome.result.auth_results,
    checks: outcome.result.checks,
    completed_at: isoTime(Date.now()),
  } as CountedTest;
  // More issues than this message has: most messages have several.
  const issues = ['dkim_key', 'dmarc_policy', 'text_part', 'image_alt', 'link_scheme', 'helo'];
  const rates = await measureInTurns({
    analysis: () => rate(ANALYSES, () => analyzeAll(pool, input)),
    counted: () =>
      rate(COUNTED, () => inTransaction(store.db, (tx) => countTest(tx, row, 1, issues))),
  });
  await Promise.all([pool.close(), store.close()]);
  return {
    counting_ms: round2(1000 / median(rates.counted)),
    counting_over_analysis: ratio(rates.analysis, rates.counted),
  };
}

async function analyzeAll(
  pool: ReturnType<typeof createAnalysisPool>,
  input: Parameters<typeof pool.analyze>[0],
): Promise<void> {
  await Promise.all(Array.from({ length: ANALYSES }, () => pool.analyze(input)));
}

/** One transaction for all: measures what counting adds to an existing transaction. */
async function inTransaction(db: Db, work: (tx: Parameters<typeof countTest>[0]) => Promise<void>) {
  await db.transaction().execute(async (tx) => {
    for (let i = 0; i < COUNTED; i++) await work(tx);
  });
}
