/** The analysis pool: results, faults of one job and their effect on others, and closing. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { analyze } from '../../src/analysis/analyze.ts';
import type { AnalysisInput, Setup } from '../../src/analysis/check.ts';
import { NO_SETUP } from '../../src/analysis/context.ts';
import { createAnalysisPool, type PoolOptions, type PoolOutcome } from '../../src/analysis/pool.ts';
import type { CheckResult } from '../../src/analysis/result.ts';
import type { FromWorker, ToWorker } from '../../src/analysis/worker.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import type { StartWorker } from '../../src/lib/threads.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../helpers/analysis.ts';
import { goodMessage } from '../helpers/good-message.ts';

const BAD_WORKER = fileURLToPath(new URL('bad-worker.ts', import.meta.url));

const ZONE = zoneResolver({ 'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } });

function inputOf(changes: Record<string, string> = {}): AnalysisInput {
  const raw = Buffer.from(goodMessage(changes).replaceAll('\n', '\r\n'));
  return { raw, envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind: 'auto' };
}

const withFault = (fault: string) => inputOf({ 'X-Fault': fault });

function startPool(t: TestContext, options: Partial<PoolOptions> = {}) {
  const pool = createAnalysisPool({ threads: 1, resolver: ZONE, log: silentLog, ...options });
  t.after(() => pool.close());
  return pool;
}

const startBadPool = (t: TestContext, options: Partial<PoolOptions> = {}) =>
  startPool(t, { workerFile: BAD_WORKER, ...options });

/** `result`, else the reason for the failure. */
const kindOf = (outcome: PoolOutcome): string => (outcome.ok ? 'result' : outcome.reason);

/** A resolver that knows which messages made lookups, by domain, and can delay the answers. */
function holdingResolver() {
  const waiting = new Map<string, () => void>();
  const seen = new Set<string>();
  const held = new Map<string, PromiseWithResolvers<void>>();
  return {
    /** Delays answers for this domain until `release`. */
    hold: (domain: string) => held.set(domain, Promise.withResolvers()),
    release: (domain: string) => held.get(domain)?.resolve(),
    /** Resolves once the message from this domain has made a lookup. */
    whenQueried: (domain: string) =>
      new Promise<void>((resolve) => {
        if (seen.has(domain)) resolve();
        else waiting.set(domain, resolve);
      }),
    resolver: (async (name: string) => {
      const domain = name.split('.').slice(-2).join('.');
      seen.add(domain);
      waiting.get(domain)?.();
      await held.get(domain)?.promise;
      return { status: 'nxdomain' };
    }) as Resolver,
  };
}

const from = (domain: string, changes: Record<string, string> = {}) =>
  inputOf({ From: `a@${domain}`, ...changes });

test('Analysis pool returns the same result as direct analysis', async (t) => {
  const queries: string[] = [];
  const resolver: Resolver = (name, type) => {
    queries.push(`${name} ${type}`);
    return ZONE(name, type);
  };
  const pool = startPool(t, { resolver });
  const offline = await pool.analyze(inputOf(), { offline: true });
  assert.ok(offline.ok && offline.result.score === null);
  assert.equal(queries.length, 0, 'no lookups offline');
  const outcome = await pool.analyze(inputOf());
  assert.ok(outcome.ok);
  const { result } = outcome;
  const expected = await analyze(inputOf(), { resolver: ZONE });
  assert.deepEqual(
    { ...result, checks: JSON.parse(result.checks), providers: JSON.parse(result.providers) },
    JSON.parse(JSON.stringify(expected)),
  );
  assert.equal(result.auth_results.spf, 'pass');
  const expectedLookups = [
    'example.com TXT',
    '_dmarc.example.com TXT',
    '1.2.0.192.in-addr.arpa PTR',
  ];
  for (const lookup of expectedLookups) assert.ok(queries.includes(lookup), lookup);
});

test("A thread gets the team's domains only when they have changed, and uses them for later analyses", async (t) => {
  const sent: string[] = [];
  const startWorker: StartWorker = (file, options) => {
    const worker = new Worker(file, options);
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (messages: ToWorker[], ...rest) => {
      for (const { type } of messages) if (type !== 'answer') sent.push(type);
      post(messages, ...rest);
    };
    return worker;
  };
  const pool = startPool(t, { startWorker });
  const proposed = async (setup: Setup) => {
    const outcome = await pool.analyze(inputOf(), { setup });
    assert.ok(outcome.ok);
    const checks: CheckResult[] = JSON.parse(outcome.result.checks);
    return checks.find(({ id }) => id === 'dmarc_policy')?.fix?.record?.value;
  };
  const withAddress = (feedbackAddress: string): Setup => ({
    ...NO_SETUP,
    domains: { 'example.com': { feedbackAddress, isVerified: true } },
  });
  const [first, second] = [withAddress('fb-1@example.com'), withAddress('fb-2@example.com')];
  assert.equal(await proposed(NO_SETUP), 'v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com');
  assert.match((await proposed(first))!, /rua=mailto:fb-1@/);
  assert.match((await proposed({ ...first }))!, /rua=mailto:fb-1@/);
  assert.match((await proposed(second))!, /rua=mailto:fb-2@/);
  assert.deepEqual(sent, ['analyze', 'domains', 'analyze', 'analyze', 'domains', 'analyze']);
});

test('Analyses at the same time share lookups, and one after them makes its own', async (t) => {
  const queries: string[] = [];
  const resolver: Resolver = (name, type) => {
    queries.push(`${name} ${type}`);
    return ZONE(name, type);
  };
  const pool = startPool(t, { resolver });
  const one = async () => assert.ok((await pool.analyze(inputOf())).ok);
  await Promise.all([one(), one(), one()]);
  const shared = queries.splice(0);
  assert.equal(new Set(shared).size, shared.length);
  await one();
  assert.deepEqual(queries.toSorted(), shared.toSorted());
});

test('The time limit of a job that waits in its thread begins when the job starts', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let receive = (_: FromWorker[]): void => {};
  let ended = false;
  const startWorker: StartWorker = () => ({
    postMessage() {},
    ref() {},
    unref() {},
    async terminate() {
      ended = true;
    },
    on(event, listener) {
      if (event === 'message') receive = listener;
    },
  });
  const pool = startBadPool(t, { startWorker, deadlineMs: 1000, graceMs: 100 });
  void pool.analyze(inputOf());
  t.mock.timers.tick(1050);
  receive([{ type: 'started', job: 1 }]);
  t.mock.timers.tick(1050);
  assert.equal(ended, false);
  t.mock.timers.tick(50);
  assert.equal(ended, true);
});

test('Analysis pool returns each of 40 concurrent jobs its own result', async (t) => {
  const pool = startPool(t, { threads: 2 });
  const subjects = Array.from({ length: 40 }, (_, i) => `Message ${i}`);
  const outcomes = await Promise.all(subjects.map((Subject) => pool.analyze(inputOf({ Subject }))));
  assert.deepEqual(
    outcomes.map((outcome) => outcome.ok && outcome.result.subject),
    subjects,
  );
});

test('Analysis pool ends a thread that is idle, and starts another one for the next job', async (t) => {
  const exits: Promise<unknown>[] = [];
  const pool = startPool(t, {
    idleMs: 1,
    startWorker: (file, options) => {
      const worker = new Worker(file, options);
      exits.push(once(worker, 'exit'));
      return worker;
    },
  });
  for (const threads of [1, 2]) {
    assert.equal(kindOf(await pool.analyze(inputOf())), 'result');
    assert.equal(exits.length, threads);
    await exits.at(-1);
  }
});

test('Analysis pool ends a blocking job; other and later jobs complete', {
  timeout: 60_000,
}, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const looping = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let loops = 0;
  const resolver: Resolver = async (name, type) => {
    if (name === 'looping.invalid') looping[loops++]!.resolve();
    return ZONE(name, type);
  };
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warned.push(message) };
  const pool = startBadPool(t, { resolver, log, deadlineMs: 10_000, graceMs: 2_000 });
  const jobs = Promise.all([pool.analyze(inputOf()), pool.analyze(withFault('loop'))]);
  // First both jobs share the thread; then each is retried alone.
  for (const { promise } of looping) {
    await promise;
    t.mock.timers.tick(12_000);
  }
  assert.deepEqual((await jobs).map(kindOf), ['result', 'unreadable']);
  assert.deepEqual(warned, ['analysis thread is stuck', 'analysis thread is stuck']);
  assert.equal(kindOf(await pool.analyze(inputOf())), 'result');
});

test('Analysis pool reports a job that exhausts memory as unreadable', async (t) => {
  const pool = startBadPool(t, { memoryMb: 64 });
  const jobs = [withFault('allocate'), inputOf()].map((input) => pool.analyze(input));
  assert.deepEqual((await Promise.all(jobs)).map(kindOf), ['unreadable', 'result']);
});

test('Analysis pool reports a job that ends its thread as fault, affecting no other', async (t) => {
  const pool = startBadPool(t);
  const jobs = [withFault('exit'), withFault('exit-when-done'), inputOf()];
  const outcomes = await Promise.all(jobs.map((input) => pool.analyze(input)));
  assert.deepEqual(outcomes.map(kindOf), ['fault', 'result', 'result']);
});

test('Analysis pool retries a suspect job alone', async (t) => {
  const pool = startBadPool(t);
  const culprit = pool.analyze(withFault('exit'));
  const innocent = pool.analyze(inputOf());
  assert.equal(kindOf(await culprit), 'fault');
  const second = pool.analyze(withFault('exit'));
  assert.deepEqual([await innocent, await second].map(kindOf), ['result', 'fault']);
});

test('Analysis pool runs other jobs on other threads during a solo retry', {
  timeout: 60_000,
}, async (t) => {
  const { resolver, hold, release, whenQueried } = holdingResolver();
  const held = ['alone.test', 'other.test', 'one.test', 'two.test'];
  for (const domain of held) hold(domain);
  const pool = startBadPool(t, { threads: 2, resolver });
  const start = async (domain: string) => {
    const outcome = pool.analyze(from(domain));
    await whenQueried(domain);
    return { outcome };
  };
  const started = [await start('alone.test'), await start('other.test')];
  // The job ends the first thread, so that the other job there is retried alone and waits again.
  const culprit = pool.analyze(withFault('exit'));
  release('other.test');
  assert.equal(kindOf(await culprit), 'fault');
  started.push(await start('one.test'), await start('two.test'));
  for (const domain of held) release(domain);
  for (const { outcome } of started) assert.equal(kindOf(await outcome), 'result');
});

test('Closing the analysis pool settles running, waiting and later jobs', {
  timeout: 60_000,
}, async (t) => {
  const { resolver, hold, whenQueried } = holdingResolver();
  hold('held.test');
  const pool = startPool(t, { resolver });
  const jobs = Array.from({ length: 12 }, () => pool.analyze(from('held.test')));
  await whenQueried('held.test');
  await pool.close();
  const kinds = (await Promise.all(jobs)).map(kindOf);
  assert.deepEqual(new Set(kinds), new Set(['closed']));
  assert.equal(kindOf(await pool.analyze(inputOf())), 'closed');
  await pool.close();
});
