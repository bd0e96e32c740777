/** The syntax of SPF records: finds exactly the faults that mailauth finds in strict mode. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { spf } from 'mailauth/lib/spf/index.js';
import { parseAllDocuments } from 'yaml';
import { mailauthResolver } from '../../../src/analysis/dns/mailauth-resolver.ts';
import { isSpfRecord, parseSpfTerms } from '../../../src/analysis/spf/record.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';

const SUITE = new URL('../../../../shared/vectors/spf/rfc7208-tests.yml', import.meta.url);

const RECORDS = [
  'v=spf1',
  'v=spf1 ',
  'v=spf1 -all',
  'v=spf1 all:x',
  'v=spf1 all/8',
  'v=spf1 a mx ptr',
  'v=spf1 a:',
  'v=spf1 a/33',
  'v=spf1 a/032',
  'v=spf1 a:example.com/24//64',
  'v=spf1 a//129',
  'v=spf1 mx:example.com//0',
  'v=spf1 ptr:',
  'v=spf1 ptr/24',
  'v=spf1 include',
  'v=spf1 include:',
  'v=spf1 include:example',
  'v=spf1 include:other.example.',
  'v=spf1 include:example.123',
  'v=spf1 include:example.-a',
  'v=spf1 include:%{h}',
  'v=spf1 include:%{x}.example.com',
  'v=spf1 exists:%{ir}.%{v}._spf.%{d2}',
  'v=spf1 exists:%{i0}.example.com',
  'v=spf1 exists:%{c}.example.com',
  'v=spf1 exists:%(i).example.com',
  'v=spf1 exists:%%.%_%-.example.com',
  'v=spf1 exists:%{i.example.com',
  'v=spf1 ip4:192.0.2.1/24',
  'v=spf1 ip4:192.0.2.1/',
  'v=spf1 ip4:192.0.2',
  'v=spf1 ip4:192.0.02.1',
  'v=spf1 ip4:192.0.2.1/33',
  'v=spf1 ip4:2001:db8::1',
  'v=spf1 ip6:2001:db8::/32',
  'v=spf1 ip6:2001:db8::/129',
  'v=spf1 ip6:2001:db8:::',
  'v=spf1 ip6:192.0.2.1',
  'v=spf1 ip6:::ffff:192.0.2.1',
  'v=spf1 ipv4:192.0.2.1',
  'v=spf1 redirect=other.example',
  'v=spf1 redirect=',
  'v=spf1 redirect:example.com',
  'v=spf1 redirect=a.example redirect=b.example',
  'v=spf1 exp=a.example exp=b.example',
  'v=spf1 unknown=anything%{c} -all',
  'v=spf1 unknown=%{z} -all',
  'v=spf1 =x',
  'v=spf1 1x=y',
  'v=spf1 -a=b',
  'v=spf1 ++all',
  'v=spf1 a:ü.example',
  'v=spf1 a\tmx',
];

function suiteRecords(): string[] {
  if (!existsSync(SUITE)) return [];
  const scenarios = parseAllDocuments(readFileSync(SUITE, 'utf8')).map((each) => each.toJS());
  return scenarios.flatMap((scenario) =>
    Object.values((scenario?.zonedata ?? {}) as Record<string, unknown[]>)
      .flat()
      .flatMap((record) => Object.values(record as object))
      .map((value) => (Array.isArray(value) ? value.join('') : String(value)))
      .filter((value) => isSpfRecord(value)),
  );
}

/** mailauth validates the whole record before it looks up any name in it. */
async function mailauthAccepts(record: string): Promise<boolean> {
  const texts = { 'example.com': { TXT: [record] } };
  const zone = zoneResolver(texts);
  const found = await spf({
    sender: 'x@example.com',
    ip: '192.0.2.99',
    helo: 'mail.other.example',
    strict: true,
    resolver: mailauthResolver(async (name, type) =>
      name === 'example.com' && type === 'TXT'
        ? zone(name, type)
        : { status: 'error', reason: 'timeout' },
    ),
  });
  if (found.status.result !== 'permerror') return true;
  // A redirect to an invalid DNS name is well formed, but still a permerror.
  return /Invalid (?:redirect|include) target/.test(String(found.status.comment));
}

test('parseSpfTerms reports the same errors as mailauth in strict mode', async () => {
  const disagreements: string[] = [];
  for (const record of [...RECORDS, ...suiteRecords()]) {
    const faults = parseSpfTerms(record).filter(({ fault }) => fault !== null);
    if ((faults.length === 0) !== (await mailauthAccepts(record)))
      disagreements.push(`${record}: ${JSON.stringify(faults)}`);
  }
  assert.deepEqual(disagreements, []);
});

test('parseSpfTerms splits terms into qualifier, name and target', () => {
  const terms = parseSpfTerms(
    'v=spf1  A -mx:Mail.Example.com/24//64 ~include:x.example exp=why.%{d}',
  );
  assert.deepEqual(
    terms.map(({ name, isModifier: modifier, qualifier, target }) => [
      name,
      modifier,
      qualifier,
      target,
    ]),
    [
      ['a', false, '+', null],
      ['mx', false, '-', 'Mail.Example.com'],
      ['include', false, '~', 'x.example'],
      ['exp', true, '+', 'why.%{d}'],
    ],
  );
});
