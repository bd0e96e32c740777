/** HTTPS: the pair that is shown, the versions that are spoken, and its end. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { HttpListener } from '../../src/http/server.ts';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { GET, LONG, listen, readAll, talk } from './listener.ts';

const first = await makeCertificate('a.example', Date.now());
const second = await makeCertificate('b.example', Date.now());

async function shakeHands({ port }: HttpListener, options: ConnectionOptions = {}) {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket.on('error', () => {});
}

/** The host name in the certificate that a new connection is shown, and what a request on it gets. */
async function ask(listener: HttpListener, options?: ConnectionOptions) {
  const socket = await shakeHands(listener, options);
  const { subject } = socket.getPeerCertificate();
  const protocol = socket.getProtocol();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  return { name: subject.CN, protocol, text: await readAll(socket) };
}

it('is served with the pair that was given; without TLS nothing is', async (t) => {
  const listener = await listen(t, { tls: first });
  const { name, text } = await ask(listener);
  assert.equal(name, 'a.example');
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n[\s\S]*hello$/);
  assert.equal(await talk(t, listener, GET).reply, '');
});

it('a new pair is shown to new connections; a bad one changes nothing', async (t) => {
  const listener = await listen(t, { tls: first });
  listener.updateTls(second);
  assert.equal((await ask(listener)).name, 'b.example');
  const bad = [
    { cert: 'x', key: 'x' },
    { cert: first.cert, key: second.key },
    { cert: '', key: '' },
  ];
  for (const pair of bad) assert.throws(() => listener.updateTls(pair));
  assert.equal((await ask(listener)).name, 'b.example');
});

it('below 1.2 is refused, before and after a change of the pair', async (t) => {
  const listener = await listen(t, { tls: first });
  const old: ConnectionOptions = {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  };
  await assert.rejects(ask(listener, old));
  listener.updateTls(second);
  await assert.rejects(ask(listener, old));
  assert.equal((await ask(listener, { maxVersion: 'TLSv1.2' })).protocol, 'TLSv1.2');
});

it('a pair that cannot be used is an error of the start', async (t) => {
  await assert.rejects(listen(t, { tls: { cert: 'x', key: 'x' } }));
});

it('its end does not wait for a connection that asks nothing, before its handshake or after', {
  timeout: 10_000,
}, async (t) => {
  const listener = await listen(t, { tls: first });
  const silent = talk(t, listener);
  await once(silent.socket, 'connect');
  await shakeHands(listener);
  await listener.close(LONG);
  assert.equal(await silent.reply, '');
});

it('its end cuts off a handshake that does not go on', { timeout: 10_000 }, async (t) => {
  const listener = await listen(t, { tls: first });
  // The head of a record whose rest never comes; by the time of another's handshake it is read.
  const { reply } = talk(t, listener, '\x16\x03\x01\x02\x00\x01');
  await shakeHands(listener);
  await listener.close(20);
  assert.equal(await reply, '');
});

it('without TLS a new pair is no matter', async (t) => {
  const listener = await listen(t);
  listener.updateTls({ cert: 'x', key: 'x' });
  assert.match(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text(), /hello/);
});
