import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { beginData, listen } from './listener.ts';
import { binaryHeader } from './proxy-headers.ts';
import type { RawClient } from './raw-client.ts';

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

it('a trusted peer says who its client is', async (t) => {
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

it('the header may come byte by byte, or with the first command', async (t) => {
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

it('a trusted peer that sends no header is dropped', async (t) => {
  const listener = await listen(t, { proxyNetworks: LOOPBACK, limits: { proxyHeader: 20 } });
  for (const first of ['EHLO client.example.com\r\n', 'PROXY TCP4 x\r\n', '', 'PROXY TC']) {
    const client = await listener.connectUngreeted(first);
    assert.equal(await client.reply(), '', first);
  }
  while (listener.connections() > 0) await new Promise(setImmediate);
});

it('from anyone else it is a bad command and changes nothing', async (t) => {
  const listener = await listen(t, { proxyNetworks: [parseNetwork('192.0.2.0/24')] });
  const client = await listener.connectUngreeted(V1);
  await assertGreeted(client);
  assert.match(await client.reply(), /^500 /);
  await beginData(client);
  await client.say('a\r\n.', 250);
  assert.equal(listener.messages[0]?.envelope.client_ip, '127.0.0.1');

  // The signature of version 2 is a QUIT to whoever does not expect it.
  const binary = await listener.connectUngreeted(V2);
  await assertGreeted(binary);
  const replies = [];
  for (let reply = await binary.reply(); reply; reply = await binary.reply()) replies.push(reply);
  assert.match(replies.at(-1)!, /^221 /);
});

it('connections are counted for the client, not for the balancer', async (t) => {
  const listener = await listen(t, { proxyNetworks: LOOPBACK, limits: { perAddress: 1 } });
  await assertGreeted(await listener.connectUngreeted(V1));
  await assertGreeted(await listener.connectUngreeted(V2));
  assert.match(await (await listener.connectUngreeted(V1)).reply(), /^421 4\.7\.0 /);
});
