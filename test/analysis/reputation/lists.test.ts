/** The declarations: complete, without contradiction, and as the documentation shows them. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LISTS } from '../../../src/analysis/reputation/lists.ts';
import { faultOf } from '../../../src/analysis/reputation/self-test.ts';
import { blocklistTable } from '../../../src/analysis/reputation/table.ts';
import { normalizeDomain } from '../../../src/lib/domain-names.ts';
import { zoneResolver } from '../../../src/net/zone.ts';
import { blocklistZone } from '../../helpers/blocklists.ts';

test('zones and names are unique, and zones are as the configuration reads them', () => {
  assert.equal(new Set(LISTS.map(({ zone }) => zone)).size, LISTS.length);
  assert.equal(new Set(LISTS.map(({ name }) => name)).size, LISTS.length);
  for (const { zone } of LISTS) assert.equal(normalizeDomain(zone), zone);
});

test('the default set', () => {
  const set = LISTS.filter(({ byDefault }) => byDefault);
  assert.deepEqual(
    set.map(({ name, kind, tier }) => `${name}: ${kind} ${tier}`),
    [
      'Spamhaus ZEN: ip 1',
      'SpamCop: ip 2',
      'Mailspike BL: ip 2',
      'PSBL: ip 2',
      'SpamEatingMonkey SEM-BLACK: ip 2',
      'UCEPROTECT level 1: ip 3',
      'Spamhaus DBL: domain 1',
      'SURBL: domain 2',
      'URIBL: domain 2',
      'DNSWL: allow 3',
    ],
  );
});

test('the lists that are gone stay out', () => {
  for (const { zone } of LISTS)
    assert.doesNotMatch(zone, /sorbs|manitu|abuseat|njabl|ahbl|dsbl|spamcannibal/);
});

test('a code has one meaning, lies in 127.0.0.0/8, and is listed, noted or an error', () => {
  for (const { name, listed, noted = {}, errors, advice = {} } of LISTS) {
    const table: Record<string, string> = 'codes' in listed ? listed.codes : listed.bits;
    const codes = Object.keys(table);
    assert.ok(codes.length > 0, name);
    const all = [...codes, ...Object.keys(noted)];
    assert.equal(new Set(all).size, all.length, name);
    for (const code of all)
      assert.match(code, 'codes' in listed ? /^127\.\d+\.\d+\.\d+$/ : /^(1|2|4|8|16|32|64|128)$/);
    for (const code of Object.keys(errors)) {
      assert.match(code, /^127\./, name);
      assert.ok(!all.includes(code), `${name} ${code}`);
    }
    for (const code of Object.keys(advice)) assert.ok(codes.includes(code), `${name} ${code}`);
    for (const meaning of [...Object.values(table), ...Object.values(noted)])
      assert.match(meaning, /^[a-zA-Z].*[^.]$/, name);
    for (const error of Object.values(errors)) assert.match(error, /^It .*[^.]$/, name);
  }
});

test('address lists are tested as RFC 5782 says, name lists at two names', () => {
  for (const { name, kind, test: points, delisting, ipv6 } of LISTS) {
    assert.match(delisting, /^https:\/\//, name);
    if (kind === 'domain') {
      assert.equal(ipv6, false, name);
      assert.notEqual(points.listed, points.unlisted, name);
      assert.match(points.listed, /^[a-z0-9_.-]+$/, name);
    } else assert.deepEqual(points, { listed: '2.0.0.127', unlisted: '1.0.0.127' }, name);
  }
});

test('what needs a key has a zone for it', () => {
  for (const { name, keyedZone, needsKey } of LISTS) {
    if (keyedZone) assert.match(keyedZone, /^<key>\.[a-z.]+$/, name);
    if (needsKey) assert.ok(keyedZone, name);
  }
});

test('each list passes its own test with the answers that its operator gives', async () => {
  const resolver = zoneResolver(blocklistZone('abcdef12'));
  for (const list of LISTS) {
    const keyed = list.keyedZone?.replace('<key>', 'abcdef12');
    for (const asked of [...(list.needsKey ? [] : [list.zone]), ...(keyed ? [keyed] : [])])
      assert.equal(await faultOf(resolver, { list, asked }), null, asked);
  }
});

test('the documentation has every list as it is declared', () => {
  const text = readFileSync(new URL('../../../docs/blocklists.md', import.meta.url), 'utf8');
  assert.ok(text.includes(blocklistTable()), 'docs/blocklists.md has another table');
});
