/** Reading the list of DNS servers out of the configuration. */

import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { parseDnsServers } from '../../src/lib/dns-servers.ts';
import { systemDnsServers } from '../../src/net/system-dns.ts';

const LISTS: [string, [string, number][] | null][] = [
  [
    '127.0.0.1:5353,[::1]:53,192.0.2.53',
    [
      ['127.0.0.1', 5353],
      ['::1', 53],
      ['192.0.2.53', 53],
    ],
  ],
  [
    ' 192.0.2.1 , 2001:db8::53 ,',
    [
      ['192.0.2.1', 53],
      ['2001:db8::53', 53],
    ],
  ],
  ['[2001:db8::53]', [['2001:db8::53', 53]]],
  ['fe80::1%eth0', [['fe80::1%eth0', 53]]],
  ['', null],
  [' , ', null],
  ['dns.example.com', null],
  ['192.0.2.1:0', null],
  ['192.0.2.1:65536', null],
  ['192.0.2.1:', null],
  ['[192.0.2.1]:53', null],
  ['::1:53:x', null],
  ['192.0.2.1,nonsense', null],
];
for (const [text, expected] of LISTS) {
  test(`${JSON.stringify(text)} is ${expected ? `${expected.length} servers` : 'refused'}`, () => {
    const servers = parseDnsServers(text);
    assert.deepEqual(servers?.map(({ host, port }) => [host, port]) ?? null, expected);
  });
}

test('the system has at least one server, by address', () => {
  const servers = systemDnsServers();
  assert.ok(servers.length > 0);
  assert.ok(servers.every(({ host, port }) => isIP(host) !== 0 && port > 0));
});
