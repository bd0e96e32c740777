/** `listen` as a process with a real service: its output, responses and exit codes. */

// @one-database: about a command without a database.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { openAuthority } from '../../src/commands/listen/authority.ts';
import type { WebhookDelivery } from '../../src/webhooks/schema.ts';
import { startTestService, type TestService, temporaryFolder } from '../helpers/app.ts';
import { bundleProgram, runProgram, spawnProgram } from '../helpers/program.ts';

before(async () => void (await bundleProgram()));

interface ListenProcess {
  url: string;
  caFile: string;
  /** All of stderr so far. */
  stderr(): string;
  /** Resolves with all of stdout, its wrapped lines joined, or with all of stderr, as soon as it matches. */
  prints(pattern: RegExp, stream?: 'stdout' | 'stderr'): Promise<string>;
  /** Resolves with the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

async function startListen(
  t: TestContext,
  dir: string,
  args: string[] = [],
): Promise<ListenProcess> {
  const child = await spawnProgram(['listen', '--port', '0', '--dir', dir, ...args]);
  const texts = { stdout: '', stderr: '' };
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text) => {
      texts[name] += text;
    });
  const prints: ListenProcess['prints'] = async (pattern, stream = 'stdout') => {
    const read = () =>
      stream === 'stdout'
        ? texts.stdout.replaceAll(/\n {10}(?!✓|✗|responded|repeated)/g, ' ')
        : texts.stderr;
    while (!pattern.test(read())) {
      const closed = await Promise.race([
        once(child[stream], 'data').then(() => false),
        ended.then(() => true),
      ]);
      if (closed && !pattern.test(read()))
        assert.fail(`listen ended without ${pattern}: ${JSON.stringify(texts)}`);
    }
    return read();
  };
  const start = await prints(/-d '.*'\n/, 'stderr');
  return {
    url: /^Listening on (\S+) until/.exec(start)![1]!,
    caFile: /DELIVERABILITY_WEBHOOK_CA_FILE=(\S+)/.exec(start)![1]!,
    stderr: () => texts.stderr,
    prints,
    async end(signal) {
      child.kill(signal);
      return (await ended)[0];
    },
  };
}

interface Registered {
  service: TestService;
  endpoint: { id: string; secret: string };
  dir: string;
  /** Starts `listen` with a secret file, or null for none, and points the endpoint to it. */
  listen(secret: string | null, args?: string[]): Promise<ListenProcess>;
  /** Sends a sample event; resolves with its delivery after the first attempt. */
  sendSample(): Promise<WebhookDelivery>;
}

/** Starts a service that trusts a certificate authority and may send webhooks to this machine. */
async function register(t: TestContext): Promise<Registered> {
  const dir = join(temporaryFolder(t), 'authority');
  const { file } = await openAuthority(dir, Date.now());
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_WEBHOOK_CA_FILE: file,
      DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32',
    },
  });
  const { body: endpoint } = await service.call<Registered['endpoint']>(
    'POST',
    '/v1/webhooks/endpoints',
    { json: { url: 'https://127.0.0.1:4443/', events: ['*'] } },
  );
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  return {
    service,
    endpoint,
    dir,
    async listen(secret, args = []) {
      const secretFile = join(temporaryFolder(t), 'secret.txt');
      writeFileSync(secretFile, `${secret}\n`);
      const listening = await startListen(t, dir, [
        ...(secret === null ? [] : ['--secret-file', secretFile]),
        ...args,
      ]);
      const updated = await service.call('PATCH', path, { json: { url: listening.url } });
      assert.equal(updated.status, 200, updated.text);
      return listening;
    },
    async sendSample() {
      const { body } = await service.call<WebhookDelivery>('POST', `${path}/test`);
      const delivery = await service.call<WebhookDelivery>(
        'GET',
        `/v1/webhooks/deliveries/${body.id}?wait=20`,
      );
      return delivery.body;
    },
  };
}

const firstAttempt = ({ attempts }: WebhookDelivery) => attempts[0]!;

test('listen prints how to register its endpoint and exits with 0 on a signal', async (t) => {
  const dir = join(temporaryFolder(t), 'new folder');
  const listening = await startListen(t, dir, ['--name', 'receiver.example']);
  const output = listening.stderr();
  assert.match(
    output,
    /^Listening on https:\/\/receiver\.example:\d+\/ until you press Ctrl-C\.$/m,
  );
  assert.match(output, /the certificate authority is new/);
  assert.match(output, /restart with --secret-file FILE/);
  assert.ok(output.includes(`DELIVERABILITY_WEBHOOK_CA_FILE='${dir}/ca.pem' \\\n`), output);
  assert.match(output, /DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS=127\.0\.0\.1\/32 \\\n/);
  assert.match(output, /curl http:\/\/127\.0\.0\.1:8080\/v1\/webhooks\/endpoints/);
  const body = JSON.parse(/-d '(.*)'$/m.exec(output)![1]!);
  assert.deepEqual(body, { url: listening.url, events: ['*'] });
  assert.equal(await listening.end('SIGINT'), 0);
  const again = await startListen(t, dir);
  assert.doesNotMatch(again.stderr(), /the certificate authority is new/);
  assert.equal(await again.end('SIGTERM'), 0);
});

test('listen verifies and prints events and marks repeated deliveries', async (t) => {
  const { service, endpoint, listen, sendSample } = await register(t);
  const listening = await listen(endpoint.secret);
  const delivery = await sendSample();
  assert.equal(delivery.status, 'succeeded', JSON.stringify(delivery.attempts));
  const out = await listening.prints(/responded/);
  assert.match(
    out,
    /^\d\d:\d\d:\d\d {2}test\.completed {2}evt_\S+ {2}test mode score \d+, grade [A-F], “[^”]+”, from \S+, SPF \w+, DKIM \w+, DMARC \w+\n {10}✓ verified\n {10}responded 200\n\n$/,
  );
  assert.ok(out.includes(delivery.event_id));
  await service.call('POST', `/v1/webhooks/deliveries/${delivery.id}/resend`);
  assert.match(
    await listening.prints(/repeated[\s\S]*\n\n$/),
    /repeated: delivery 2 of this event\n/,
  );
  await service.call('POST', `/v1/webhooks/endpoints/${endpoint.id}/rotate-secret`, { json: {} });
  await sendSample();
  await listening.prints(/✓ verified with the previous secret; switch to the new secret before/);
});

test('listen without a secret prints events as not verified and accepts them', async (t) => {
  const { listen, sendSample } = await register(t);
  const listening = await listen(null);
  assert.equal((await sendSample()).status, 'succeeded');
  assert.match(await listening.prints(/responded 200/), /✗ not verified: no signing secret/);
});

test('listen responds 400 with the reason to an invalid signature', async (t) => {
  const { listen, sendSample } = await register(t);
  const listening = await listen('whsec_c29tZXRoaW5nIGVsc2U=');
  const attempt = firstAttempt(await sendSample());
  const reason =
    'X-Service-Signature does not match: the secret is wrong, or the body was changed in transit';
  assert.equal(attempt.response_status, 400);
  assert.equal(attempt.response_body, `${reason}\n`);
  const out = await listening.prints(/responded/);
  assert.ok(out.includes(`✗ not verified: ${reason}\n          responded 400\n`), out);
});

test('listen --status sets the response status; --json prints one JSON line per delivery', async (t) => {
  const { endpoint, listen, sendSample } = await register(t);
  const listening = await listen(endpoint.secret, ['--status', '503', '--json']);
  const delivery = await sendSample();
  assert.equal(delivery.status, 'pending');
  assert.equal(firstAttempt(delivery).response_status, 503);
  const out = await listening.prints(/\n/);
  const { received_at, ...line } = JSON.parse(out);
  assert.match(received_at, /^\d{4}-.*Z$/);
  assert.deepEqual(line, {
    type: 'test.completed',
    event_id: delivery.event_id,
    livemode: false,
    verified: true,
    former_secret: false,
    fault: null,
    delivery: 1,
    forwarded: false,
    answered: 503,
    event: JSON.parse(delivery.payload!),
  });
});

test('listen --forward passes requests and responses on and reports connection failures', async (t) => {
  const { endpoint, listen, sendSample } = await register(t);
  const received: { request: IncomingMessage; body: string }[] = [];
  const own = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ request, body: Buffer.concat(chunks).toString() });
    response.writeHead(418, { 'x-own': 'yes' }).end('a teapot');
  });
  await once(own.listen(0, '127.0.0.1'), 'listening');
  t.after(() => own.close());
  const { port } = own.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}/own?a=1`;
  const listening = await listen(endpoint.secret, ['--forward', address]);
  const delivery = await sendSample();
  const attempt = firstAttempt(delivery);
  assert.equal(attempt.response_status, 418);
  assert.equal(attempt.response_body, 'a teapot');
  assert.equal(attempt.response_headers!['x-own'], 'yes');
  const [{ request, body }] = received as [(typeof received)[0]];
  assert.deepEqual([request.method, request.url], ['POST', '/own?a=1']);
  assert.equal(body, delivery.payload);
  assert.equal(request.headers.host, `127.0.0.1:${port}`);
  for (const [name, value] of Object.entries(attempt.request_headers))
    assert.equal(request.headers[name.toLowerCase()], value, name);
  await listening.prints(/responded 418 from your program\n/);
  own.close();
  own.closeAllConnections();
  const second = firstAttempt(await sendSample());
  assert.equal(second.response_status, 502);
  assert.equal(second.response_body, 'your program did not respond\n');
  const out = await listening.prints(/responded 502: .*connection refused\n/);
  assert.ok(out.includes(`: http://127.0.0.1:${port}/own did not respond: `), out);
});

test('listen never forwards unverified requests', async (t) => {
  const { listen } = await register(t);
  const listening = await listen('whsec_c29tZXRoaW5nIGVsc2U=', [
    '--forward',
    'http://127.0.0.1:1/',
  ]);
  const ca = readFileSync(listening.caFile);
  const send = (method: string, body: string | Buffer) =>
    new Promise<[number | undefined, string]>((resolve, reject) => {
      requestHttps(listening.url, { method, ca, agent: false }, async (response) => {
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += chunk;
        resolve([response.statusCode, text]);
      })
        .on('error', reject)
        .end(body);
    });
  const event = JSON.stringify({ object: 'event', id: 'evt_1', type: 'test.failed', data: {} });
  assert.deepEqual(await send('POST', event), [400, 'the request has no signature\n']);
  assert.deepEqual(await send('POST', 'hello'), [400, 'the request has no signature\n']);
  assert.deepEqual(await send('GET', ''), [405, 'only POST is allowed\n']);
  const large = Buffer.alloc(1024 * 1024 + 1, ' ');
  assert.deepEqual(await send('POST', large), [413, 'the body is larger than 1 MB\n']);
  await assert.rejects(fetch(listening.url));
  await listening.prints(/A client connected and sent no request\. .*CA_FILE=/, 'stderr');
  await assert.rejects(fetch(listening.url.replace('https', 'http')));
  await listening.prints(/A client used plain HTTP/, 'stderr');
});

test('listen exits with 2 or 3 on invalid usage and explains the fix', async (t) => {
  const folder = temporaryFolder(t);
  const foreign = temporaryFolder(t);
  writeFileSync(join(foreign, 'ca.pem'), 'of somebody else');
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, 'no secret');
  const busy = createServer().listen(0, '127.0.0.1');
  await once(busy, 'listening');
  t.after(() => busy.close());
  const { port } = busy.address() as AddressInfo;
  const cases: [args: string[], code: number, sentence: RegExp][] = [
    [['now'], 2, /Unexpected argument: "now"/],
    [['--port', '65536'], 2, /--port must be a number from 0 to 65535/],
    [['--host', '0.0.0.0'], 2, /--host must be an IP address of this machine/],
    [['--name', 'a b'], 2, /--name must be a host name/],
    [['--name', 'localhost'], 2, /--name cannot be localhost.*127\.0\.0\.1/],
    [['--name', 'My.LocalHost.'], 2, /--name cannot be localhost/],
    [['--status', '99'], 2, /--status must be a number from 200 to 599/],
    [['--forward', 'ftp://127.0.0.1/'], 2, /--forward must be a URL/],
    [['--forward', 'http://127.0.0.1/', '--status', '500'], 2, /cannot be combined/],
    [['--secret', 'hunter2'], 2, /--secret is not a signing secret/],
    [['--secret-file', secretFile], 2, /secret is not a signing secret/],
    [['--secret-file', join(folder, 'none')], 2, /none cannot be read \(ENOENT\)/],
    [['--dir', foreign], 2, /are not a certificate authority that this command created/],
    [['--dir', folder, '--port', String(port)], 3, /the port is in use\. Use another/],
    [['--dir', join(secretFile, 'below')], 2, /part of the path is not a folder\. Choose another/],
  ];
  for (const [args, code, sentence] of cases) {
    const ended = await runProgram(['listen', ...args]);
    assert.deepEqual([ended.code, ended.stdout], [code, ''], args.join(' '));
    assert.match(ended.stderr, sentence);
    assert.doesNotMatch(ended.stderr, /hunter2/);
  }
});
