/** The client address: only entries of trusted proxies count. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as v from 'valibot';
import { callerOf } from '../../src/http/actor.ts';
import { route } from '../../src/http/route.ts';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { startRoutedService } from './routed.ts';

const PROXIES = ['10.0.0.0/8', '127.0.0.1', '2001:db8:1::/48'].map(parseNetwork);

const ADDRESSES: [what: string, peer: string | undefined, forwarded: string, ip: string | null][] =
  [
    ['X-Forwarded-For of an untrusted peer is ignored', '192.0.2.9', '198.51.100.1', '192.0.2.9'],
    ['X-Forwarded-For of a trusted proxy is used', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a trusted proxy without X-Forwarded-For is the client', '10.0.0.1', '', '10.0.0.1'],
    [
      'the right-most untrusted address is used',
      '10.0.0.1',
      '203.0.113.5, 198.51.100.1, 10.9.9.9',
      '198.51.100.1',
    ],
    [
      'addresses left of the client are ignored',
      '10.0.0.1',
      '10.0.0.7, 198.51.100.1',
      '198.51.100.1',
    ],
    ['with only trusted addresses the first is used', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['an IPv4 port is removed', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['an IPv6 port is removed', '10.0.0.1', '[2001:db8::7]:443', '2001:db8::7'],
    ['IPv6 without brackets is accepted', '10.0.0.1', '2001:db8::7', '2001:db8::7'],
    ['an IPv6 proxy is trusted', '2001:db8:1::1', '2001:db8:2::1', '2001:db8:2::1'],
    [
      'IPv4-mapped addresses count as IPv4',
      '::ffff:10.0.0.1',
      '::ffff:198.51.100.1',
      '198.51.100.1',
    ],
    ['an invalid entry is ignored', '10.0.0.1', 'nonsense', '10.0.0.1'],
    ['entries left of an invalid one are ignored', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
    [
      'an invalid entry left of the client is ignored',
      '10.0.0.1',
      '"><x, 198.51.100.1',
      '198.51.100.1',
    ],
    ['octal notation is invalid', '10.0.0.1', '0300.0.2.1', '10.0.0.1'],
    ['an empty list is ignored', '10.0.0.1', ',,', '10.0.0.1'],
    ['unknown when the socket is closed', undefined, '198.51.100.1', null],
  ];

for (const [what, remoteAddress, forwarded, ip] of ADDRESSES)
  it(`Client address: ${what}`, () => {
    const headers = new Headers({ 'x-forwarded-for': forwarded });
    assert.equal(callerOf(headers, { remoteAddress }, PROXIES).ip, ip);
  });

it('Client address: no proxy is trusted by default', () => {
  const headers = new Headers({ 'x-forwarded-for': '198.51.100.1' });
  assert.equal(callerOf(headers, { remoteAddress: '127.0.0.1' }, []).ip, '127.0.0.1');
});

const whoami = route({
  method: 'GET',
  path: '/whoami',
  operation: 'whoAmI',
  role: 'public',
  summary: 'Who calls',
  response: v.object({
    ip: v.nullable(v.string()),
    agent: v.nullable(v.string()),
  }),
  handle: ({ caller: { ip, userAgent } }) => ({ ip, agent: userAgent }),
});

it('Route handlers receive the client address and a truncated user agent', async (t) => {
  const proxies = { DELIVERABILITY_TRUSTED_PROXIES: '127.0.0.0/8, ::1' };
  const { send } = await startRoutedService(t, [whoami], { env: proxies });
  const headers = {
    'x-forwarded-for': '203.0.113.5, 198.51.100.1',
    'user-agent': 'x'.repeat(600),
  };
  const { json } = await send('GET', '/whoami', { headers });
  assert.deepEqual(json, { ip: '198.51.100.1', agent: 'x'.repeat(500) });
  const plain = await startRoutedService(t, [whoami]);
  const { json: told } = await plain.send('GET', '/whoami', { headers });
  assert.equal(told.ip, '127.0.0.1');
});
