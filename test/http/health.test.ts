/** What the public operations say of DNS: nobody waits for it, and silence is told as such. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resolver } from '../../src/net/resolver.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';

interface Readiness {
  status: string;
  dependencies: { name: string; status: string; detail: string | null }[];
}

test('DNS that fails is degraded, and the service stays ready', async (t) => {
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
    ['degraded', 'It cannot be asked: timeout.'],
  );
  answer = { status: 'nxdomain' };
  assert.equal((await dns()).status, 'degraded', 'it is not asked for each request');
  clock.advance(30_000);
  await dns();
  assert.equal((await dns()).status, 'up');
});

test('DNS that does not answer at all keeps nobody waiting', async (t) => {
  const service = await startTestService(t, { resolver: () => new Promise(() => {}) });
  const { body } = await service.call<Readiness>('GET', '/readyz', { key: null });
  assert.equal(body.dependencies.find(({ name }) => name === 'dns')?.status, 'degraded');
});

test('a Host that cannot be is answered as any other malformed request', async (t) => {
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

test('HTTP/1.0 needs no Host', async (t) => {
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
