/** Which lists are asked, and by which zone. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BlocklistChange, chooseBlocklists } from '../../../src/analysis/reputation/choose.ts';
import { LISTS } from '../../../src/analysis/reputation/lists.ts';

const KEY = 'abcdefghij0123456789abcdef';
const changes = (...texts: string[]): BlocklistChange[] =>
  texts.map((text) => ({ on: text.startsWith('+'), zone: text.slice(1) }));
const zones = (texts: string[], key: string | null = null) =>
  chooseBlocklists(changes(...texts), key).map(({ list }) => list.zone);

const DEFAULT = LISTS.filter(({ byDefault }) => byDefault).map(({ zone }) => zone);

test('without changes the default set is asked, by the public zones', () => {
  const chosen = chooseBlocklists([], null);
  assert.deepEqual(
    chosen.map(({ asked }) => asked),
    DEFAULT,
  );
});

test('changes are made in their order', () => {
  assert.deepEqual(
    zones(['-bl.spamcop.net']),
    DEFAULT.filter((zone) => zone !== 'bl.spamcop.net'),
  );
  assert.deepEqual(zones(['-all']), []);
  assert.deepEqual(zones(['-all', '+dbl.spamhaus.org', '+zen.spamhaus.org']), [
    'zen.spamhaus.org',
    'dbl.spamhaus.org',
  ]);
  assert.deepEqual(zones(['+b.barracudacentral.org', '-b.barracudacentral.org']), DEFAULT);
  assert.deepEqual(zones(['+bl.spamcop.net', '-all']), []);
  assert.ok(zones(['+b.barracudacentral.org']).includes('b.barracudacentral.org'));
});

test('+all is every list but those that a key is lacking for', () => {
  const keyless = LISTS.filter(({ needsKey }) => !needsKey).map(({ zone }) => zone);
  assert.ok(keyless.length < LISTS.length);
  assert.deepEqual(zones(['+all']), keyless);
  assert.deepEqual(zones(['+all', '-psbl.surriel.com'], KEY).length, LISTS.length - 1);
});

test('the key switches the Spamhaus lists to its own zones', () => {
  const asked = Object.fromEntries(
    chooseBlocklists(changes('+zrd.dq.spamhaus.net'), KEY).map((one) => [one.list.zone, one.asked]),
  );
  assert.equal(asked['zen.spamhaus.org'], `${KEY}.zen.dq.spamhaus.net`);
  assert.equal(asked['dbl.spamhaus.org'], `${KEY}.dbl.dq.spamhaus.net`);
  assert.equal(asked['zrd.dq.spamhaus.net'], `${KEY}.zrd.dq.spamhaus.net`);
  assert.equal(asked['bl.spamcop.net'], 'bl.spamcop.net');
});

test('a list that needs a key cannot be switched on without one, but off', () => {
  assert.throws(
    () => zones(['+zrd.dq.spamhaus.net']),
    /cannot switch zrd\.dq\.spamhaus\.net on: it needs a Spamhaus DQS key/,
  );
  assert.deepEqual(zones(['-zrd.dq.spamhaus.net']), DEFAULT);
});

test('an unknown zone is told with the nearest known one, and with all', () => {
  for (const sign of ['+', '-'])
    assert.throws(
      () => zones([`${sign}bl.spamcop.ent`]),
      (error: Error) => {
        assert.match(error.message, /bl\.spamcop\.ent, perhaps bl\.spamcop\.net was meant/);
        for (const { zone } of LISTS) assert.ok(error.message.includes(zone), zone);
        return true;
      },
    );
  assert.throws(() => zones(['+dnsbl.sorbs.net']), /names a list that is not known/);
});
