/** Long texts that are made to keep a parser busy: the check of a domain takes no longer, and repairs none of them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { checkDomain, GOOD_ZONE } from './domains.ts';

const LENGTH = 30_000;
const own = (text: string): Zone => ({
  'example.com': { TXT: [text], MX: ['10 mx.example.com'] },
});

const TEXTS: [name: string, zone: Zone][] = [
  ['an SPF term', own(`v=spf1${'a'.repeat(LENGTH)}`)],
  ['semicolons in SPF', own(`v=spf1 mx${';'.repeat(LENGTH)}x -all`)],
  ['quotation marks in SPF', own(`"v=spf1${'x""'.repeat(LENGTH / 3)}`)],
  ['spaces in SPF', own(`v=spf1 include:gone.example${' '.repeat(LENGTH)}`)],
  ['hyphens in a key', { 's1._domainkey.example.com': { TXT: [`p=${'-'.repeat(LENGTH)}`] } }],
  [
    'commas in a host',
    { 'example.com': { TXT: ['v=spf1 mx -all'], MX: [`10 "${','.repeat(LENGTH)}x`] } },
  ],
];

for (const [name, zone] of TEXTS)
  test(`A long run does not keep the check busy: ${name}`, async () => {
    await checkDomain(GOOD_ZONE, { selectors: ['s1'] });
    const start = cpuTime();
    const { checks } = await checkDomain({ ...GOOD_ZONE, ...zone }, { selectors: ['s1'] });
    const spent = cpuTime() - start;
    assert.ok(spent < 1000, `${Math.round(spent)} ms`);
    for (const { fix } of checks)
      assert.ok((fix?.record?.value.length ?? 0) < LENGTH / 10, fix?.record?.name);
  });
