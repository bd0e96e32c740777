/** How a source is named, from what is known about an address; and what kind of sender it is. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOf, type SourceMark } from '../../../src/feedback/sources/kind.ts';
import { type AddressEvidence, nameSource } from '../../../src/feedback/sources/name.ts';
import { ownNetworksOf } from '../../../src/feedback/sources/own-networks.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';

const NAMES: [what: string, evidence: Partial<AddressEvidence>, key: string][] = [
  [
    'an address of the SPF record',
    { isOwn: true, host: 'mail.example.com' },
    'own mail.example.com',
  ],
  ['the same without a host name', { isOwn: true }, 'own 203.0.114.7'],
  ['a host name of the domain', { host: 'crm.example.com' }, 'own crm.example.com'],
  [
    'a neighbour under a suffix of others',
    { domain: 'shop.uk.com', host: 'mail.neighbour.uk.com' },
    'host uk.com',
  ],
  [
    'a host name of a domain under a suffix of others',
    { domain: 'news.shop.uk.com', host: 'mail.shop.uk.com' },
    'own mail.shop.uk.com',
  ],
  [
    'SPF for a neighbour',
    { domain: 'me.github.io', mailFrom: ['you.github.io'] },
    'spf you.github.io',
  ],
  ['an address that a test names', { testedOn: '2026-11-21' }, 'own 203.0.114.7'],
  [
    'a service through which a test was sent',
    { host: 'o1.ptr9.sendgrid.net', testedOn: '2026-11-21' },
    'service sendgrid',
  ],
  [
    'a forwarder that passed on a test',
    { mailFrom: ['googlegroups.com'], testedOn: '2026-11-21' },
    'forwarder Google Groups',
  ],
  ['a host of a sending service', { host: 'o1.ptr9.sendgrid.net' }, 'service sendgrid'],
  ['a known forwarder', { host: 'mx1.forwardemail.net' }, 'forwarder Forward Email'],
  [
    'a forwarder that uses the servers of a service',
    { host: 'mail-oi1-x229.google.com', mailFrom: ['googlegroups.com', 'example.com'] },
    'forwarder Google Groups',
  ],
  [
    'a service of whose messages few were forwarded',
    { host: 'mail-oi1-x229.google.com', mailFrom: ['example.com', 'googlegroups.com'] },
    'service google_workspace',
  ],
  [
    'a signature of a forwarder, after that of a service',
    { signers: ['sendgrid.net', 'cloudflare-email.net'] },
    'forwarder Cloudflare Email Routing',
  ],
  ['the return path of a service', { mailFrom: ['em1.sendgrid.net'] }, 'service sendgrid'],
  [
    'only a signature of a service',
    { signers: ['example.com', 'sendgrid.net'] },
    'service sendgrid',
  ],
  [
    'a forwarder that passes on mail with the signature of a service',
    { host: 'mx.forwarder.example', signers: ['sendgrid.net'] },
    'host forwarder.example',
  ],
  ['an unknown host', { host: 'a.b.host.example.net' }, 'host example.net'],
  [
    'SPF for another domain',
    { mailFrom: ['example.com', 'bounce.crm.example'] },
    'spf crm.example',
  ],
  [
    'SPF for the domain itself, which says nothing',
    { mailFrom: ['example.com'] },
    'network 203.0.114.0/24',
  ],
  ['nothing', {}, 'network 203.0.114.0/24'],
  ['nothing, IPv6', { address: '2001:db8:1:2::9' }, 'network 2001:db8:1::/48'],
];

for (const [what, evidence, key] of NAMES)
  test(`The source of ${what}: ${key}`, () => {
    const found = nameSource({
      address: '203.0.114.7',
      domain: 'example.com',
      host: null,
      isOwn: false,
      testedOn: null,
      signers: [],
      mailFrom: [],
      ...evidence,
    });
    assert.equal(found.key, key);
    assert.match(found.evidence, /^\S.*\.$/);
  });

/** Of 100 messages. */
const KINDS: [
  what: string,
  key: string,
  totals: { passed: number; dkim?: number; spf?: number; forwarded?: number },
  kind: string,
  mark?: SourceMark | null,
  claim?: string,
][] = [
  ['an own server', 'own a', { passed: 100, spf: 100 }, 'own'],
  ['an own server that fails', 'own a', { passed: 90, spf: 90 }, 'misconfigured'],
  ['a service that passes by DKIM alone', 'service sendgrid', { passed: 99, dkim: 99 }, 'service'],
  ['a service that anyone can use', 'service sendgrid', { passed: 0 }, 'spoof'],
  [
    'a service that DNS names, without DKIM',
    'service sendgrid',
    { passed: 0 },
    'misconfigured',
    null,
    'The SPF record of example.com includes sendgrid.net.',
  ],
  ['a service of which one message passes', 'service sendgrid', { passed: 1 }, 'misconfigured'],
  ['a mailbox host', 'service google_workspace', { passed: 100, dkim: 100, spf: 100 }, 'service'],
  [
    'a mailbox host that forwards',
    'service google_workspace',
    { passed: 100, dkim: 100 },
    'forwarder',
  ],
  [
    'a mailbox host that forwards with changes',
    'service google_workspace',
    { passed: 60, dkim: 60 },
    'unknown',
  ],
  [
    'a mailbox host that DNS names, without SPF',
    'service google_workspace',
    { passed: 100, dkim: 100 },
    'service',
    null,
    'example.com has a DKIM key at google, a selector of the service.',
  ],
  ['a mailbox host that anyone can use', 'service microsoft_365', { passed: 0 }, 'spoof'],
  ...['hetzner_web_hosting', 'strato', 'godaddy', 'ovhcloud', 'ionos', 'gandi', 'one_com'].map(
    (id): [string, string, { passed: number }, string] => [
      `a script of a stranger at ${id}`,
      `service ${id}`,
      { passed: 0 },
      'spoof',
    ],
  ),
  ['another customer of a service', 'tenant evil.onmicrosoft.com', { passed: 0 }, 'spoof'],
  [
    'another customer, marked as own',
    'tenant corp.onmicrosoft.com',
    { passed: 0 },
    'misconfigured',
    'own',
  ],
  ['a known forwarder', 'forwarder Pobox', { passed: 0 }, 'forwarder'],
  ['a known forwarder that SPF includes', 'forwarder Pobox', { passed: 99, spf: 99 }, 'own'],
  ['a web host that SPF includes', 'service bluehost', { passed: 99, spf: 99 }, 'service'],
  [
    'a web host that SPF includes, with other mail',
    'service bluehost',
    { passed: 60, spf: 60 },
    'misconfigured',
  ],
  ['a web host that forwards', 'service bluehost', { passed: 98, dkim: 98 }, 'forwarder'],
  ['a web host with a script of a stranger', 'service bluehost', { passed: 0 }, 'spoof'],
  ['a web host, marked as own', 'service bluehost', { passed: 0 }, 'misconfigured', 'own'],
  ['the gateway of the domain', 'service mimecast', { passed: 99, spf: 99 }, 'service'],
  ['the gateway of a recipient', 'service mimecast', { passed: 97, dkim: 97 }, 'forwarder'],
  ['a gateway that changes messages', 'service mimecast', { passed: 60, dkim: 60 }, 'unknown'],
  ['a gateway without passing mail', 'service mimecast', { passed: 0 }, 'unknown'],
  [
    'a host whose mail is said to be forwarded',
    'host a',
    { passed: 0, forwarded: 80 },
    'forwarder',
  ],
  ['a host with signed mail', 'host a', { passed: 97, dkim: 97 }, 'forwarder'],
  ['a host that signs some of its mail', 'host a', { passed: 70, dkim: 70 }, 'unknown'],
  ['a host that SPF includes, with other mail', 'host a', { passed: 70, spf: 70 }, 'misconfigured'],
  ['a host that SPF includes', 'host a', { passed: 100, spf: 100 }, 'own'],
  ['a host that passes now and then', 'host a', { passed: 20, dkim: 20 }, 'unknown'],
  ['a network that never passes', 'network a', { passed: 0 }, 'spoof'],
  [
    'a network that never passes, marked as own',
    'network a',
    { passed: 0 },
    'misconfigured',
    'own',
  ],
  ['a service, marked as foreign', 'service sendgrid', { passed: 0 }, 'spoof', 'foreign'],
  ['a host, marked as a forwarder', 'host a', { passed: 0 }, 'forwarder', 'forwarder'],
];

for (const [what, key, totals, kind, mark = null, claim = null] of KINDS)
  test(`The kind of ${what}: ${kind}`, () => {
    const all = { messages: 100, dkim: 0, spf: 0, forwarded: 0, ...totals };
    assert.equal(kindOf({ key, mark, claim }, all), kind);
  });

test('A source without messages is not called a stranger', () => {
  const none = { messages: 0, passed: 0, dkim: 0, spf: 0, forwarded: 0 };
  assert.equal(kindOf({ key: 'host a', mark: null, claim: null }, none), 'unknown');
  assert.equal(kindOf({ key: 'own a', mark: null, claim: null }, none), 'own');
});

test('The own networks of a domain are in its SPF record, its addresses, and its own mail servers', async () => {
  const own = await ownNetworksOf(
    zoneResolver({
      'news.example.com': {
        TXT: ['v=spf1 ip4:192.0.2.0/28 a:out.example.com include:other.example'],
      },
      'example.com': {
        TXT: ['v=spf1 ip6:2001:db8::/64 ip4:10.0.0.0/1 a mx'],
        A: ['198.51.100.1'],
        MX: ['10 mx.example.com', '20 mx.hoster.example'],
      },
      'out.example.com': { A: ['198.51.100.2'] },
      'mx.example.com': { A: ['198.51.100.3'] },
      'mx.hoster.example': { A: ['203.0.114.3'] },
    }),
    'news.example.com',
  );
  for (const address of [
    '192.0.2.9',
    '198.51.100.1',
    '198.51.100.2',
    '198.51.100.3',
    '2001:db8::5',
  ])
    assert.ok(own.contains(address), address);
  for (const address of ['192.0.2.16', '203.0.114.3', '10.1.1.1', '8.8.8.8'])
    assert.ok(!own.contains(address), address);
});

test('Neither a suffix of others nor a neighbour below it names own networks', async () => {
  for (const suffix of ['uk.com', 'github.io', 'blogspot.com']) {
    const domain = `shop.${suffix}`;
    const own = await ownNetworksOf(
      zoneResolver({
        [suffix]: { TXT: ['v=spf1 ip4:192.0.2.0/28 -all'], MX: [`10 mx.${suffix}`] },
        [`mx.${suffix}`]: { A: ['198.51.100.1'] },
        [domain]: {
          TXT: [`v=spf1 a:mail.${domain} a:mail.other.${suffix} -all`],
          MX: [`10 mx.other.${suffix}`],
        },
        [`mail.${domain}`]: { A: ['198.51.100.2'] },
        [`mail.other.${suffix}`]: { A: ['198.51.100.3'] },
        [`mx.other.${suffix}`]: { A: ['198.51.100.4'] },
      }),
      domain,
    );
    assert.ok(own.contains('198.51.100.2'), domain);
    for (const address of ['192.0.2.9', '198.51.100.1', '198.51.100.3', '198.51.100.4'])
      assert.ok(!own.contains(address), `${domain} ${address}`);
  }
});
