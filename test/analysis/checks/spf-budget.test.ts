/** The check `spf_record`: how many DNS lookups are used is told before the limit is reached. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spfRecord } from '../../../src/analysis/checks/spf-record.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

/** A record that includes services, each with as many further lookups as its number says. */
function zoneOf(...further: number[]): Zone {
  const names = further.map((_, i) => `dienst${i}.example`);
  const zone: Zone = {
    'example.com': { TXT: [`v=spf1 ${names.map((name) => `include:${name}`).join(' ')} -all`] },
  };
  for (const [i, count] of further.entries()) {
    const inner = Array.from({ length: count }, (_, j) => `a:h${j}.dienst${i}.example`);
    zone[names[i]!] = { TXT: [['v=spf1', ...inner, 'ip4:192.0.2.0/24', '-all'].join(' ')] };
    for (let j = 0; j < count; j++) zone[`h${j}.dienst${i}.example`] = { A: ['192.0.2.7'] };
  }
  return zone;
}

const run = (zone: Zone) =>
  runCheck(spfRecord, {
    message: 'From: a@example.com\n\nx\n',
    zone,
    envelope: { mail_from: 'a@example.com', client_ip: '192.0.2.7' },
  });

const CASES: [further: number[], lookups: number, costs: string][] = [
  [[3, 3], 8, 'include:dienst0.example 4, include:dienst1.example 4'],
  [[0, 5, 1], 9, 'include:dienst0.example 1, include:dienst1.example 6, include:dienst2.example 2'],
  [[9], 10, 'include:dienst0.example 10'],
];

for (const [further, lookups, costs] of CASES)
  test(`spf_record check tells the cost of each term at ${lookups} lookups`, async () => {
    const { status, detail } = await run(zoneOf(...further));
    assert.equal(status, 'pass', detail);
    assert.ok(detail.startsWith(`It needs ${lookups} of the 10 allowed DNS lookups`), detail);
    assert.ok(detail.includes(`Lookups by term: ${costs}.`), detail);
  });

test('spf_record check does not list costs while few lookups are used', async () => {
  const { status, detail } = await run(zoneOf(2, 2));
  assert.equal(status, 'pass');
  assert.doesNotMatch(detail, /by term/);
});
