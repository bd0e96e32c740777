/** The samples of docs/webhooks.md and our own verification, run on real deliveries. */

// @one-database: about sample code.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { spawn, spawnSync } from '../../scripts/programs.ts';
import { verifySignature } from '../../src/webhooks/signatures.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { type Received, startReceiver } from '../helpers/receiver.ts';

const SAMPLES = fileURLToPath(new URL('../../docs/webhooks/', import.meta.url));
const sample = (file: string): string => join(SAMPLES, file);

interface Case {
  what: string;
  genuine: boolean;
  headers: Record<string, string>;
  body: string;
  secret: string;
}

interface Cases {
  /** By the system clock. Signatures expire soon, so each test creates its own cases. */
  now: number;
  cases: Case[];
}

/** Receives deliveries from a service with an adjustable clock, and modifies some of them. */
async function makeCases(t: TestContext): Promise<Cases> {
  const now = Date.now();
  const receiver = await startReceiver(t);
  const clock = testClock(now);
  const service = await startTestService(t, { clock, env: receiver.env });
  const { body: endpoint } = await service.call<{ id: string; secret: string }>(
    'POST',
    '/v1/webhooks/endpoints',
    { json: { url: receiver.url, events: ['*'] } },
  );
  const { id, secret } = endpoint;
  const sent = async (ms: number, send: () => Promise<unknown>) => {
    clock.set(now + ms);
    const count = receiver.requests.length + 1;
    await send();
    const { headers, body } = (await receiver.waitForRequests(count))[count - 1] as Received;
    // Waits until the attempt is recorded: a clock that jumps earlier would cause another attempt.
    const newest = `/v1/webhooks/endpoints/${id}/deliveries?limit=1`;
    const { data } = (await service.call<{ data: [{ id: string }] }>('GET', newest)).body;
    const ended = await service.call('GET', `/v1/webhooks/deliveries/${data[0].id}?wait=20`);
    assert.equal(ended.body.status, 'succeeded');
    return { headers: headers as Record<string, string>, body };
  };
  const trial = () => service.call('POST', `/v1/webhooks/endpoints/${id}/test`);
  const mail = () =>
    service.call('POST', '/v1/tests?name=Gr%C3%BC%C3%9Fe', {
      body: 'From: a@example.com\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nHello\r\n',
      headers: { 'content-type': 'message/rfc822' },
    });
  const good = await sent(0, mail);
  assert.match(good.body, /"type":"test\.(completed|failed)".*Grüße/);
  const late = await sent(-240_000, trial);
  const old = await sent(-305_000, trial);
  const early = await sent(3_600_000, trial);
  clock.set(now);
  const rotated = await service.call<{ secret: string }>(
    'POST',
    `/v1/webhooks/endpoints/${id}/rotate-secret`,
    { json: { overlap: 3600 } },
  );
  const newSecret = rotated.body.secret;
  const both = await sent(0, trial);
  assert.ok('x-service-signature-previous' in both.headers);
  const after = await sent(3_601_000, trial);
  const headersBut = (change: Record<string, string>) => ({ ...good.headers, ...change });
  const unsigned = Object.fromEntries(
    Object.entries(good.headers).filter(([name]) => !name.includes('signature')),
  );
  const nowText = String(Math.floor(now / 1000) + 1);
  const own = good.headers['x-service-signature']!;
  const forged = { genuine: false, ...good, secret };
  const cases = [
    { what: 'an unmodified delivery', genuine: true, ...good, secret },
    {
      what: 'without the prefix of the signature',
      genuine: true,
      ...good,
      secret,
      headers: headersBut({ 'x-service-signature': own.replace('sha256=', '') }),
    },
    { what: 'four minutes old', genuine: true, ...late, secret },
    { what: 'with the new secret after a rotation', genuine: true, ...both, secret: newSecret },
    { what: 'with the secret before a rotation', genuine: true, ...both, secret },
    { ...forged, what: 'a changed body', body: good.body.replace('a@example', 'b@example') },
    { ...forged, what: 'an extra newline', body: `${good.body}\n` },
    { ...forged, what: 'no body', body: '' },
    { ...forged, what: 'another secret', secret: newSecret },
    { ...forged, what: 'too old', ...old },
    { ...forged, what: 'from the future', ...early },
    { ...forged, what: 'the previous secret after its expiry', ...after },
    {
      ...forged,
      what: 'an old signature with a new timestamp',
      ...old,
      headers: {
        ...old.headers,
        'x-service-timestamp': nowText,
        'webhook-timestamp': nowText,
      },
    },
    { ...forged, what: 'no signature', headers: unsigned },
    {
      ...forged,
      what: 'empty signatures',
      headers: headersBut({
        'x-service-signature': '',
        'x-service-signature-previous': '',
        'webhook-signature': '',
      }),
    },
    {
      ...forged,
      what: 'a truncated signature',
      headers: headersBut({
        'x-service-signature': own.slice(0, -1),
        'webhook-signature': good.headers['webhook-signature']!.slice(0, -1),
      }),
    },
    {
      ...forged,
      what: 'an invalid timestamp',
      headers: headersBut({ 'x-service-timestamp': '1e9', 'webhook-timestamp': 'now' }),
    },
  ];
  return { now, cases };
}

/** Whether the program accepts a delivery: it must exit with 0 or 1 and write nothing to stderr. */
async function accepts(
  t: TestContext,
  command: string[],
  { headers, body, secret }: Case,
): Promise<boolean> {
  const file = join(temporaryFolder(t), 'headers.txt');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(file, lines.join(''));
  const [program, ...args] = [...command, file];
  const child = spawn(program!, args, { env: { ...process.env, WEBHOOK_SECRET: secret } });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  // The program may exit after the headers, before it reads the body.
  child.stdin.on('error', () => {}).end(body);
  const [code] = await once(child, 'close');
  assert.equal(errors, '');
  assert.ok(code === 0 || code === 1, `${program} exited with ${code}`);
  return code === 0;
}

async function tryAll(t: TestContext, command: string[]): Promise<void> {
  const { cases } = await makeCases(t);
  for (const each of cases) assert.equal(await accepts(t, command, each), each.genuine, each.what);
}

test('Node.js verification sample accepts only genuine webhook signatures', (t) =>
  tryAll(t, [process.execPath, sample('verify.ts')]));

test('The standardwebhooks library accepts only genuine webhook signatures', (t) =>
  tryAll(t, [process.execPath, sample('verify-standard.ts')]));

test(
  'Python verification sample accepts only genuine webhook signatures',
  {
    skip: skipUnlessInstalled('python3'),
  },
  (t) => tryAll(t, ['python3', sample('verify.py')]),
);

test(
  'Shell verification sample accepts only genuine webhook signatures',
  {
    skip: skipUnlessInstalled('openssl'),
  },
  (t) => tryAll(t, ['sh', sample('verify.sh')]),
);

test('Go verification sample accepts only genuine webhook signatures', {
  skip: skipUnlessInstalled('go'),
}, async (t) => {
  const program = join(temporaryFolder(t), 'verify');
  const { stderr, status } = spawnSync('go', ['build', '-o', program, sample('verify.go')]);
  assert.equal(status, 0, String(stderr));
  await tryAll(t, [program]);
});

/** Our own verification, at the time of the cases. */
async function startVerdict(t: TestContext) {
  const { now, cases } = await makeCases(t);
  const verdict = ({ headers, body, secret }: Omit<Case, 'what' | 'genuine'>) =>
    verifySignature({ headers, body: Buffer.from(body), secret, now });
  return { cases, verdict };
}

test('verifySignature accepts only genuine webhook signatures', async (t) => {
  const { cases, verdict } = await startVerdict(t);
  for (const each of cases) assert.equal(verdict(each).verified, each.genuine, each.what);
});

test('verifySignature returns the reason for each rejection', async (t) => {
  const { cases, verdict } = await startVerdict(t);
  const verdicts = Object.fromEntries(cases.map((each) => [each.what, verdict(each)]));
  const reason = (what: string) => {
    const result = verdicts[what]!;
    return result.verified ? '' : result.reason;
  };
  assert.deepEqual(verdicts['an unmodified delivery'], { verified: true, isPreviousSecret: false });
  assert.deepEqual(verdicts['with the secret before a rotation'], {
    verified: true,
    isPreviousSecret: true,
  });
  assert.match(
    reason('another secret'),
    /^X-Service-Signature does not match: the secret is wrong, or the body/,
  );
  assert.match(reason('too old'), /^the timestamp is 305 s in the past; the limit is 300 s$/);
  assert.match(reason('from the future'), /^the timestamp is 3600 s in the future/);
  assert.equal(reason('an invalid timestamp'), 'the timestamp header is missing or invalid');
  assert.equal(reason('no signature'), 'the request has no signature');
});

test('verifySignature accepts either signature scheme alone but rejects any invalid one', async (t) => {
  const { cases, verdict } = await startVerdict(t);
  const [good] = cases as [Case];
  const kinds = { own: /^x-service-/, standard: /^webhook-/ };
  for (const [kind, names] of Object.entries(kinds)) {
    const without = Object.entries(good.headers).filter(([name]) => !names.test(name));
    const headers = Object.fromEntries(without);
    assert.equal(verdict({ ...good, headers }).verified, true, `without ${kind}`);
  }
  for (const name of ['x-service-signature', 'webhook-signature']) {
    const value = good.headers[name]!.replace(/.(=?)$/, '!$1');
    const headers = { ...good.headers, [name]: value };
    assert.equal(verdict({ ...good, headers }).verified, false, name);
  }
});
