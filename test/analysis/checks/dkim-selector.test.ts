/** The check `dkim_selector`: configured and common selectors, and problems of a key. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { checkDomain, DKIM_KEYS, GOOD_ZONE, item } from '../domain/domains.ts';

const { 's1._domainkey.example.com': _, ...WITHOUT_KEY } = GOOD_ZONE;
const at = (selector: string, ...records: string[]): Zone => ({
  [`${selector}._domainkey.example.com`]: { TXT: records },
});
const look = async (zone: Zone, selectors: string[] = []) => {
  const { checks } = await checkDomain({ ...WITHOUT_KEY, ...zone }, { selectors });
  return checks.filter(({ id }) => id === 'dkim_selector');
};

const { strong, short, weak, ed25519 } = DKIM_KEYS;

const rows: [what: string, record: string[], CheckStatus, RegExp][] = [
  ['strong', [strong], 'pass', /is strong/],
  ['without a version', [strong.replace(/^v=DKIM1;\s*/, '')], 'pass', /is strong/],
  ['of 1024 bits', [short], 'warn', /has 1024 bits; 2048 are recommended/],
  ['of 768 bits', [weak], 'fail', /has only 768 bits/],
  ['in test mode', [`${strong}; t=y:s`], 'warn', /is in test mode/],
  ['with only Ed25519', [ed25519], 'warn', /an Ed25519 key, and there is no RSA key/],
  ['revoked', ['v=DKIM1; k=rsa; p='], 'fail', /has been revoked/],
  ['truncated', [strong.slice(0, 100)], 'fail', /is invalid/],
  ['of another type', ['v=DKIM1; k=unknown; p=AAAA'], 'fail', /is invalid/],
  ['missing', [], 'fail', /No DKIM key is published at s1\._domainkey\.example\.com/],
  ['with unrelated text', ['v=spf1 -all'], 'fail', /No DKIM key is published/],
  ['of another version', [strong.replace('DKIM1', 'DKIM2')], 'fail', /has the version v=DKIM2/],
  ['as one of two records', [strong, short], 'fail', /2 DKIM keys/],
  ['beside another record', [strong, 'site-verification=abc'], 'fail', /Other TXT records/],
];

for (const [what, records, status, title] of rows)
  test(`dkim_selector check reports ${status}: configured key ${what}`, async () => {
    const [found, ...others] = await look(at('s1', ...records), ['S1']);
    assert.ok(found && others.length === 0);
    assert.equal(found.status, status, found.title);
    assert.match(found.title, title);
    assert.equal(found.severity, status === 'pass' ? null : 'warning');
    assert.equal(found.points, 3);
    assert.deepEqual([found.evidence.selector, found.evidence.known], ['s1', true]);
    if (status !== 'pass') assert.ok(found.fix);
  });

test('dkim_selector check proposes the record without test mode', async () => {
  const [found] = await look(at('s1', `${strong}; t=y`), ['s1']);
  assert.equal(found?.fix?.record?.value, strong);
});

test('dkim_selector check keeps other flags of the key', async () => {
  const [found] = await look(at('s1', `${strong}; t=s:y`), ['s1']);
  assert.equal(found?.fix?.record?.value, `${strong}; t=s`);
});

test('dkim_selector check passes an Ed25519 key beside an RSA key', async () => {
  const both = await look({ ...at('a', ed25519), ...at('b', strong) }, ['a', 'b']);
  assert.deepEqual(
    both.map(({ status, label }) => [label, status]),
    [
      ['DKIM key a', 'pass'],
      ['DKIM key b', 'pass'],
    ],
  );
});

test('dkim_selector check evaluates only common selectors that exist', async () => {
  const [found, ...others] = await look({ ...at('google', short), ...at('mail', 'v=spf1 -all') });
  assert.deepEqual(others, []);
  assert.deepEqual([found?.status, found?.evidence.selector], ['warn', 'google']);
  assert.equal(found?.evidence.known, false);
});

test('dkim_selector check reports info without points when no key is found', async () => {
  // An empty non-terminal proves nothing: another selector may have a key.
  const zone = { ...WITHOUT_KEY, ...at('unusual', strong) };
  const health = await checkDomain(zone);
  const { status, severity, points, title } = item(health, 'dkim_selector');
  assert.deepEqual([status, severity, points], ['info', null, 0]);
  assert.match(title, /No DKIM key of example\.com was found under a common selector/);
  assert.equal(health.status, 'healthy');
  const guess: Zone = { 'google._domainkey.example.com': { fails: 'timeout' } };
  const unanswered = item(await checkDomain({ ...zone, ...guess }), 'dkim_selector');
  assert.deepEqual([unanswered.status, unanswered.severity], ['error', null]);
});

test('dkim_selector check counts a wildcard record as one key', async () => {
  const everywhere = (record: string) =>
    Object.assign({}, ...['default', 'google', 's1', 's2', 'k1'].map((name) => at(name, record)));
  const live = await look(everywhere(strong));
  assert.deepEqual(
    live.map(({ evidence, status }) => [evidence.selector, status]),
    [['default', 'pass']],
  );
  const [revoked, ...others] = await look(everywhere('v=DKIM1; p='));
  assert.deepEqual(others, []);
  assert.deepEqual([revoked?.status, revoked?.severity, revoked?.points], ['info', null, 0]);
});

test('dkim_selector check reports error when the lookup times out', async () => {
  const [found] = await look({ 's1._domainkey.example.com': { fails: 'timeout' } }, ['s1']);
  assert.deepEqual([found?.status, found?.severity], ['error', null]);
});
