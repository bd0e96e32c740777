/** DNS and blocklists in the public operations: probes that hang delay no response. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { type ServiceOptions, startTestService } from '../helpers/app.ts';
import { blocklistZone } from '../helpers/blocklists.ts';
import { testClock } from '../helpers/clock.ts';

interface Readiness {
  status: string;
  dependencies: { name: string; status: string; detail: string | null }[];
}
interface ServiceStatus {
  status: string;
  components: { name: string; status: string }[];
}

test('GET /readyz reports failing DNS as degraded and stays 200', async (t) => {
  const clock = testClock();
  let answer: Awaited<ReturnType<Resolver>> = { status: 'error', reason: 'timeout' };
  const service = await startTestService(t, { clock, resolver: async () => answer });
  const dns = async () => {
    const { status, body } = await service.call<Readiness>('GET', '/readyz', { key: null });
    assert.equal(status, 200);
    return body.dependencies.find(({ name }) => name === 'dns')!;
  };
  assert.deepEqual(
    [(await dns()).status, (await dns()).detail],
    ['degraded', 'DNS lookups fail: timeout.'],
  );
  answer = { status: 'nxdomain' };
  assert.equal((await dns()).status, 'degraded', 'not probed for each request');
  clock.advance(30_000);
  await dns();
  assert.equal((await dns()).status, 'up');
});

/** A resolver that never answers until `giveUp` is called. */
function silentResolver() {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Resolver>>>();
  const giveUp = () => resolve({ status: 'error', reason: 'timeout' });
  return { resolver: () => promise, giveUp };
}

test('GET /readyz does not wait for unresponsive DNS', async (t) => {
  const { resolver, giveUp } = silentResolver();
  const service = await startTestService(t, { resolver });
  const { body } = await service.call<Readiness>('GET', '/readyz', { key: null });
  assert.equal(body.dependencies.find(({ name }) => name === 'dns')?.status, 'degraded');
  giveUp();
});

const DEFAULT_LISTS = { DELIVERABILITY_BLOCKLISTS: '' };
const KEY = 'abcdefghij0123456789abcdef';
const withoutSpamCop = () => {
  const { '2.0.0.127.bl.spamcop.net': _, ...rest } = blocklistZone();
  return rest;
};
const refusingKey = () => ({
  ...blocklistZone(KEY),
  [`2.0.0.127.${KEY}.zen.dq.spamhaus.net`]: { A: ['127.255.255.252'] },
});

const BLOCKLISTS: [what: string, options: ServiceOptions, status: string, detail: string | null][] =
  [
    ['all lists working', { zone: blocklistZone(), env: DEFAULT_LISTS }, 'up', null],
    [
      'one list excluded',
      { zone: withoutSpamCop(), env: DEFAULT_LISTS },
      'degraded',
      'Not used, self-test failed: SpamCop.',
    ],
    [
      'none enabled',
      { zone: {}, env: { DELIVERABILITY_BLOCKLISTS: '-all' } },
      'disabled',
      'No blocklists are enabled.',
    ],
    [
      'a rejected DQS key',
      {
        zone: refusingKey(),
        env: { ...DEFAULT_LISTS, DELIVERABILITY_SPAMHAUS_DQS_KEY: KEY },
      },
      'degraded',
      'Not used, self-test failed: Spamhaus ZEN.',
    ],
  ];

for (const [what, options, state, detail] of BLOCKLISTS)
  test(`GET /readyz and /status report blocklists with ${what} as ${state}`, async (t) => {
    const service = await startTestService(t, options);
    await service.app.blocklists.inUse();
    const ready = await service.call<Readiness>('GET', '/readyz', { key: null });
    assert.equal(ready.status, 200);
    const found = ready.body.dependencies.find(({ name }) => name === 'blocklists');
    assert.deepEqual([found?.status, found?.detail], [state, detail]);
    const { body, text } = await service.call<ServiceStatus>('GET', '/status', { key: null });
    assert.equal(body.components.find(({ name }) => name === 'blocklists')?.status, state);
    assert.equal(body.status, state === 'degraded' ? 'degraded' : 'operational');
    assert.ok(!`${ready.text}${text}${JSON.stringify(service.logged)}`.includes(KEY));
  });

test('GET /readyz reports blocklists that are not yet tested', async (t) => {
  const { resolver, giveUp } = silentResolver();
  const service = await startTestService(t, { resolver, env: DEFAULT_LISTS });
  const { body } = await service.call<Readiness>('GET', '/readyz', { key: null });
  const found = body.dependencies.find(({ name }) => name === 'blocklists');
  assert.equal(found?.status, 'degraded');
  assert.match(found?.detail ?? '', /^Not tested yet: Spamhaus ZEN, /);
  giveUp();
});

test('An invalid Host header gets 400 malformed_request', async (t) => {
  const service = await startTestService(t);
  const { connect } = await import('node:net');
  const reply = await new Promise<string>((resolve, reject) => {
    const socket = connect(service.http.port, '127.0.0.1', () =>
      socket.write('GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'),
    );
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
  assert.match(reply, /^HTTP\/1\.1 400 /);
  assert.match(reply, /x-request-id: req_/i);
  assert.match(reply, /"code":"malformed_request"/);
  assert.ok(!service.logged.some(({ level }) => level === 'error'));
});

test('HTTP/1.0 requests need no Host header', async (t) => {
  const service = await startTestService(t);
  const { connect } = await import('node:net');
  const reply = await new Promise<string>((resolve) => {
    const socket = connect(service.http.port, '127.0.0.1', () =>
      socket.write('GET /healthz HTTP/1.0\r\n\r\n'),
    );
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(text));
  });
  assert.match(reply, /^HTTP\/1\.\d 200 /);
});

test('GET /readyz reports a listener at its connection limit as degraded and stays 200', async (t) => {
  const env = {
    DELIVERABILITY_HTTP_MAX_CONNECTIONS: '2',
    DELIVERABILITY_SMTP_MAX_CONNECTIONS: '1',
  };
  const service = await startTestService(t, { env });
  const states = async () => {
    // On a new connection each time.
    const [response] = await once(get(`${service.url}/readyz`, { agent: false }), 'response');
    assert.equal(response.statusCode, 200);
    const { dependencies } = (await json(response)) as Readiness;
    return ['mail_listener', 'http_listener'].map((name) => {
      const found = dependencies.find((dependency) => dependency.name === name);
      return [found?.status, found?.detail?.slice(0, 32)];
    });
  };
  const open = async (port: number) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const up = ['up', undefined];
  const degraded = ['degraded', 'The connection limit was reached'];
  assert.deepEqual(await states(), [up, up]);
  for (let i = 0; i < 2; i++) await open(service.http.port);
  assert.deepEqual(await states(), [up, degraded]);
  await open(service.smtp.port);
  const refused = await open(service.smtp.port);
  assert.match(String((await once(refused, 'data'))[0]), /^421 4\.3\.2 /);
  assert.deepEqual(await states(), [degraded, degraded]);
});
