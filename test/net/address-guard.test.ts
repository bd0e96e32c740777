/** The address guard: which addresses are public, and what an allowed network allows. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { isPublicAddress, mayConnect } from '../../src/net/address-guard.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '11.0.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.1',
  '192.0.1.1',
  '192.167.255.255',
  '192.169.0.1',
  '198.17.255.255',
  '198.20.0.1',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450::1',
  '3ff0::1',
];

/** Addresses by the name of their range. */
const SPECIAL: Record<string, string[]> = {
  'this network': ['0.0.0.0', '0.1.2.3', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  loopback: ['127.0.0.1', '127.255.255.254', '127.0.0.53', '::1', '0:0:0:0:0:0:0:1'],
  'link-local': ['169.254.0.1', '169.254.255.255', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  metadata: ['169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254'],
  'a metadata service in a public network': ['168.63.129.16'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  'protocol assignments': ['192.0.0.1', '192.0.0.255'],
  '6to4 relays': ['192.88.99.1'],
  documentation: [
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.255',
    '2001:db8::1',
    '3fff::1',
    '3fff:fff::',
  ],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.1', '254.1.1.1'],
  broadcast: ['255.255.255.255'],
  unspecified: ['::', '0:0:0:0:0:0:0:0'],
  'unique local': ['fc00::1', 'fd12:3456::1'],
  'former site-local': ['fec0::1'],
  'IPv4-mapped': [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '0:0:0:0:0:ffff:0a00:0001',
  ],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b::a9fe:a9fe', '64:ff9b:1::7f00:1'],
  '6to4': ['2002:7f00:1::', '2002:7f00:1::1', '2002:a9fe:a9fe::1', '2002:808:808::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:80ff:fffe'],
  ORCHID: ['2001:10::1', '2001:20::1', '2001:2f:ffff::1'],
  unassigned: ['100::1', '4000::1', '5f00::1', '::2:0:0:1', '1::', 'e000::1'],
  'former 6bone': ['3ffe::1'],
};

test('Address guard allows public addresses', () => {
  for (const address of PUBLIC) {
    assert.ok(isPublicAddress(address), address);
    assert.ok(mayConnect(address), address);
  }
});

for (const [range, addresses] of Object.entries(SPECIAL))
  test(`Address guard blocks special addresses: ${range}`, () => {
    for (const address of addresses) {
      assert.ok(!isPublicAddress(address), address);
      assert.ok(!mayConnect(address, []), address);
    }
  });

test('Address guard blocks text that is not a canonical IP address', () => {
  const texts = ['', 'example.com', 'localhost', '8.8.8', '010.8.8.8', '0x8.8.8.8', '134744072'];
  for (const text of [...texts, '[2606:4700::1]', '8.8.8.8/32', ' 8.8.8.8', '8.8.8.8\n', '::g'])
    assert.ok(!mayConnect(text, [parseNetwork('0.0.0.0/0'), parseNetwork('::/0')]), text);
});

test('Address guard allows exactly the addresses of allowed networks', () => {
  const networks = ['10.1.0.0/16', '127.0.0.1', 'fd12::/16', '::1'].map(parseNetwork);
  for (const address of ['10.1.2.3', '127.0.0.1', 'fd12::7', '::1', '0:0:0:0:0:0:0:1', '8.8.8.8'])
    assert.ok(mayConnect(address, networks), address);
  for (const address of ['10.2.0.1', '127.0.0.2', 'fd13::7', '192.168.0.1', '::', '::2'])
    assert.ok(!mayConnect(address, networks), address);
  assert.ok(!isPublicAddress('10.1.2.3'));
});

test('Address guard blocks metadata and IPv4-embedding addresses whatever is allowed', () => {
  const everything = ['0.0.0.0/0', '::/0'].map(parseNetwork);
  assert.ok(mayConnect('192.168.0.1', everything));
  assert.ok(mayConnect('fd00::1', everything));
  const shut = ['metadata', 'a metadata service in a public network', 'NAT64', '6to4', 'Teredo'];
  const holding = ['IPv4-compatible', 'IPv4-translated', 'IPv4-mapped'];
  for (const range of [...shut, ...holding, 'unspecified'])
    for (const address of SPECIAL[range]!) assert.ok(!mayConnect(address, everything), address);
  assert.ok(!mayConnect('169.254.169.254', [parseNetwork('169.254.169.254')]));
  assert.ok(!mayConnect('fd00:ec2:0:0::0254', everything), 'in another notation');
  assert.ok(!mayConnect('fe80::1%eth0', everything), 'with a zone');
});
