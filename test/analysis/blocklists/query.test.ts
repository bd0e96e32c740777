/** Queries to one list: names, errors, and keys that stay secret. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseBlocklists } from '../../../src/analysis/blocklists/choose.ts';
import { queryList, queryReason } from '../../../src/analysis/blocklists/query.ts';
import { addressSubject, isQueryable } from '../../../src/analysis/blocklists/subjects.ts';
import type { DnsErrorReason } from '../../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { listIn } from '../../helpers/blocklists.ts';

const KEY = 'abcdefghij0123456789abcdef';
const [ZEN] = chooseBlocklists([], null);
const [KEYED] = chooseBlocklists([], KEY);

test('queryList reports DNS failures as errors with the reason', async () => {
  const reasons: Record<DnsErrorReason, RegExp> = {
    timeout: /in time/,
    servfail: /SERVFAIL/,
    refused: /REFUSED/,
    unreachable: /no DNS server/,
    malformed: /response of the list is invalid/,
    limit: /limit on DNS queries/,
    denies: /reports existing names as missing/,
    disabled: /lookups are disabled/,
  };
  for (const [reason, text] of Object.entries(reasons)) {
    const resolver = async () => ({ status: 'error', reason: reason as DnsErrorReason }) as const;
    const answer = await queryList(resolver, ZEN!, '7.114.0.203');
    assert.equal(answer.status, 'error');
    assert.match(answer.status === 'error' ? answer.reason : '', text);
  }
});

test('queryList treats NXDOMAIN and NODATA as not listed', async () => {
  for (const status of ['nxdomain', 'nodata'] as const)
    assert.deepEqual(await queryList(async () => ({ status }), ZEN!, '7.114.0.203'), {
      status: 'not_listed',
      codes: [],
      notes: [],
    });
});

test('queryList reports overlong names as errors without a query', async () => {
  const resolver = () => assert.fail('a query was made');
  const name = `${'a.'.repeat(118)}example`;
  const answer = await queryList(resolver, KEYED!, name);
  assert.equal(answer.status, 'error');
});

test('addressSubject reverses IPv4 octets and IPv6 nibbles', () => {
  assert.equal(addressSubject('203.0.114.7').queryName, '7.114.0.203');
  assert.equal(addressSubject('2606:4700::1').queryName, `1.${'0.'.repeat(23)}0.0.7.4.6.0.6.2`);
});

test('Blocklists are queried only for public, non-documentation addresses', () => {
  for (const address of [
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.255',
    '2001:db8::1',
    '3fff::1',
    '10.0.0.1',
    '127.0.0.1',
    '169.254.1.1',
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '::1',
    'fe80::1',
    'fc00::1',
  ])
    assert.equal(isQueryable(address), false, address);
  for (const address of ['203.0.114.7', '8.8.4.4', '2606:4700::1'])
    assert.equal(isQueryable(address), true, address);
});

test('queryReason returns one printable, bounded line without the key', async () => {
  const read = (text: string) => {
    const zone = listIn(KEYED!.queryZone, '7.114.0.203', '127.0.0.2', text);
    return queryReason(zoneResolver(zone), KEYED!, '7.114.0.203');
  };
  assert.equal(
    await read('https://check.example/ip/203.0.114.7'),
    'https://check.example/ip/203.0.114.7',
  );
  assert.equal(
    await read(`7.114.0.203.${KEYED!.queryZone} says no`),
    '7.114.0.203.….zen.dq.spamhaus.net says no',
  );
  assert.equal(await read(`Key ${KEY.toUpperCase()}!`), 'Key …!');
  assert.equal(await read('a\u001b[31m\nb\u202e'), 'a·[31m·b·');
  assert.equal((await read('x'.repeat(5000)))?.length, 300);
  assert.equal(await read('  '), null);
});
