import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { it, test } from 'node:test';
import {
  inNetworks,
  isLocalAddress,
  normalizeAddress,
  parseDnsServers,
  parseNetwork,
  reverseName,
} from '../../src/lib/addresses.ts';
import { systemDnsServers } from '../../src/net/dns/network-resolver.ts';

it('normalizeAddress returns one canonical form and rejects invalid addresses', () => {
  const cases: [string, string | null][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['[192.0.2.1]', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['[IPv6:2001:DB8::1]', '2001:db8::1'],
    ['[ipv6:::1]', '::1'],
    ['2001:0db8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['', null],
    ['192.0.2', null],
    ['192.0.2.256', null],
    ['0300.0.2.1', null],
    ['0xc0.0.2.1', null],
    ['3221225985', null],
    ['192.0.2.1.', null],
    ['192.0.2.1/32', null],
    ['2001:db8::1::', null],
    ['mail.example.com', null],
    ['ffff::g', null],
  ];
  for (const [text, expected] of cases) assert.equal(normalizeAddress(text), expected, text);
});

it('inNetworks matches addresses of the network in every notation and no others', () => {
  const networks = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1', '::ffff:203.0.113.9'].map(
    parseNetwork,
  );
  const inside = ['10.0.0.0', '10.255.255.255', '192.0.2.7', '2001:db8:ffff::1', '::1'];
  const mapped = ['::ffff:10.1.2.3', '203.0.113.9', '::ffff:203.0.113.9'];
  const outside = ['11.0.0.0', '9.255.255.255', '192.0.2.6', '2001:db9::', '::2', '203.0.113.8'];
  for (const address of [...inside, ...mapped]) assert.ok(inNetworks(address, networks), address);
  for (const address of [...outside, '', 'x', '10.1'])
    assert.ok(!inNetworks(address, networks), address);
  assert.ok(!inNetworks('10.0.0.1', []));
});

it('parseNetwork rejects malformed CIDR notation', () => {
  const wrong = ['', 'x', '10', '10.1', '10.1/16', '010.0.0.0/8', '10.0.0.0/33', '10.0.0.0/'];
  for (const text of [...wrong, '2001:db8::/129', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0.1 '])
    assert.throws(() => parseNetwork(text), text);
});

it('isLocalAddress recognizes private ranges; documentation ranges count as public', () => {
  const local = ['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254'];
  const more = ['100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255', '::1', '::', 'fe80::1'];
  const rest = ['fd00::1', 'ff02::1', '::ffff:127.0.0.1', 'fe80::1%lo'];
  for (const address of [...local, ...more, ...rest]) assert.ok(isLocalAddress(address), address);
  const open = ['8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'];
  const documented = ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'];
  for (const address of [...open, ...documented, 'mail.example.com'])
    assert.ok(!isLocalAddress(address), address);
});

it('reverseName builds in-addr.arpa and ip6.arpa names (RFC 1035 §3.5, RFC 3596 §2.5)', () => {
  assert.equal(reverseName('192.0.2.1'), '1.2.0.192.in-addr.arpa');
  assert.equal(reverseName('::ffff:192.0.2.1'), '1.2.0.192.in-addr.arpa');
  assert.equal(
    reverseName('4321:0:1:2:3:4:567:89ab'),
    'b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.0.0.0.0.1.2.3.4.ip6.arpa',
  );
});

// DNS servers in the configuration.

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
  test(`parseDnsServers ${expected ? `reads ${expected.length} servers from` : 'rejects'} ${JSON.stringify(text)}`, () => {
    const servers = parseDnsServers(text);
    assert.deepEqual(servers?.map(({ host, port }) => [host, port]) ?? null, expected);
  });
}

test('systemDnsServers returns at least one IP address', () => {
  const servers = systemDnsServers();
  assert.ok(servers.length > 0);
  assert.ok(servers.every(({ host, port }) => isIP(host) !== 0 && port > 0));
});
