/** `spf_record`: syntax, limits over the whole tree, and records that pass everyone. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { spf } from '../../../src/analysis/checks/spf.ts';
import { spfRecord } from '../../../src/analysis/checks/spf-record.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

const MESSAGE = 'From: Ann <ann@example.com>\n\nHello\n';
const txt = (record: string) => ({ TXT: [record] });

/** `include:`s of that many domains, each of which exists. */
function includes(count: number): { terms: string; zone: Zone } {
  const names = Array.from({ length: count }, (_, index) => `s${index}.example.net`);
  return {
    terms: names.map((name) => `include:${name}`).join(' '),
    zone: Object.fromEntries(names.map((name) => [name, txt('v=spf1 ip4:198.51.100.1 -all')])),
  };
}
const ten = includes(10);
const eleven = includes(11);

interface Row {
  name: string;
  records: string[];
  zone?: Zone;
  status: CheckStatus;
  title: RegExp;
  publish?: string;
}

const rows: Row[] = [
  {
    name: 'a valid record',
    records: ['v=spf1 ip4:192.0.2.1 -all'],
    status: 'pass',
    title: /is valid/,
  },
  {
    name: 'a valid record beside other TXT records',
    records: ['v=spf10 x', 'google-site-verification=1', 'V=SPF1 ip4:192.0.2.1 ~ALL'],
    status: 'pass',
    title: /is valid/,
  },
  {
    name: 'no record',
    records: ['other'],
    status: 'fail',
    title: /has no SPF record/,
    publish: 'v=spf1 mx ~all',
  },
  {
    name: 'two records',
    records: ['v=spf1 a:a.example.com -all', 'v=spf1 mx ~all'],
    status: 'fail',
    title: /has 2 SPF records/,
    publish: 'v=spf1 a:a.example.com mx -all',
  },
  {
    name: 'an unknown mechanism after all',
    records: ['v=spf1 ip4:192.0.2.1 -all ipv4:192.0.2.2'],
    status: 'fail',
    title: /"ipv4:192\.0\.2\.2", which is not a valid SPF term/,
  },
  {
    name: 'a bad address in an include',
    records: ['v=spf1 ip4:192.0.2.1 include:b.example -all'],
    zone: { 'b.example': txt('v=spf1 ip4:192.0.2.256 -all') },
    status: 'fail',
    title: /record of b\.example, which yours includes/,
  },
  {
    name: 'ten lookups after a match',
    records: [`v=spf1 ip4:192.0.2.1 ${ten.terms} -all`],
    zone: ten.zone,
    status: 'pass',
    title: /is valid/,
  },
  {
    name: 'eleven lookups after a match',
    records: [`v=spf1 ip4:192.0.2.1 ${eleven.terms} -all`],
    zone: eleven.zone,
    status: 'fail',
    title: /needs 11 DNS lookups; the limit is 10/,
  },
  {
    name: 'lookups after all do not count',
    records: [`v=spf1 ip4:192.0.2.1 -all ${eleven.terms} redirect=nowhere.example`],
    zone: eleven.zone,
    status: 'warn',
    title: /contains "include:s0\.example\.net" after its all term/,
    publish: 'v=spf1 ip4:192.0.2.1 -all',
  },
  {
    name: 'a redirect before all does not count',
    records: ['v=spf1 redirect=nowhere.example ip4:192.0.2.1 -all'],
    status: 'warn',
    title: /contains "redirect=nowhere\.example" beside an all term/,
    publish: 'v=spf1 ip4:192.0.2.1 -all',
  },
  {
    name: 'an include without SPF record',
    records: ['v=spf1 ip4:192.0.2.1 include:gone.example -all'],
    status: 'fail',
    title: /refers to gone\.example, which has no SPF record/,
  },
  {
    name: 'a circular include',
    records: ['v=spf1 ip4:192.0.2.1 include:b.example -all'],
    zone: { 'b.example': txt('v=spf1 include:example.com -all') },
    status: 'fail',
    title: /refers back to example\.com/,
  },
  {
    name: '+all',
    records: ['v=spf1 mx +all'],
    status: 'fail',
    title: /lets anyone send as you: it contains "\+all"/,
    publish: 'v=spf1 mx ip4:192.0.2.1 ~all',
  },
  {
    name: '+all beside terms that allow the sender',
    records: ['v=spf1 a:mail.example.com +all'],
    zone: { 'mail.example.com': { A: ['192.0.2.1'] } },
    status: 'fail',
    title: /lets anyone send as you/,
    publish: 'v=spf1 a:mail.example.com ~all',
  },
  {
    name: 'a prefix length of 0',
    records: ['v=spf1 ip4:0.0.0.0/0 -all'],
    status: 'fail',
    title: /lets anyone send as you/,
  },
  {
    name: '+all in an include',
    records: ['v=spf1 include:b.example -all'],
    zone: { 'b.example': txt('v=spf1 all') },
    status: 'fail',
    title: /b\.example, which yours includes, lets anyone/,
    publish: 'v=spf1 ip4:192.0.2.1 -all',
  },
  {
    name: '+all in an unneeded include',
    records: ['v=spf1 ip4:192.0.2.0/24 include:b.example ~all'],
    zone: { 'b.example': txt('v=spf1 include:c.example -all'), 'c.example': txt('v=spf1 +all') },
    status: 'fail',
    title: /c\.example, which yours includes, lets anyone/,
    publish: 'v=spf1 ip4:192.0.2.0/24 ~all',
  },
  {
    name: '+all through a redirect to another owner',
    records: ['v=spf1 redirect=b.example'],
    zone: { 'b.example': txt('v=spf1 +all') },
    status: 'fail',
    title: /lets anyone/,
    publish: 'v=spf1 ip4:192.0.2.1 ~all',
  },
  {
    name: '?all through a redirect',
    records: ['v=spf1 redirect=b.example'],
    zone: { 'b.example': txt('v=spf1 ip4:192.0.2.1 ?all') },
    status: 'warn',
    title: /ends with \?all/,
    publish: 'v=spf1 include:b.example ~all',
  },
  {
    name: 'two, one of which is a redirect',
    records: ['v=spf1 redirect=_spf.example.net', 'v=spf1 include:b.example -all'],
    zone: { '_spf.example.net': txt('v=spf1 mx ~all'), 'b.example': txt('v=spf1 mx ~all') },
    status: 'fail',
    title: /has 2 SPF records/,
    publish: 'v=spf1 include:b.example include:_spf.example.net -all',
  },
  {
    name: 'the same redirect twice',
    records: ['v=spf1 redirect=b.example', 'V=spf1 redirect=b.example'],
    zone: { 'b.example': txt('v=spf1 ip4:192.0.2.1 -all') },
    status: 'fail',
    title: /has 2 SPF records/,
    publish: 'v=spf1 redirect=b.example',
  },
  {
    name: 'two records with an explanation each',
    records: ['v=spf1 mx -all exp=a.example.com', 'v=spf1 a -all exp=b.example.com'],
    status: 'fail',
    title: /has 2 SPF records/,
    publish: 'v=spf1 a exp=b.example.com mx -all',
  },
  {
    name: '+all in an include that allows nobody',
    records: ['v=spf1 ip4:192.0.2.1 ?include:b.example -all'],
    zone: { 'b.example': txt('v=spf1 all') },
    status: 'pass',
    title: /is valid/,
  },
  {
    name: 'more than ten mail servers',
    records: ['v=spf1 mx -all'],
    zone: {
      'example.com': {
        TXT: ['v=spf1 mx -all'],
        MX: Array.from({ length: 11 }, (_, index) => `10 mx${index}.example.com`),
      },
    },
    status: 'fail',
    title: /more than 10 mail servers/,
  },
  { name: 'ptr', records: ['v=spf1 ptr ip4:192.0.2.1 -all'], status: 'warn', title: /uses ptr/ },
  {
    name: 'two void lookups',
    records: ['v=spf1 a:a.example a:b.example -all'],
    status: 'pass',
    title: /is valid/,
  },
  {
    name: 'three void lookups',
    records: ['v=spf1 a:a.example mx:b.example exists:c.example -all'],
    status: 'warn',
    title: /refers to 3 names that do not exist/,
  },
  {
    name: 'a host with only IPv6 is not void',
    records: ['v=spf1 a:a.example a:b.example a:c.example -all'],
    zone: { 'a.example': { AAAA: ['2001:db8::1'] } },
    status: 'pass',
    title: /is valid/,
  },
  {
    name: '?all',
    records: ['v=spf1 ip4:192.0.2.1 ?all'],
    status: 'warn',
    title: /ends with \?all/,
    publish: 'v=spf1 ip4:192.0.2.1 ~all',
  },
  {
    name: 'no all term',
    records: ['v=spf1 ip4:192.0.2.1'],
    status: 'warn',
    title: /does not end with an all term/,
    publish: 'v=spf1 ip4:192.0.2.1 ~all',
  },
  {
    name: 'the all of a redirect',
    records: ['v=spf1 redirect=b.example'],
    zone: { 'b.example': txt('v=spf1 ip4:192.0.2.1 -all') },
    status: 'pass',
    title: /is valid/,
  },
  {
    name: 'a record that is too long',
    records: [`v=spf1 ${'ip4:192.0.2.1 '.repeat(32)}-all`],
    status: 'warn',
    title: /has 459 bytes/,
  },
  {
    name: 'DNS failure in an include',
    records: ['v=spf1 include:b.example -all'],
    zone: { 'b.example': { fails: 'timeout' } },
    status: 'error',
    title: /Could not check the whole SPF record/,
  },
  {
    name: 'DNS failure of a host',
    records: ['v=spf1 a:b.example -all'],
    zone: { 'b.example': { fails: 'servfail' } },
    status: 'error',
    title: /Could not check the whole SPF record/,
  },
  {
    name: 'DNS failure in an include beside a known mistake',
    records: ['v=spf1 include:b.example +all'],
    zone: { 'b.example': { fails: 'timeout' } },
    status: 'fail',
    title: /lets anyone/,
  },
  {
    name: 'DNS failure',
    records: [],
    zone: { 'example.com': { fails: 'timeout' } },
    status: 'error',
    title: /Could not check the whole SPF record/,
  },
];

for (const row of rows) {
  test(`spf_record check reports ${row.status}: ${row.name}`, async () => {
    const zone: Zone = { 'example.com': { TXT: row.records, MX: ['0 .'] }, ...row.zone };
    const found = await runCheck(spfRecord, { message: MESSAGE, zone });
    assert.equal(found.status, row.status, found.title);
    assert.match(found.title, row.title);
    if (row.status === 'fail' || row.status === 'warn') assert.ok(found.fix?.text);
    if (row.publish)
      assert.deepEqual(found.fix?.record, {
        type: 'TXT',
        name: 'example.com',
        value: row.publish,
      });
  });
}

test('spf_record check is skipped offline and without a sender domain', async () => {
  const zone = { 'example.com': txt('v=spf1 +all') };
  const offline = await runCheck(spfRecord, { message: MESSAGE, zone, offline: true });
  assert.equal(offline.status, 'skipped');
  const envelope = { mail_from: '', helo: 'localhost' };
  const nobody = await runCheck(spfRecord, { message: MESSAGE, zone, envelope });
  assert.equal(nobody.status, 'skipped');
});

test('spf_record check works without a client address', async () => {
  const zone = { 'example.com': txt('v=spf1 +all') };
  const envelope = { client_ip: null };
  const found = await runCheck(spfRecord, { message: MESSAGE, zone, envelope });
  assert.deepEqual([found.status, found.dependsOn], ['fail', undefined]);
});

/** Those that everybody passes. */
const OPEN: Zone[] = [
  { 'example.com': txt('v=spf1 +all') },
  { 'example.com': txt('v=spf1 mx a ?ip4:198.51.100.0/24 all') },
  { 'example.com': txt('v=spf1 -ip4:198.51.100.1 +all') },
  { 'example.com': txt('v=spf1 include:b.example -all'), 'b.example': txt('v=spf1 +all') },
  { 'example.com': txt('v=spf1 redirect=b.example'), 'b.example': txt('v=spf1 mx +all') },
  { 'example.com': txt('v=spf1 redirect=s.example.com'), 's.example.com': txt('v=spf1 +all') },
  { 'example.com': txt('v=spf1 include:s.example.com -all'), 's.example.com': txt('v=spf1 all') },
];

test('spf_record check proposes a record that keeps the client passing but not everyone', async () => {
  for (const client_ip of ['192.0.2.1', '2001:db8::25'])
    for (const zone of OPEN) {
      const scene = { message: MESSAGE, envelope: { client_ip } };
      const { fix } = await runCheck(spfRecord, { ...scene, zone });
      const { name, value } = fix!.record!;
      const mended = { ...zone, [name]: txt(value) };
      const { status, title } = await runCheck(spf, { ...scene, zone: mended });
      assert.equal(status, 'pass', `${value}: ${title}`);
      assert.equal((await runCheck(spfRecord, { ...scene, zone: mended })).status, 'pass', value);
      assert.match(fix!.text, new RegExp(`also allows ${client_ip}`));
    }
});

test('spf_record check without a client restricts +all to the named or own hosts', async () => {
  const publish = async (record: string, more: Zone = {}) => {
    const zone = { 'example.com': txt(record), ...more };
    const envelope = { client_ip: null };
    const { fix } = await runCheck(spfRecord, { message: MESSAGE, zone, envelope });
    assert.ok(fix?.text);
    return [fix.record?.value, /^Add every server/.test(fix.text)];
  };
  assert.deepEqual(await publish('v=spf1 +all'), ['v=spf1 a mx ~all', true]);
  assert.deepEqual(await publish('v=spf1 ?all'), ['v=spf1 a mx ~all', false]);
  assert.deepEqual(await publish('v=spf1 a:b.example +all'), ['v=spf1 a:b.example ~all', true]);
  const included = { 's.example.com': txt('v=spf1 +all') };
  assert.deepEqual(await publish('v=spf1 include:s.example.com -all', included), [undefined, true]);
});

test('spf_record check uses the From domain when MAIL FROM is unknown', async () => {
  const envelope = { mail_from: null };
  const run = (zone: Zone) => runCheck(spfRecord, { message: MESSAGE, zone, envelope });
  assert.equal((await run({})).status, 'skipped');
  assert.equal((await run({ 'example.com': txt('v=spf1 mx -all') })).status, 'pass');
  const { status, dependsOn } = await run({ 'example.com': txt('v=spf1 nonsense -all') });
  assert.deepEqual([status, dependsOn], ['fail', undefined]);
  const message = 'Subject: x\n\n';
  assert.equal((await runCheck(spfRecord, { message, envelope })).status, 'skipped');
});

/** The client is 192.0.2.1. `null`: no record can be proposed. */
const REPAIRS: [name: string, record: string, publish: string | null, zone?: Zone][] = [
  ['ipv4:', 'v=spf1 ipv4:192.0.2.1 -all', 'v=spf1 ip4:192.0.2.1 -all'],
  ['ip4 with an equals sign', 'v=spf1 ip4=192.0.2.0/24 -all', 'v=spf1 ip4:192.0.2.0/24 -all'],
  ['ip:', 'v=spf1 ip:192.0.2.1 -all', 'v=spf1 ip4:192.0.2.1 -all'],
  [
    'an IPv6 address in ip4:',
    'v=spf1 ip4:2001:db8::1 ip4:192.0.2.1 -all',
    'v=spf1 ip6:2001:db8::1 ip4:192.0.2.1 -all',
  ],
  ['a comma', 'v=spf1 ip4:192.0.2.1, a -all', 'v=spf1 ip4:192.0.2.1 a -all'],
  [
    'two strings joined without a space',
    'v=spf1 include:s.example.netip4:192.0.2.1 -all',
    'v=spf1 include:s.example.net ip4:192.0.2.1 -all',
    { 's.example.net': txt('v=spf1 ip4:198.51.100.1 -all') },
  ],
  [
    'include=',
    'v=spf1 include=s.example.net -all',
    'v=spf1 include:s.example.net -all',
    { 's.example.net': txt('v=spf1 ip4:192.0.2.1 -all') },
  ],
  [
    'a repaired record without the sender',
    'v=spf1 ipv4:198.51.100.7 -all',
    'v=spf1 ip4:198.51.100.7 ip4:192.0.2.1 -all',
  ],
  ['ptr', 'v=spf1 ptr ?all', 'v=spf1 ip4:192.0.2.1 ~all'],
  [
    'an include without a record',
    'v=spf1 include:gone.example ip4:192.0.2.1 -all',
    'v=spf1 ip4:192.0.2.1 -all',
    { 'gone.example': { A: ['192.0.2.9'] } },
  ],
  [
    'three names that do not exist',
    'v=spf1 a:x.example.com a:y.example.com mx:z.example.com ip4:192.0.2.1 -all',
    'v=spf1 ip4:192.0.2.1 -all',
  ],
  ['a misspelled mechanism', 'v=spf1 incude:s.example.net ip4:192.0.2.1 -all', null],
  [
    'a misspelled term besides too many lookups',
    `v=spf1 ipv4:192.0.2.1 ${eleven.terms} -all`,
    null,
    eleven.zone,
  ],
];

for (const [name, record, publish, others = {}] of REPAIRS)
  test(`spf_record check proposes a record that works: ${name}`, async () => {
    const zone: Zone = {
      'example.com': { TXT: [record], A: ['203.0.113.80'] },
      'a.example.com': { A: ['192.0.2.77'] },
      '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
      'mail.example.com': { A: ['192.0.2.1'] },
      ...others,
    };
    const found = await runCheck(spfRecord, { message: MESSAGE, zone });
    assert.equal(found.fix?.record?.value ?? null, publish, found.title);
    if (publish === null) return;
    const published: Zone = { ...zone, 'example.com': { ...zone['example.com'], TXT: [publish] } };
    for (const check of [spf, spfRecord]) {
      const after = await runCheck(check, { message: MESSAGE, zone: published });
      assert.equal(after.status, 'pass', `${check.id}: ${after.title}`);
    }
  });

test('spf_record check says that a record for everyone lets forged mail pass', async () => {
  const zone = { 'example.com': txt('v=spf1 +all') };
  const found = await runCheck(spfRecord, { message: MESSAGE, zone });
  assert.match(found.detail, /^Forged mail passes SPF/);
});

test('spf check moves all to the end of the record that it proposes', async () => {
  const zone: Zone = {
    'example.com': txt('v=spf1 ip4:198.51.100.1 -all include:s.example.net'),
    's.example.net': txt('v=spf1 ip4:198.51.100.2 -all'),
  };
  const found = await runCheck(spf, { message: MESSAGE, zone });
  assert.equal(
    found.fix?.record?.value,
    'v=spf1 ip4:198.51.100.1 include:s.example.net ip4:192.0.2.1 -all',
  );
});

test('spf check offers another envelope sender for a host name without an SPF record', async () => {
  const envelope = { mail_from: 'www-data@web7.hosting.example' };
  const message = 'From: Ann <ann@bakery.example>\n\nHello\n';
  const found = await runCheck(spf, { message, envelope });
  assert.match(
    found.fix!.text,
    /If you do not manage web7\.hosting\.example, use .* at bakery\.example/,
  );
  const own = await runCheck(spf, { message, envelope: { mail_from: 'b@web7.bakery.example' } });
  assert.doesNotMatch(own.fix!.text, /do not manage/);
});
