/** The records to publish: ready to copy, one per type and name, each with the records that it replaces. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordsToPublish } from '../../src/domains/records-to-publish.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { checkDomain, DKIM_KEYS, GOOD_ZONE } from '../analysis/domain/domains.ts';

const ROW = { name: 'example.com', token: 'x', status: 'verified', missing_since: null } as const;
const DMARC = '_dmarc.example.com';

async function wholeRecordsOf(zone: Zone, row: Partial<typeof ROW> | { status: 'pending' } = {}) {
  const whole = { ...GOOD_ZONE, ...zone };
  const { checks } = await checkDomain(whole, { selectors: ['s1'] });
  return recordsToPublish(zoneResolver(whole), { ...ROW, ...row }, checks);
}

async function recordsOf(...args: Parameters<typeof wholeRecordsOf>) {
  return (await wholeRecordsOf(...args)).map(({ purpose, ...record }) => record);
}

test('recordsToPublish returns only the verification record for a healthy domain', async () => {
  assert.deepEqual(await recordsOf({}), []);
  const [proof, ...others] = await recordsOf({}, { status: 'pending' });
  assert.deepEqual(proof, {
    type: 'TXT',
    name: '_deliverability.example.com',
    value: 'deliverability-verify=x',
    action: 'add',
    replaces: [],
    required: true,
  });
  assert.deepEqual(others, []);
  // Nothing invented: no mail server, no policy host, and no SPF record for servers that don't exist.
  const bare = { 'example.com': { MX: ['0 .'] }, '_mta-sts.example.com': { TXT: ['v=STSv1'] } };
  assert.deepEqual(await recordsOf(bare), []);
});

test('recordsToPublish adds missing SPF and DMARC records without inventing a mailbox', async () => {
  const missing = { [DMARC]: {}, 'example.com': { MX: ['10 mx.example.com'], TXT: ['spare'] } };
  const base = { type: 'TXT', action: 'add', replaces: [], required: true };
  assert.deepEqual(await recordsOf(missing), [
    { ...base, name: 'example.com', value: 'v=spf1 mx ~all' },
    { ...base, name: DMARC, value: 'v=DMARC1; p=none' },
  ]);
  const [, dmarc] = await wholeRecordsOf(missing);
  assert.match(dmarc!.purpose, /append “; rua=mailto:” and your mailbox address\.$/);
});

test('recordsToPublish merges several findings about one record into one record', async () => {
  const old = 'v=DMARC1; p=none; rua=a@example.com; fo=1; ri';
  assert.deepEqual(await recordsOf({ [DMARC]: { TXT: [old] } }), [
    {
      type: 'TXT',
      name: DMARC,
      value: 'v=DMARC1; p=none; rua=mailto:a@example.com; fo=1',
      action: 'replace',
      replaces: [old],
      required: false,
    },
  ]);
  // Nobody knows which address was meant.
  const unclear = 'v=DMARC1; p=none; rua=https://example.com/dmarc; fo=1';
  assert.deepEqual(await recordsOf({ [DMARC]: { TXT: [unclear] } }), []);
  // If only the mailbox is missing, there is nothing to copy.
  assert.deepEqual(await recordsOf({ [DMARC]: { TXT: ['v=DMARC1; p=reject'] } }), []);
});

test('recordsToPublish replaces all records of a kind and keeps unrelated ones', async () => {
  const [one, two] = ['v=spf1 ip4:192.0.2.1 -all', 'v=spf1 mx -all'];
  const node = { MX: ['10 mx.example.com'], TXT: ['google-site-verification=x', one, two] };
  const [spf, ...others] = await recordsOf({ 'example.com': node });
  assert.deepEqual([spf!.action, spf!.replaces, others], ['replace', [one, two], []]);
  assert.match(spf!.value, /^v=spf1 ip4:192\.0\.2\.1 mx -all$/);
  const caa = { CAA: ['0 issue "https://ca.example/"', '0 iodef "mailto:a@example.com"'] };
  const [fixed] = await recordsOf({ 'example.com': { ...GOOD_ZONE['example.com'], ...caa } });
  assert.deepEqual([fixed!.value, fixed!.replaces], ['0 issue "ca.example"', [caa.CAA[0]]]);
});

test('recordsToPublish replaces a DKIM test-mode key unless it is behind a CNAME', async () => {
  const testing = DKIM_KEYS.strong.replace('p=', 't=y; p=');
  const name = 's1._domainkey.example.com';
  const [key] = await recordsOf({ [name]: { TXT: [testing] } });
  assert.deepEqual([key!.name, key!.replaces], [name, [testing]]);
  const alias = { [name]: { CNAME: ['s1.esp.example'] }, 's1.esp.example': { TXT: [testing] } };
  assert.deepEqual(await recordsOf(alias), []);
});
