/** The checks ptr, fcrdns and helo, in every status they can reach. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, CheckStatus } from '../../../src/analysis/check.ts';
import { fcrdns } from '../../../src/analysis/checks/fcrdns.ts';
import { helo } from '../../../src/analysis/checks/helo.ts';
import { ptr } from '../../../src/analysis/checks/ptr.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { type CheckInput, contextFor, runCheck } from '../../helpers/analysis.ts';

const REVERSE = '1.2.0.192.in-addr.arpa';
const REVERSE6 = `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`;
const IPV6 = '2001:db8::1';
const message = 'From: a@example.com\n\nHello\n';

const named = (...names: string[]): Zone => ({ [REVERSE]: { PTR: names } });
const good: Zone = { ...named('mail.example.com'), 'mail.example.com': { A: ['192.0.2.1'] } };

type Row = [what: string, status: CheckStatus, scene: Omit<CheckInput, 'message'>];

function table(check: Check, rows: Row[]) {
  for (const [what, status, scene] of rows)
    test(`${check.id} check reports ${status}: ${what}`, async () => {
      const finding = await runCheck(check, { message, ...scene });
      assert.equal(finding.status, status, finding.title);
      if (status === 'warn' || status === 'fail') assert.ok(finding.fix?.text);
    });
}

const NOTHING_TO_LOOK_UP: Row[] = [
  ['no client address', 'skipped', { envelope: { client_ip: null } }],
  ['an invalid client address', 'skipped', { envelope: { client_ip: 'unknown' } }],
  ['a loopback address', 'skipped', { envelope: { client_ip: '127.0.0.1' } }],
  ['a private address', 'skipped', { envelope: { client_ip: '10.1.2.3' } }],
  ['a link-local address', 'skipped', { envelope: { client_ip: 'fe80::1' } }],
  ['offline', 'skipped', { offline: true, zone: good }],
];

table(ptr, [
  ...NOTHING_TO_LOOK_UP,
  ['a host name', 'pass', { zone: good }],
  ['a mapped IPv4 address', 'pass', { zone: good, envelope: { client_ip: '::ffff:192.0.2.1' } }],
  [
    'an IPv6 address',
    'pass',
    { zone: { [REVERSE6]: { PTR: ['m.example.com'] } }, envelope: { client_ip: IPV6 } },
  ],
  ['a name with two address octets', 'pass', { zone: named('m2-1.example.com') }],
  [
    'one specific and one generic name',
    'pass',
    { zone: named('192-0-2-1.isp.net', 'm.example.com') },
  ],
  ['a generic name', 'warn', { zone: named('static.1.2.0.192.clients.isp.net') }],
  [
    'a generic name with forward octet order',
    'warn',
    { zone: named('ec2-192-0-2-1.compute.isp.net') },
  ],
  ['a generic name in hexadecimal', 'warn', { zone: named('host-c0000201.isp.net') }],
  ['a generic name padded', 'warn', { zone: named('ip192000002001.isp.net') }],
  [
    'a generic IPv6 name',
    'warn',
    { zone: { [REVERSE6]: { PTR: ['2001-db8--1.isp.net'] } }, envelope: { client_ip: IPV6 } },
  ],
  [
    'a generic IPv6 name of nibbles',
    'warn',
    {
      zone: { [REVERSE6]: { PTR: [`h20010db8${'0'.repeat(23)}1.isp.net`] } },
      envelope: { client_ip: IPV6 },
    },
  ],
  ['no such name', 'fail', { zone: {} }],
  ['no PTR record at an existing name', 'fail', { zone: { [REVERSE]: { TXT: ['x'] } } }],
  ['localhost', 'fail', { zone: named('localhost') }],
  ['an address as a name', 'fail', { zone: named('192.0.2.1') }],
  ['a DNS timeout', 'error', { zone: { [REVERSE]: { fails: 'timeout' } } }],
  ['SERVFAIL', 'error', { zone: { [REVERSE]: { fails: 'servfail' } } }],
]);

table(fcrdns, [
  ...NOTHING_TO_LOOK_UP,
  ['a name that resolves to the client', 'pass', { zone: good }],
  [
    'one of two names resolves to the client',
    'pass',
    { zone: { ...good, ...named('gone.example.com', 'mail.example.com') } },
  ],
  [
    'IPv6, written in full',
    'pass',
    {
      zone: {
        [REVERSE6]: { PTR: ['m.example.com'] },
        'm.example.com': { AAAA: ['2001:0db8:0:0:0:0:0:0001'] },
      },
      envelope: { client_ip: IPV6 },
    },
  ],
  [
    'a name that resolves elsewhere',
    'fail',
    { zone: { ...good, 'mail.example.com': { A: ['192.0.2.99'] } } },
  ],
  ['a name that does not exist', 'fail', { zone: named('mail.example.com') }],
  ['no PTR', 'skipped', { zone: {} }],
  ['a PTR lookup that fails', 'error', { zone: { [REVERSE]: { fails: 'timeout' } } }],
  [
    'a forward lookup that fails',
    'error',
    { zone: { ...good, 'mail.example.com': { fails: 'servfail' } } },
  ],
]);

table(helo, [
  ...NOTHING_TO_LOOK_UP,
  ['no HELO known', 'skipped', { envelope: { helo: null }, zone: good }],
  ['the client’s own name', 'pass', { zone: good }],
  [
    'the client’s own name in upper case',
    'pass',
    { zone: good, envelope: { helo: 'MAIL.Example.COM' } },
  ],
  [
    'a name that resolves elsewhere',
    'warn',
    { zone: { 'mail.example.com': { A: ['192.0.2.99'] } } },
  ],
  ['a name on IPv6 only', 'warn', { zone: { 'mail.example.com': { AAAA: [IPV6] } } }],
  ['a name without address', 'fail', { zone: { 'mail.example.com': { MX: ['10 a.example'] } } }],
  ['no such name', 'fail', { zone: {} }],
  ['a DNS timeout', 'error', { zone: { 'mail.example.com': { fails: 'timeout' } } }],
  ...[
    '',
    'localhost',
    'mailserver',
    'a.local',
    '[192.0.2.1]',
    '[IPv6:2001:db8::1]',
    '192.0.2.1',
  ].map((name): Row => [`“${name}”`, 'fail', { zone: good, envelope: { helo: name } }]),
  ['an invalid name, offline', 'fail', { offline: true, envelope: { helo: 'localhost' } }],
]);

test('helo check passes when one address family fails but the other matches', async () => {
  const resolver: Resolver = async (_name, type) =>
    type === 'A'
      ? { status: 'found', records: ['192.0.2.1'], ttl: 1, authenticated: false }
      : { status: 'error', reason: 'timeout' };
  assert.equal((await runCheck(helo, { message, resolver })).status, 'pass');
});

test('helo check reports hostile HELO texts without querying them', async () => {
  const texts = [
    'a'.repeat(10_000),
    `${'a.'.repeat(5000)}com`,
    'mail example com',
    'größe.example.com',
    '\u0000\r\n.example.com',
    '\ud800.example.com',
    '-bad-.example.com',
    'a..b.com',
    '$(id).example.com',
    '"><script>.example.com',
  ];
  for (const text of texts) {
    const asked: string[] = [];
    const resolver: Resolver = async (name, type) => {
      asked.push(`${name}/${type}`);
      return zoneResolver({})(name, type);
    };
    const finding = await runCheck(helo, { message, resolver, envelope: { helo: text } });
    assert.equal(finding.status, 'fail', text.slice(0, 40));
    assert.ok(JSON.stringify(finding).length < 3000);
    // The name proposed in the fix may come from the PTR record, so only that is queried, and whether its denial is true.
    assert.deepEqual(asked, [`${REVERSE}/PTR`, 'com/NS']);
  }
});

test('ptr check asks for no address record that exists', async () => {
  const envelope = { client_ip: IPV6, helo: 'mail.example.com' };
  const fixOf = async (zone: Zone) =>
    (await runCheck(ptr, { message, zone, envelope })).fix?.text ?? '';
  const exists = await fixOf({ 'mail.example.com': { AAAA: ['2001:db8:0::1'] } });
  assert.doesNotMatch(exists, /[Pp]ublish|use this name/);
  assert.match(exists, /already has this address/);
  assert.match(await fixOf({}), /Also publish an AAAA record for mail\.example\.com/);
});

test('helo check names the setting of the server that was seen', async () => {
  const fixWith = async (received: string) => {
    const raw = `Received: ${received}; Sat, 21 Nov 2026 09:59:00 +0000\n${message}`;
    return (await runCheck(helo, { message: raw, envelope: { helo: 'srv1' }, zone: good })).fix!
      .text;
  };
  const cases: [string, RegExp, RegExp][] = [
    ['from a by srv1 (Postfix, from userid 0) id 1', /smtp_helo_name = mail/, /Exim|Exchange/],
    ['from a by srv1 with esmtp (Exim 4.98) id 1', /primary_hostname = mail/, /Postfix|Exchange/],
    [
      'from a by srv1 with Microsoft SMTP Server (version=TLS1_2) id 15.2',
      /-Fqdn mail/,
      /Postfix|Exim/,
    ],
    ['by srv1 (8.17.1/8.17.1/Submit) id 1', /confDOMAIN_NAME/, /Postfix|Exim/],
    ['from a by srv1 with ESMTP id 1', /Postfix.*Exim.*Exchange/, /Sendmail/],
  ];
  for (const [received, expected, unexpected] of cases) {
    const text = await fixWith(received);
    assert.match(text, expected);
    assert.doesNotMatch(text, unexpected);
  }
});

test('ptr, fcrdns and helo checks share one PTR query', async () => {
  const asked: string[] = [];
  const resolver: Resolver = async (name, type) => {
    asked.push(`${name}/${type}`);
    return { status: 'found', records: ['m.example.com'], ttl: 1, authenticated: false };
  };
  const context = await contextFor({ message, resolver, envelope: { helo: 'localhost' } });
  await Promise.all([ptr.run(context), fcrdns.run(context), helo.run(context)]);
  assert.equal(asked.filter((question) => question.endsWith('/PTR')).length, 1);
});

test('ptr, fcrdns and helo checks propose the record to publish', async () => {
  const noPtr = await runCheck(ptr, { message, zone: {} });
  assert.deepEqual(noPtr.fix?.record, { type: 'PTR', name: REVERSE, value: 'mail.example.com' });
  const proposed = await runCheck(ptr, { message, zone: {}, envelope: { helo: 'localhost' } });
  assert.equal(proposed.fix?.record?.value, 'mail.example.com');
  const noWayBack = await runCheck(fcrdns, { message, zone: named('m.example.com') });
  assert.deepEqual(noWayBack.fix?.record, { type: 'A', name: 'm.example.com', value: '192.0.2.1' });
  const zone: Zone = { 'example.com': { A: ['192.0.2.9'] } };
  const elsewhere = await runCheck(helo, { message, zone, envelope: { client_ip: IPV6 } });
  assert.deepEqual(elsewhere.fix?.record, { type: 'AAAA', name: 'mail.example.com', value: IPV6 });
});
