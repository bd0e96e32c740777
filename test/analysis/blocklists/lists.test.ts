/** The declarations of all lists are complete, consistent and documented. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readCodes } from '../../../src/analysis/blocklists/blocklist.ts';
import { type BlocklistChange, chooseBlocklists } from '../../../src/analysis/blocklists/choose.ts';
import { blocklistTable, LISTS } from '../../../src/analysis/blocklists/lists.ts';
import { findFault } from '../../../src/analysis/blocklists/watch.ts';
import { normalizeDomain } from '../../../src/lib/domain-names.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { blocklistZone, listedCode } from '../../helpers/blocklists.ts';

test('Blocklist zones and names are unique and normalized', () => {
  assert.equal(new Set(LISTS.map(({ zone }) => zone)).size, LISTS.length);
  assert.equal(new Set(LISTS.map(({ name }) => name)).size, LISTS.length);
  for (const { zone } of LISTS) assert.equal(normalizeDomain(zone), zone);
});

test('Default blocklists are the documented set', () => {
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

test('Discontinued blocklists are not declared', () => {
  for (const { zone } of LISTS)
    assert.doesNotMatch(zone, /sorbs|manitu|abuseat|njabl|ahbl|dsbl|spamcannibal/);
});

test('Blocklist codes are in 127.0.0.0/8 with one meaning each', () => {
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
    for (const error of Object.values(errors)) assert.match(error, /^The .*[^.]$/, name);
  }
});

test('IP blocklists use the RFC 5782 test points, domain blocklists two names', () => {
  for (const { name, kind, test: points, delisting, ipv6 } of LISTS) {
    assert.match(delisting, /^https:\/\//, name);
    if (kind === 'domain') {
      assert.equal(ipv6, false, name);
      assert.notEqual(points.listed, points.unlisted, name);
      assert.match(points.listed, /^[a-z0-9_.-]+$/, name);
    } else assert.deepEqual(points, { listed: '2.0.0.127', unlisted: '1.0.0.127' }, name);
  }
});

test('Blocklists that require a key declare a keyed zone', () => {
  for (const { name, keyedZone, needsKey } of LISTS) {
    if (keyedZone) assert.match(keyedZone, /^<key>\.[a-z.]+$/, name);
    if (needsKey) assert.ok(keyedZone, name);
  }
});

test('Every blocklist passes its self-test with its operator’s answers', async () => {
  const resolver = zoneResolver(blocklistZone('abcdef12'));
  for (const list of LISTS) {
    const keyed = list.keyedZone?.replace('<key>', 'abcdef12');
    for (const queryZone of [...(list.needsKey ? [] : [list.zone]), ...(keyed ? [keyed] : [])])
      assert.equal(await findFault(resolver, { list, queryZone }), null, queryZone);
  }
});

test('docs/blocklists.md contains the declared blocklist table', () => {
  const text = readFileSync(new URL('../../../docs/blocklists.md', import.meta.url), 'utf8');
  assert.ok(text.includes(blocklistTable()), 'docs/blocklists.md is out of date: npm run generate');
});

// The meaning of responses: only declared codes are listings.

const list = (zone: string) => LISTS.find((one) => one.zone === zone)!;
const ZEN = list('zen.spamhaus.org');
const DBL = list('dbl.spamhaus.org');
const SURBL = list('multi.surbl.org');
const URIBL = list('multi.uribl.com');
const DNSWL = list('list.dnswl.org');
const VALIDITY = list('bl.score.senderscore.com');
const SPAMCOP = list('bl.spamcop.net');

const LISTED: [string, typeof ZEN, string[], RegExp][] = [
  ['SBL', ZEN, ['127.0.0.2'], /SBL/],
  ['CSS', ZEN, ['127.0.0.3'], /CSS/],
  ['XBL', ZEN, ['127.0.0.4'], /XBL/],
  ['PBL', ZEN, ['127.0.0.10'], /should not send mail directly/],
  ['several codes', ZEN, ['127.0.0.2', '127.0.0.9'], /SBL.*DROP/],
  ['low reputation', DBL, ['127.0.1.2'], /low-reputation/],
  ['an abused legitimate domain', DBL, ['127.0.1.102'], /legitimate domain abused/],
  ['one bit', SURBL, ['127.0.0.64'], /ABUSE/],
  ['two bits', SURBL, ['127.0.0.80'], /MW.*ABUSE/],
  ['one relevant and one irrelevant bit', SURBL, ['127.0.0.36', '127.0.0.8'], /^a phishing/],
  ['the test point of SURBL', SURBL, ['127.0.0.254'], /PH.*MW.*ABUSE.*CR/],
  ['the test point of URIBL', URIBL, ['127.0.0.14'], /black.*grey/],
  ['an allowlist', DNSWL, ['127.0.3.2'], /^email service provider, medium trust$/],
  ['Validity bits', VALIDITY, ['127.0.0.5'], /botnet.*traps/],
];

for (const [what, one, records, means] of LISTED)
  test(`readCodes: ${one.name}, ${what} is listed`, () => {
    const answer = readCodes(one, records);
    assert.equal(answer.status, 'listed', JSON.stringify(answer));
    assert.match(answer.status === 'listed' ? answer.meanings.join('; ') : '', means);
  });

const UNKNOWN: [string, typeof ZEN, string[], RegExp][] = [
  ['a mistyped zone', ZEN, ['127.255.255.252'], /does not recognize the queried zone/],
  ['a public resolver', ZEN, ['127.255.255.254'], /public resolver/],
  ['too many queries', ZEN, ['127.255.255.255'], /too many/],
  ['an IP address query', DBL, ['127.0.1.255'], /query was for an IP address/],
  ['a public resolver', DBL, ['127.255.255.254'], /public resolver/],
  ['a refusal', SURBL, ['127.0.0.1'], /refuses/],
  ['a refusal', URIBL, ['127.0.0.1'], /refuses/],
  ['a refusal', DNSWL, ['127.0.0.255'], /refuses/],
  ['a refusal', VALIDITY, ['127.255.255.255'], /refuses/],
  ['an unpublished code', ZEN, ['127.0.0.5'], /not one of the codes/],
  ['a code of another list', SPAMCOP, ['127.0.0.4'], /not one of the codes/],
  ['a listed code with a refusal', ZEN, ['127.0.0.2', '127.255.255.254'], /public resolver/],
  ['a listed code with an unknown one', ZEN, ['127.0.0.2', '127.0.0.77'], /not one of the codes/],
  ['a listed code with a web server', ZEN, ['127.0.0.2', '198.51.100.80'], /may have shut down/],
  ['a web server', SPAMCOP, ['198.51.100.80'], /may have shut down.*198\.51\.100\.80/],
  ['a malformed address', SPAMCOP, ['1270.0.0.2'], /not a blocklist code/],
  ['an object property name', SPAMCOP, ['constructor'], /not a blocklist code/],
  ['a refusal bit among others', SURBL, ['127.0.0.9'], /not one of the codes/],
  ['an undeclared bit', URIBL, ['127.0.0.18'], /not one of the codes/],
  ['no bit set', URIBL, ['127.0.0.0'], /not one of the codes/],
  ['bits in another octet', URIBL, ['127.0.2.2'], /not one of the codes/],
];

for (const [what, one, records, text] of UNKNOWN)
  test(`readCodes: ${one.name}, ${what} is an error`, () => {
    const answer = readCodes(one, records);
    assert.equal(answer.status, 'error', JSON.stringify(answer));
    assert.match(answer.status === 'error' ? answer.reason : '', text);
  });

test('readCodes returns informational codes as notes, not listings', () => {
  assert.deepEqual(readCodes(SURBL, ['127.0.0.32']), {
    status: 'not_listed',
    codes: ['127.0.0.32'],
    notes: ['a click tracker (CT)'],
  });
  assert.equal(readCodes(URIBL, ['127.0.0.8']).status, 'not_listed');
  assert.equal(readCodes(list('rep.mailspike.net'), ['127.0.0.18']).status, 'not_listed');
});

test('readCodes treats no answer as not listed', () => {
  for (const one of LISTS)
    assert.deepEqual(readCodes(one, []), { status: 'not_listed', codes: [], notes: [] });
});

test('readCodes treats every declared error code as error, even beside a listing', () => {
  for (const one of LISTS)
    for (const code of Object.keys(one.errors))
      for (const records of [[code], [listedCode(one), code]])
        assert.equal(readCodes(one, records).status, 'error', `${one.name} ${records}`);
});

test('readCodes truncates thousands of answers in its output', () => {
  const records = Array.from({ length: 4000 }, (_, i) => `127.0.${i >> 8}.${i & 255}`);
  const answer = readCodes(ZEN, records);
  assert.equal(answer.status, 'error');
  assert.equal(answer.codes.length, 10);
});

// The selection of lists and their zones.

const KEY = 'abcdefghij0123456789abcdef';
const changes = (...texts: string[]): BlocklistChange[] =>
  texts.map((text) => ({ enabled: text.startsWith('+'), zone: text.slice(1) }));
const zones = (texts: string[], key: string | null = null) =>
  chooseBlocklists(changes(...texts), key).map(({ list }) => list.zone);

const DEFAULT = LISTS.filter(({ byDefault }) => byDefault).map(({ zone }) => zone);

test('chooseBlocklists without changes returns the default set with public zones', () => {
  const chosen = chooseBlocklists([], null);
  assert.deepEqual(
    chosen.map(({ queryZone }) => queryZone),
    DEFAULT,
  );
});

test('chooseBlocklists applies changes in order', () => {
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

test('chooseBlocklists +all enables every list that needs no missing key', () => {
  const keyless = LISTS.filter(({ needsKey }) => !needsKey).map(({ zone }) => zone);
  assert.ok(keyless.length < LISTS.length);
  assert.deepEqual(zones(['+all']), keyless);
  assert.deepEqual(zones(['+all', '-psbl.surriel.com'], KEY).length, LISTS.length - 1);
});

test('chooseBlocklists with a DQS key uses the keyed Spamhaus zones', () => {
  const asked = Object.fromEntries(
    chooseBlocklists(changes('+zrd.dq.spamhaus.net'), KEY).map((one) => [
      one.list.zone,
      one.queryZone,
    ]),
  );
  assert.equal(asked['zen.spamhaus.org'], `${KEY}.zen.dq.spamhaus.net`);
  assert.equal(asked['dbl.spamhaus.org'], `${KEY}.dbl.dq.spamhaus.net`);
  assert.equal(asked['zrd.dq.spamhaus.net'], `${KEY}.zrd.dq.spamhaus.net`);
  assert.equal(asked['bl.spamcop.net'], 'bl.spamcop.net');
});

test('chooseBlocklists rejects enabling a keyed list without a key', () => {
  assert.throws(
    () => zones(['+zrd.dq.spamhaus.net']),
    /cannot enable zrd\.dq\.spamhaus\.net: it needs a Spamhaus DQS key/,
  );
  assert.deepEqual(zones(['-zrd.dq.spamhaus.net']), DEFAULT);
});

test('chooseBlocklists rejects an unknown zone with a suggestion and the known zones', () => {
  for (const sign of ['+', '-'])
    assert.throws(
      () => zones([`${sign}bl.spamcop.ent`]),
      (error: Error) => {
        assert.match(
          error.message,
          /unknown list bl\.spamcop\.ent \(did you mean bl\.spamcop\.net\?\)/,
        );
        for (const { zone } of LISTS) assert.ok(error.message.includes(zone), zone);
        return true;
      },
    );
  assert.throws(() => zones(['+dnsbl.sorbs.net']), /contains the unknown list dnsbl\.sorbs\.net/);
});
