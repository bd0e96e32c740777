/** No message stops the service, however it is made: every one is analysed, and the loop keeps turning. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { createAnalysisPool } from '../../src/analysis/pool.ts';
import type { Log } from '../../src/lib/log.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';
import { BOMBS } from './bombs.ts';
import { SENDER_ZONE } from './sender.ts';

/** Of the thread that answers SMTP and HTTP. */
const LONGEST_STALL_MS = 200;

const CORPUS = new URL('../../../shared/vectors/mime/', import.meta.url);
const corpus = existsSync(CORPUS)
  ? readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.eml'))
      .sort()
  : [];
const skip = corpus.length === 0 && 'shared/vectors/mime is not here';

describe('the running service', () => {
  test('analyses the corpus of real, old and broken messages', { skip }, async (t) => {
    const service = await startMonitored(t);
    for (const name of corpus) {
      const { id } = await service.call<Test>('POST', '/v1/tests?client_ip=192.0.2.1', {
        body: readFileSync(new URL(name, CORPUS)),
        type: 'message/rfc822',
        status: 201,
      });
      const { status } = await service.testEnded(id);
      assert.equal(status, 'completed', name);
    }
    await assertUnmoved(t, service);
  });

  test('analyses every bomb that comes by SMTP', async (t) => {
    const service = await startMonitored(t);
    for (const [name, make] of Object.entries(BOMBS)) {
      const { id, address } = await service.createTest();
      await sendMail({ port: service.smtpPort, to: address, raw: make() });
      const { status } = await service.testEnded(id);
      assert.equal(status, 'completed', name);
    }
    await assertUnmoved(t, service);
  });

  test('analyses bombs that are handed in by HTTP, many at once', async (t) => {
    const service = await startMonitored(t);
    const ids = await Promise.all(
      Object.values(BOMBS).map(async (make) => {
        // With bare LF, so that each is converted too.
        const body = make().toString().replaceAll('\r\n', '\n');
        const options = { body, type: 'message/rfc822', status: 201 };
        return (await service.call<Test>('POST', '/v1/tests', options)).id;
      }),
    );
    for (const id of ids) assert.equal((await service.testEnded(id)).status, 'completed');
    await assertUnmoved(t, service);
  });
});

describe("check's thread", () => {
  test('analyses the corpus', { skip }, (t) =>
    analyseAll(
      t,
      corpus.map((name) => [name, () => readFileSync(new URL(name, CORPUS))]),
    ),
  );

  test('analyses every bomb', (t) => analyseAll(t, Object.entries(BOMBS)));
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

/** No stall, no fault in the log, and an end in order. */
async function assertUnmoved(t: TestContext, service: ServeProcess): Promise<void> {
  const stall = await service.stall();
  t.diagnostic(`the longest stall was ${stall} ms`);
  assert.ok(stall < LONGEST_STALL_MS, `${stall} ms`);
  const faults = service.log.filter(({ level }) => level === 'warn' || level === 'error');
  assert.deepEqual(faults, []);
  service.signal('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
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
