/** The check `mx`: hosts that resolve or not, but that an MX record must not name. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { mx } from '../../../src/analysis/checks/mx.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import { analyzeDomain } from '../../../src/analysis/domain/analyze-domain.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { offlineWebClient } from '../../../src/net/http/web.ts';
import { RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';

const good: Zone = { 'mx.example.com': { A: ['192.0.2.1'] } };
const of = (...exchanges: string[]): Zone => ({ 'example.com': { MX: exchanges } });

const CASES: [name: string, zone: Zone, status: CheckStatus, title: RegExp][] = [
  ['an IPv4 address', of('10 192.0.2.1'), 'fail', /192\.0\.2\.1 of example\.com is an IP address/],
  ['an IPv6 address', of('10 2001:db8::1'), 'fail', /is an IP address, but/],
  [
    'a name without a dot',
    { ...of('10 mail'), mail: { A: ['192.0.2.1'] } },
    'fail',
    /mail of .* is not a full host name/,
  ],
  ['localhost', of('10 localhost'), 'fail', /is not a full host name/],
  [
    'an alias',
    { ...of('10 posta.example.com'), 'posta.example.com': { CNAME: ['mx.example.com'] }, ...good },
    'warn',
    /posta\.example\.com of example\.com is an alias \(CNAME\)/,
  ],
  [
    'a private address',
    { ...of('10 mx.example.com'), 'mx.example.com': { A: ['10.0.0.5'] } },
    'fail',
    /cannot reach/,
  ],
  [
    'a loopback address',
    { ...of('10 mx.example.com'), 'mx.example.com': { A: ['127.0.0.1'] } },
    'fail',
    /cannot reach/,
  ],
  [
    'an unspecified address',
    { ...of('10 mx.example.com'), 'mx.example.com': { A: ['0.0.0.0'] } },
    'fail',
    /cannot reach/,
  ],
  [
    'a link-local IPv6 address',
    { ...of('10 mx.example.com'), 'mx.example.com': { AAAA: ['fe80::1'] } },
    'fail',
    /cannot reach/,
  ],
  [
    'a unique local IPv6 address',
    { ...of('10 mx.example.com'), 'mx.example.com': { AAAA: ['fd00::1'] } },
    'fail',
    /cannot reach/,
  ],
  [
    'a private address beside a public one',
    { ...of('10 mx.example.com'), 'mx.example.com': { A: ['192.0.2.1', '192.168.1.2'] } },
    'warn',
    /also has an address that the internet cannot reach/,
  ],
  [
    'a private address, while the lookup of others fails',
    {
      ...of('10 mx.example.com', '20 mx2.example.com'),
      'mx.example.com': { A: ['10.0.0.5'] },
      'mx2.example.com': { fails: 'timeout' },
    },
    'warn',
    /mx\.example\.com of example\.com has only addresses/,
  ],
  [
    'an address beside a usable host',
    { ...of('10 mx.example.com', '20 192.0.2.9'), ...good },
    'warn',
    /192\.0\.2\.9 of example\.com is an IP address/,
  ],
];

for (const [name, zone, status, title] of CASES)
  test(`mx check reports ${status}: ${name}`, async () => {
    const message = 'From: a@example.com\n\nx\n';
    const envelope = { mail_from: 'a@example.com' };
    const found = await runCheck(mx, { message, zone, envelope });
    assert.equal(found.status, status, found.title);
    assert.match(found.title, title);
    assert.ok(found.fix?.text);
    assert.equal(found.fix?.record, undefined);
    assert.doesNotMatch(found.fix!.text, /record for \d/);
    const health = await analyzeDomain('example.com', {
      resolver: zoneResolver(zone),
      web: offlineWebClient,
      setup: NO_SETUP,
      now: RECEIVED_AT,
      selectors: [],
    });
    assert.notEqual(health.status, 'healthy');
  });

test('mx check passes for hosts with public addresses', async () => {
  const zone = {
    ...of('10 mx.example.com'),
    'mx.example.com': { A: ['192.0.2.1'], AAAA: ['2001:db8::1'] },
  };
  const found = await runCheck(mx, { message: 'From: a@example.com\n\nx\n', zone });
  assert.equal(found.status, 'pass');
});

test('mx check does not fail for a private address while the other addresses are unknown', async () => {
  const known = zoneResolver({ ...of('10 mx.example.com'), 'mx.example.com': { A: ['10.0.0.5'] } });
  const found = await runCheck(mx, {
    message: 'From: a@example.com\n\nx\n',
    resolver: async (name, type) =>
      type === 'AAAA' ? { status: 'error', reason: 'timeout' } : known(name, type),
  });
  assert.equal(found.status, 'warn');
});
