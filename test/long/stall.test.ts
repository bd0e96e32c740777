/** No message blocks the service: every message is analyzed without stalls of the event loop. */

// @alone: measures stalls of the service's event loop.
// @one-database: about the event loop; the same messages are stored in both by other tests.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { createAnalysisPool } from '../../src/analysis/pool.ts';
import type { Log } from '../../src/lib/log.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { BOMBS } from '../e2e/bombs.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { ONLY_FULL_SIZE } from '../helpers/full-size.ts';
import type { Stall } from '../helpers/loop-monitor.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';

/** For the main thread, which serves SMTP and HTTP. */
const MAX_STALL_MS = 200;

const CORPUS = new URL('../../../shared/vectors/mime/', import.meta.url);
const corpus = existsSync(CORPUS)
  ? readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.eml'))
      .sort()
  : [];
const skip = ONLY_FULL_SIZE || (corpus.length === 0 && 'shared/vectors/mime does not exist');

describe('Running service without stalls over 200 ms', () => {
  test('analyzes the MIME corpus', { skip }, (t) =>
    withoutStall(t, async (service) => {
      for (const name of corpus) {
        const raw = readFileSync(new URL(name, CORPUS));
        assert.equal((await submit(service, raw)).status, 'completed', name);
      }
    }),
  );

  test('analyzes every MIME bomb received over SMTP', (t) =>
    withoutStall(t, async (service) => {
      for (const [name, make] of Object.entries(BOMBS)) {
        const { id, address } = await service.createTest();
        await sendMail({ port: service.smtpPort, to: address, raw: make() });
        assert.equal((await service.testEnded(id)).status, 'completed', name);
      }
    }));

  // Analysis threads use all cores here, so only the CPU time of the main thread is meaningful.
  test('analyzes MIME bombs submitted in parallel with bare LF', {
    skip: ONLY_FULL_SIZE,
  }, async (t) => {
    await measureStall(t, async (service) => {
      const bodies = Object.values(BOMBS).map((make) => make().toString().replaceAll('\r\n', '\n'));
      const tests = await Promise.all(bodies.map((body) => submit(service, Buffer.from(body))));
      for (const { status } of tests) assert.equal(status, 'completed');
    });
  });
});

async function submit(service: ServeProcess, body: Uint8Array): Promise<Test> {
  const options = { body, type: 'message/rfc822', status: 201 };
  for (let attempt = 1; ; attempt++)
    try {
      const { id } = await service.call<Test>('POST', '/v1/tests?client_ip=192.0.2.1', options);
      return await service.testEnded(id);
    } catch (error) {
      // The memory for uploads is full. Clients try again.
      if (!String(error).includes('responded 503') || attempt > MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
}

const MAX_ATTEMPTS = 600;

describe('Analysis thread of the check command', {
  skip: ONLY_FULL_SIZE,
}, () => {
  test('analyzes the MIME corpus', { skip }, (t) =>
    analyzeAll(
      t,
      corpus.map((name) => [name, () => readFileSync(new URL(name, CORPUS))]),
    ),
  );

  test('analyzes every MIME bomb', (t) => analyzeAll(t, Object.entries(BOMBS)));
});

async function startMonitored(t: TestContext): Promise<ServeProcess> {
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const service = await startServe(t, {
    folder: temporaryFolder(t),
    env: { DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}` },
    monitored: true,
  });
  await service.stall();
  return service;
}

/**
 * Asserts that the service performs the work without stalls and errors, and stops cleanly. The CPU time
 * of the main thread is checked in every attempt. Elapsed time depends on other load on the machine, so
 * there are three attempts.
 */
async function withoutStall(
  t: TestContext,
  work: (service: ServeProcess) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { wall } = await measureStall(t, work);
    if (wall < MAX_STALL_MS) return;
    assert.ok(attempt < 3, `${wall} ms`);
  }
}

async function measureStall(
  t: TestContext,
  work: (service: ServeProcess) => Promise<void>,
): Promise<Stall> {
  const service = await startMonitored(t);
  await work(service);
  const stall = await service.stall();
  t.diagnostic(
    `longest stall: ${stall.wall} ms, of which the thread worked at most ${stall.cpu} ms`,
  );
  assert.ok(stall.cpu < MAX_STALL_MS, `${stall.cpu} ms`);
  // A thread that runs out of memory with eight bombs is not an error: each bomb is retried alone.
  const faults = service.log.filter(({ level }) => level === 'error');
  assert.deepEqual(faults, []);
  service.signal('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  return stall;
}

async function analyzeAll(t: TestContext, messages: [string, () => Buffer][]): Promise<void> {
  const faults: string[] = [];
  const at = (message: string, fields: object = {}) =>
    void faults.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug() {}, info() {}, warn: at, error: at };
  const pool = createAnalysisPool({
    threads: 1,
    resolver: async (name) => assert.fail(`${name} was looked up`),
    log,
  });
  t.after(() => pool.close());
  const envelope = { mail_from: null, client_ip: null, helo: null, tls: null };
  for (const [name, make] of messages) {
    const input = { raw: make(), envelope, receivedAt: RECEIVED_AT, kind: 'auto' } as const;
    const outcome = await pool.analyze(input, { offline: true });
    assert.ok(outcome.ok, name);
    assert.deepEqual(faults, [], name);
  }
}
