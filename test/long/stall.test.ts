/** No message stops the service, however it is made: every one is analysed, and the loop keeps turning. */

// @alone: it measures how long the event loop of a service stands still.

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
import type { Stall } from '../helpers/loop-monitor.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';

/** Of the thread that answers SMTP and HTTP. */
const LONGEST_STALL_MS = 200;

const CORPUS = new URL('../../../shared/vectors/mime/', import.meta.url);
const corpus = existsSync(CORPUS)
  ? readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.eml'))
      .sort()
  : [];
const skip = corpus.length === 0 && 'shared/vectors/mime is not here';

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

  // The analysis threads take all cores here, so that the clock says nothing about the main thread.
  test('analyzes MIME bombs submitted in parallel with bare LF', async (t) => {
    await measured(t, async (service) => {
      const bodies = Object.values(BOMBS).map((make) => make().toString().replaceAll('\r\n', '\n'));
      const tests = await Promise.all(bodies.map((body) => submit(service, Buffer.from(body))));
      for (const { status } of tests) assert.equal(status, 'completed');
    });
  });
});

async function submit(service: ServeProcess, body: Uint8Array): Promise<Test> {
  const options = { body, type: 'message/rfc822', status: 201 };
  const { id } = await service.call<Test>('POST', '/v1/tests?client_ip=192.0.2.1', options);
  return service.testEnded(id);
}

describe('Analysis thread of the check command', () => {
  test('analyzes the MIME corpus', { skip }, (t) =>
    analyseAll(
      t,
      corpus.map((name) => [name, () => readFileSync(new URL(name, CORPUS))]),
    ),
  );

  test('analyzes every MIME bomb', (t) => analyseAll(t, Object.entries(BOMBS)));
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
 * Work that the service does without standing still, without a fault in its log, and with an end in
 * order. What the main thread itself does counts in every run; that the clock shows more may be the
 * machine's doing, so there are three tries.
 */
async function withoutStall(
  t: TestContext,
  work: (service: ServeProcess) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { wall } = await measured(t, work);
    if (wall < LONGEST_STALL_MS) return;
    assert.ok(attempt < 3, `${wall} ms`);
  }
}

async function measured(
  t: TestContext,
  work: (service: ServeProcess) => Promise<void>,
): Promise<Stall> {
  const service = await startMonitored(t);
  await work(service);
  const stall = await service.stall();
  t.diagnostic(
    `longest stall: ${stall.wall} ms, of which the thread worked at most ${stall.cpu} ms`,
  );
  assert.ok(stall.cpu < LONGEST_STALL_MS, `${stall.cpu} ms`);
  // A thread that ran out of memory with eight bombs in it is no fault: each is tried again, alone.
  const faults = service.log.filter(({ level }) => level === 'error');
  assert.deepEqual(faults, []);
  service.signal('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  return stall;
}

async function analyseAll(t: TestContext, messages: [string, () => Buffer][]): Promise<void> {
  const faults: string[] = [];
  const at = (message: string, fields: object = {}) =>
    void faults.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug() {}, info() {}, warn: at, error: at };
  const pool = createAnalysisPool({
    threads: 1,
    resolver: async (name) => assert.fail(`${name} was asked for`),
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
