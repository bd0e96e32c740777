import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { parseProxyHeader } from '../../src/smtp/proxy-header.ts';
import { beginData, listen } from './listener.ts';
import type { RawClient } from './raw-client.ts';

// PROXY protocol headers as load balancers send them.

/** A version 2 header: the command (0x21 PROXY, 0x20 LOCAL), the family, and the content after the fixed part. */
export function binaryHeader(command: number, family: number, content: number[]): Buffer {
  return Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
    Buffer.of(command, family, content.length >> 8, content.length & 0xff),
    Buffer.from(content),
  ]);
}

const LOOPBACK = [parseNetwork('127.0.0.0/8')];
const V1 = 'PROXY TCP4 192.0.2.1 198.51.100.1 56324 25\r\n';
const V2 = binaryHeader(0x21, 0x11, [192, 0, 2, 2, 198, 51, 100, 1, 0xdc, 4, 0, 25]);
const V2_IPV6 = binaryHeader(0x21, 0x21, [
  ...Buffer.from('20010db8000000000000000000000001', 'hex'),
  ...Array(20).fill(0),
]);
/** ::ffff:192.0.2.3 */
const V2_MAPPED = binaryHeader(0x21, 0x21, [
  ...Buffer.from('00000000000000000000ffffc0000203', 'hex'),
  ...Array(20).fill(0),
]);

async function assertGreeted(client: RawClient): Promise<void> {
  assert.match(await client.reply(), /^220 /);
}

it('PROXY protocol: a trusted proxy sets the client address', async (t) => {
  const listener = await listen(t, { proxyNetworks: LOOPBACK });
  const cases: [string | Buffer, string][] = [
    [V1, '192.0.2.1'],
    [V2, '192.0.2.2'],
    [V2_IPV6, '2001:db8::1'],
    [V2_MAPPED, '192.0.2.3'],
    ['PROXY UNKNOWN\r\n', '127.0.0.1'],
    [binaryHeader(0x20, 0, []), '127.0.0.1'],
  ];
  for (const [header, address] of cases) {
    const client = await listener.connectUngreeted(header);
    await assertGreeted(client);
    await client.startTls();
    await beginData(client);
    await client.say('a\r\n.', 250);
    assert.equal(listener.messages.at(-1)?.envelope.client_ip, address);
  }
});

it('PROXY protocol header may arrive byte by byte or with the first command', async (t) => {
  const listener = await listen(t, { proxyNetworks: LOOPBACK });
  for (const header of [Buffer.from(V1), V2]) {
    const slow = await listener.connectUngreeted();
    for (const byte of header) await slow.write(Buffer.of(byte));
    await assertGreeted(slow);
    await slow.say('NOOP', 250);
    const hasty = await listener.connectUngreeted(
      Buffer.concat([header, Buffer.from('EHLO client.example.com\r\nNOOP\r\n')]),
    );
    await assertGreeted(hasty);
    assert.match(await hasty.reply(), /^250-/);
    assert.match(await hasty.reply(), /^250 /);
  }
});

it('PROXY protocol: a trusted proxy that sends no valid header is disconnected', async (t) => {
  const listener = await listen(t, { proxyNetworks: LOOPBACK, limits: { proxyHeaderMs: 20 } });
  for (const first of ['EHLO client.example.com\r\n', 'PROXY TCP4 x\r\n', '', 'PROXY TC']) {
    const client = await listener.connectUngreeted(first);
    assert.equal(await client.reply(), '', first);
  }
  while (listener.connections() > 0) await new Promise(setImmediate);
});

it('PROXY protocol header from an untrusted peer is rejected as a bad command', async (t) => {
  const listener = await listen(t, { proxyNetworks: [parseNetwork('192.0.2.0/24')] });
  const client = await listener.connectUngreeted(V1);
  await assertGreeted(client);
  assert.match(await client.reply(), /^500 /);
  await beginData(client);
  await client.say('a\r\n.', 250);
  assert.equal(listener.messages[0]?.envelope.client_ip, '127.0.0.1');

  // Without PROXY support, the signature of version 2 reads as QUIT.
  const binary = await listener.connectUngreeted(V2);
  await assertGreeted(binary);
  const replies = [];
  for (let reply = await binary.reply(); reply; reply = await binary.reply()) replies.push(reply);
  assert.match(replies.at(-1)!, /^221 /);
});

it('PROXY protocol: connection limits apply to the client, not the proxy', async (t) => {
  const listener = await listen(t, {
    proxyNetworks: LOOPBACK,
    limits: { connectionsPerAddress: 1 },
  });
  await assertGreeted(await listener.connectUngreeted(V1));
  await assertGreeted(await listener.connectUngreeted(V2));
  assert.match(await (await listener.connectUngreeted(V1)).reply(), /^421 4\.7\.0 /);
});

const read = (text: string) => parseProxyHeader(Buffer.from(text, 'latin1'));

describe('PROXY protocol version 1 parser', () => {
  const valid: [string, string | null, number | null][] = [
    ['PROXY TCP4 192.0.2.1 198.51.100.1 56324 25\r\n', '192.0.2.1', 56324],
    ['PROXY TCP6 2001:db8::1 2001:db8::2 56324 25\r\n', '2001:db8::1', 56324],
    ['PROXY UNKNOWN\r\n', null, null],
    ['PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n', null, null],
  ];
  for (const [header, address, port] of valid) {
    it(`reads ${JSON.stringify(header)} and requires all of it`, () => {
      assert.deepEqual(read(`${header}EHLO x\r\n`), { length: header.length, address, port });
      for (let end = 0; end < header.length; end++)
        assert.equal(read(header.slice(0, end)), 'incomplete');
    });
  }

  const malformed = [
    'EHLO client.example.com\r\n',
    'PROXZ',
    'PROXY\r\n',
    'PROXY TCP4\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 56324 25 x\r\n',
    'PROXY TCP4 2001:db8::1 2001:db8::2 56324 25\r\n',
    'PROXY TCP6 192.0.2.1 198.51.100.1 56324 25\r\n',
    'PROXY TCP4 192.0.2.256 198.51.100.1 56324 25\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 65536 25\r\n',
    'PROXY TCP4 mail.example.com 198.51.100.1 1 25\r\n',
    'PROXY UDP4 192.0.2.1 198.51.100.1 56324 25\r\n',
    `PROXY UNKNOWN ${'x'.repeat(100)}\r\n`,
  ];
  for (const header of malformed)
    it(`rejects ${JSON.stringify(header)}`, () => assert.equal(read(header), 'invalid'));
});

describe('PROXY protocol version 2 parser', () => {
  const v4 = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0, 25];
  const v6 = [
    ...Buffer.from('20010db8000000000000000000000001', 'hex'),
    ...Array(16).fill(0),
    1,
    2,
    0,
    25,
  ];
  const valid: [string, Buffer, string | null, number | null][] = [
    ['TCP over IPv4', binaryHeader(0x21, 0x11, v4), '192.0.2.1', 56324],
    ['TCP over IPv6', binaryHeader(0x21, 0x21, v6), '2001:db8::1', 258],
    ['additional fields', binaryHeader(0x21, 0x11, [...v4, 4, 0, 1, 0]), '192.0.2.1', 56324],
    ['LOCAL', binaryHeader(0x20, 0, []), null, null],
    ['LOCAL with an address', binaryHeader(0x20, 0x11, v4), null, null],
    ['a UNIX socket', binaryHeader(0x21, 0x31, Array(216).fill(1)), null, null],
  ];
  for (const [name, header, address, port] of valid) {
    it(`reads ${name} and requires all of it`, () => {
      const followed = Buffer.concat([header, Buffer.from('EHLO')]);
      assert.deepEqual(parseProxyHeader(followed), { length: header.length, address, port });
      for (let end = 0; end < header.length; end++)
        assert.equal(parseProxyHeader(header.subarray(0, end)), 'incomplete');
    });
  }

  it('rejects other versions, other commands and short addresses', () => {
    assert.equal(parseProxyHeader(binaryHeader(0x11, 0x11, v4)), 'invalid');
    assert.equal(parseProxyHeader(binaryHeader(0x22, 0x11, v4)), 'invalid');
    assert.equal(parseProxyHeader(binaryHeader(0x21, 0x11, v4.slice(0, 11))), 'invalid');
    assert.equal(parseProxyHeader(binaryHeader(0x21, 0x21, v4)), 'invalid');
  });
});
