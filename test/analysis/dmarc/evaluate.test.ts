/** The DMARC outcome shared by the checks: record, alignment, and unknown alignment. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dmarcResult } from '../../../src/analysis/dmarc/evaluate.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const spfPass = { 'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } };
const spfFail = { 'example.com': { TXT: ['v=spf1 -all'] } };
const record = { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] } };
const key = zoneWith(KEYS.rsa.record);

test('dmarcResult contains the record’s location and the alignment', async () => {
  const from = MESSAGE.replace('ann@example.com', 'ann@news.example.com');
  const zone: Zone = {
    ...spfPass,
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; sp=quarantine; aspf=s'] },
    's1._domainkey.other.example': { TXT: [KEYS.rsa.record] },
  };
  const message = await sign({ domain: 'other.example' }, from);
  const context = await contextFor({ message, zone });
  const outcome = await context.fact(dmarcResult);
  assert.equal(outcome.fromDomain, 'news.example.com');
  assert.equal(outcome.organizationalDomain, 'example.com');
  assert.equal(outcome.recordDomain, 'example.com');
  assert.deepEqual(outcome.policy, {
    effective: 'quarantine',
    published: 'quarantine',
    tag: 'sp',
    testing: false,
  });
  assert.deepEqual(outcome.alignment, {
    spf: { domain: 'example.com', aligned: false, mode: 'strict' },
    dkim: { domain: 'other.example', aligned: false, mode: 'relaxed', result: 'pass' },
  });
});

test('dmarcResult names the aligned one of several signatures', async () => {
  const zone: Zone = {
    ...spfFail,
    ...record,
    's1._domainkey.other.example': { TXT: [KEYS.rsa.record] },
    ...key,
  };
  const once = await sign({});
  const twice = await sign({ domain: 'other.example' }, once);
  const { alignment, result } = await (await contextFor({ message: twice, zone })).fact(
    dmarcResult,
  );
  assert.equal(result, 'pass');
  assert.deepEqual(alignment.dkim, {
    domain: 'example.com',
    aligned: true,
    mode: 'relaxed',
    result: 'pass',
  });
});

test('dmarcResult is unknown while alignment and key are unknown', async () => {
  const zone: Zone = {
    ...spfFail,
    ...record,
    '_dmarc.m.example.com': { fails: 'timeout' },
    's1._domainkey.m.example.com': { fails: 'timeout' },
  };
  const message = await sign({ domain: 'm.example.com' });
  const outcome = await (await contextFor({ message, zone })).fact(dmarcResult);
  assert.equal(outcome.alignment.dkim.aligned, null);
  assert.equal(outcome.result, 'temperror');
});

test('dmarcResult is temperror while SPF and its alignment are unknown', async () => {
  const zone: Zone = {
    ...record,
    '_dmarc.m.example.com': { fails: 'timeout' },
    'm.example.com': { fails: 'timeout' },
  };
  const envelope = { mail_from: 'b@m.example.com' };
  const context = await contextFor({ message: MESSAGE, zone, envelope });
  assert.equal((await context.fact(dmarcResult)).result, 'temperror');
  const localEnvelope = { ...envelope, client_ip: null };
  const local = await contextFor({ message: MESSAGE, zone, envelope: localEnvelope });
  assert.equal((await local.fact(dmarcResult)).result, null);
});
