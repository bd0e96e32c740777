/** The check of the JSON files that people write: what is wrong is named with its file, entry and field. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dataFaults } from '../scripts/data.ts';

const NEWSLETTERS = 'analysis/sending-services/newsletters.json';
const CODES = 'feedback/bounces/replies.json';

const read = (path: string) =>
  JSON.parse(readFileSync(new URL(`../src/${path}`, import.meta.url), 'utf8'));

/** The faults of the file after a change. */
function faultsOf(path: string, change: (value: Value) => void): string[] {
  const value = read(path);
  change(value);
  return dataFaults(path, JSON.stringify(value));
}

type Value = ReturnType<typeof read>;

const FAULTS: [title: string, path: string, change: (value: Value) => void, fault: RegExp][] = [
  [
    'an unknown field',
    NEWSLETTERS,
    (all) => Object.assign(all[1], { host: ['a.example'] }),
    /^src\/analysis\/sending-services\/newsletters\.json: entry 2 \(Brevo\): host: /,
  ],
  [
    'a missing field',
    NEWSLETTERS,
    (all) => delete all[0].guide,
    /: entry 1 \(Mailchimp\): guide: /,
  ],
  [
    'a domain in upper case',
    NEWSLETTERS,
    (all) => all[0].domains.push('Example.com'),
    /: entry 1 \(Mailchimp\): domains: entry 6: Expected a domain in lower case$/,
  ],
  [
    'a value that is twice in a list',
    NEWSLETTERS,
    (all) => all[0].domains.push('mcsv.net'),
    /: entry 1 \(Mailchimp\): domains: entry 6: Repeats another value/,
  ],
  [
    'a second entry of a name',
    NEWSLETTERS,
    (all) => all.push(all[0]),
    /: entry \d+ \(Mailchimp\): Has the name of another entry$/,
  ],
  [
    'a blocklist code outside 127.0.0.0/8',
    'analysis/blocklists/lists.json',
    (all) => Object.assign(all[1].codes, { '128.0.0.2': 'spam' }),
    /: entry 2 \(SpamCop\): codes: 128\.0\.0\.2: Expected an address/,
  ],
  [
    'several phrases in one',
    'analysis/kind/phrases.json',
    (all) => all.carts.en.push('my cart, your cart'),
    /: carts: en: entry \d+: Expected one phrase/,
  ],
  [
    'an unknown check',
    CODES,
    (all) => all.providers[0].replies[0].checks.push('no_such_check'),
    /: providers: entry 1 \(Gmail\): replies: entry 1: checks: entry 2: Expected the id of a check$/,
  ],
  [
    'an unknown group of checks',
    CODES,
    (all) => all.anyServer[0].checks.push('@no_such_group'),
    /@no_such_group is not in checkGroups$/,
  ],
  [
    'an invalid regular expression',
    CODES,
    (all) => Object.assign(all.providers[0], { marks: '(' }),
    /: providers: entry 1 \(Gmail\): marks: Expected a regular expression$/,
  ],
];

for (const [title, path, change, fault] of FAULTS)
  test(`The check of the data names ${title}`, () => {
    assert.deepEqual(
      faultsOf(path, () => {}),
      [],
    );
    const faults = faultsOf(path, change);
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0]!, fault);
  });

test('The check of the data names a file that is not JSON, and one without a schema', () => {
  assert.match(dataFaults(NEWSLETTERS, '[{]')[0]!, /newsletters\.json: .*JSON/);
  assert.match(dataFaults('new.json', '[]')[0]!, /^src\/new\.json: .* no schema/);
});
