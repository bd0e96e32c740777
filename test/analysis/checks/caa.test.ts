/** The check `caa`: records at the domain or above it, and errors in them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { caa } from '../../../src/analysis/checks/caa.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

const message = 'From: a@news.example.com\n\nx\n';
const at = (name: string, ...records: string[]): Zone => ({ [name]: { CAA: records } });
const here = (...records: string[]) => at('news.example.com', ...records);

const rows: [what: string, zone: Zone, CheckStatus, RegExp, broken?: boolean][] = [
  [
    'one allowed authority',
    here('0 issue "ca.example"'),
    'info',
    /limits which .* name these authorities: ca\.example\./,
  ],
  [
    'an authority with parameters',
    here('0 issue "ca.example; account=1"'),
    'info',
    /name these authorities: ca\.example\./,
  ],
  [
    'a record at the parent domain',
    at('example.com', '0 issue "ca.example"'),
    'info',
    /records at example\.com/,
  ],
  ['no authority allowed', here('0 issue ";"'), 'info', /limits which .* name no authority/],
  [
    'only iodef',
    here('0 iodef "mailto:a@example.com"'),
    'info',
    /but any certificate authority can/,
  ],
  ['no CAA record', {}, 'info', /has no CAA record, so any certificate authority can/],
  ['an unknown property', here('0 tbs "x"', '0 issue "ca.example"'), 'info', /limits which/],
  [
    'an unknown critical property',
    here('128 tbs "x"'),
    'info',
    /contain an error.* "tbs" is not a known property/,
    true,
  ],
  ['a known critical property', here('128 issue "ca.example"'), 'info', /limits which/],
  [
    'a URL as authority',
    here('0 issue "https://ca.example/"'),
    'info',
    /does not name the authority/,
    true,
  ],
  ['an empty value', here('issue'), 'info', /is not a valid CAA record/, true],
  ['a DNS timeout', { 'news.example.com': { fails: 'timeout' } }, 'error', /Could not/],
  ['a DNS timeout at the parent', { 'example.com': { fails: 'timeout' } }, 'error', /Could not/],
];

for (const [what, zone, status, said, broken = false] of rows)
  test(`caa check reports ${status}: ${what}`, async () => {
    const finding = await runCheck(caa, { message, zone });
    assert.equal(finding.status, status, finding.title);
    assert.match(`${finding.title} ${finding.detail}`, said);
    assert.equal(Array.isArray(finding.evidence?.problems), broken);
  });

test('caa check uses the closest CAA records', async () => {
  const zone = { ...here('0 issue "one.example"'), ...at('example.com', '0 issue "two.example"') };
  const finding = await runCheck(caa, { message, zone });
  assert.deepEqual(finding.evidence?.issuers, ['one.example']);
});

const corrections: [published: string, corrected: string | undefined, RegExp][] = [
  ['0 issue "https://ca.example/"', '0 issue "ca.example"', /write only ca\.example as the name/],
  [
    '128 issuewild "HTTP://Ca.example:443/x; a=1; b=2"',
    '128 issuewild "ca.example; a=1; b=2"',
    /./,
  ],
  [
    '0 issuemail "admin@ca.example"',
    '0 issuemail "ca.example"',
    /write only ca\.example as the name/,
  ],
  ['0 issue "Example CA"', undefined, /write the domain name of the authority/],
  ['128 tbs "x"', '0 tbs "x"', /^Delete the record .* with flags 0\.$/],
  ['issue', undefined, /^Delete the record "issue", or rewrite it as/],
];

for (const [published, corrected, told] of corrections)
  test(`caa check corrects the invalid record: ${published}`, async () => {
    const zone = here('0 issue "good.example"', published);
    const { fix } = await runCheck(caa, { message, zone });
    assert.equal(fix?.record?.value, corrected);
    assert.match(fix?.text ?? '', told);
    if (corrected) assert.equal(fix?.record?.name, 'news.example.com');
  });
