/** The adapter between our resolver and mailauth. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailauthResolver } from '../../../src/analysis/dns/mailauth-resolver.ts';
import type { DnsErrorReason } from '../../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';

const resolve = mailauthResolver(
  zoneResolver({
    'example.com': {
      TXT: ['v=spf1 -all', 'other'],
      MX: ['10 mx.example.com', '20 mx2.example.com'],
      A: ['192.0.2.1'],
    },
    'null.example.com': { MX: ['0 .'] },
  }),
);

test('mailauthResolver returns answers in node:dns format', async () => {
  assert.deepEqual(await resolve('example.com', 'TXT'), [['v=spf1 -all'], ['other']]);
  assert.deepEqual(await resolve('EXAMPLE.com.', 'A'), ['192.0.2.1']);
  assert.deepEqual(await resolve('example.com', 'MX'), [
    { exchange: 'mx.example.com', priority: 10 },
    { exchange: 'mx2.example.com', priority: 20 },
  ]);
  assert.deepEqual(await resolve('null.example.com', 'MX'), [{ exchange: '', priority: 0 }]);
});

test('mailauthResolver rejects missing records with node:dns codes', async () => {
  await assert.rejects(resolve('missing.example', 'TXT'), { code: 'ENOTFOUND' });
  await assert.rejects(resolve('example.com', 'AAAA'), { code: 'ENODATA' });
});

test('mailauthResolver rejects invalid names without a query', async () => {
  const names = ['', 'a..example.com', `${'a'.repeat(64)}.com`, `${'a.'.repeat(130)}com`];
  for (const name of names) await assert.rejects(resolve(name, 'TXT'), { code: 'EBADNAME' }, name);
});

test('mailauthResolver never reports a failure as missing record', async () => {
  const reasons: DnsErrorReason[] = [
    'timeout',
    'servfail',
    'refused',
    'unreachable',
    'malformed',
    'limit',
    'disabled',
  ];
  for (const reason of reasons) {
    const failing = mailauthResolver(async () => ({ status: 'error', reason }));
    await assert.rejects(failing('example.com', 'TXT'), (error: { code?: string }) => {
      assert.match(error.code ?? '', /^E/);
      assert.ok(!['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(error.code ?? ''), reason);
      return true;
    });
  }
});
