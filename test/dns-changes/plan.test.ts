/** Plans keep what is published, and say why a record cannot be published as proposed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type PlannedChange,
  type ProposedRecord,
  planChanges,
  planToken,
} from '../../src/dns-changes/plan.ts';
import { proposalsOf, verificationProposal } from '../../src/dns-changes/proposals.ts';
import { publicRecords } from '../../src/dns-changes/public-records.ts';
import { DnsServerError } from '../../src/dns-changes/server.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';

const SOA = ['ns.example.com hostmaster.example.com 1 3600 600 86400 300'];

const sourceOf = (zone: Zone) =>
  publicRecords(zoneResolver({ ...zone, 'example.com': { SOA, ...zone['example.com'] } }));

const proposed = (record: Partial<ProposedRecord>): ProposedRecord => ({
  type: 'TXT',
  name: 'example.com',
  value: 'v=spf1 mx -all',
  purpose: 'SPF: publish it.',
  checks: ['spf'],
  basedOn: null,
  problem: null,
  caution: null,
  ...record,
});

async function planOne(zone: Zone, ...records: Partial<ProposedRecord>[]): Promise<PlannedChange> {
  const changes = await planChanges(sourceOf(zone), records.map(proposed));
  assert.equal(changes.length, 1);
  return changes[0]!;
}

test('a plan replaces only the SPF record among the TXT records of a domain', async () => {
  const zone: Zone = { 'example.com': { TXT: ['a=1', 'v=spf1 mx ~all', 'b=2'] } };
  const change = await planOne(zone, { value: 'v=spf1 mx -all', basedOn: ['v=spf1 mx ~all'] });
  assert.deepEqual(change.after.values.toSorted(), ['a=1', 'b=2', 'v=spf1 mx -all']);
  assert.deepEqual(
    [change.action, change.zone, change.problem, change.caution],
    ['replace', 'example.com', null, null],
  );
  assert.deepEqual(change.before.values.toSorted(), ['a=1', 'b=2', 'v=spf1 mx ~all']);
});

test('a plan merges what has changed in an SPF record since the check', async () => {
  const zone: Zone = { 'example.com': { TXT: ['v=spf1 mx include:new.example -all'] } };
  const change = await planOne(zone, {
    value: 'v=spf1 mx ip4:192.0.2.1 ~all',
    basedOn: ['v=spf1 mx include:old.example ~all'],
  });
  assert.deepEqual(change.after.values, ['v=spf1 mx ip4:192.0.2.1 include:new.example -all']);
  assert.match(change.caution!, /has changed since the check/);
  const unknown = await planOne(zone, { value: 'v=spf1 ip4:192.0.2.1 ~all' });
  assert.deepEqual(unknown.after.values, ['v=spf1 ip4:192.0.2.1 mx include:new.example -all']);
});

test('a plan does not guess which of several SPF records is meant', async () => {
  const zone: Zone = { 'example.com': { TXT: ['v=spf1 mx -all', 'v=spf1 a -all'] } };
  const change = await planOne(zone, {
    value: 'v=spf1 mx ip4:192.0.2.1 -all',
    basedOn: ['v=spf1 mx -all'],
  });
  assert.match(change.problem!, /have changed since the check\. Run the check again/);
  assert.deepEqual([change.action, change.after], ['none', change.before]);
  const merged = await planOne(zone, {
    value: 'v=spf1 mx a -all',
    basedOn: ['v=spf1 a -all', 'v=spf1 mx -all'],
  });
  assert.deepEqual(merged.after.values, ['v=spf1 mx a -all']);
});

test('a plan joins several proposals for one record', async () => {
  const base = 'v=DMARC1; p=none; rua=mailto:d@example.com';
  const zone: Zone = { '_dmarc.example.com': { TXT: [base] } };
  const dmarc = { name: '_dmarc.example.com', basedOn: [base] };
  const change = await planOne(
    zone,
    {
      ...dmarc,
      value: 'v=DMARC1; p=quarantine; rua=mailto:d@example.com',
      checks: ['dmarc_policy'],
    },
    { ...dmarc, value: 'v=DMARC1; p=none; rua=mailto:x@example.com', checks: ['dmarc_record'] },
  );
  assert.deepEqual(change.after.values, ['v=DMARC1; p=quarantine; rua=mailto:x@example.com']);
  assert.deepEqual(change.checks, ['dmarc_policy', 'dmarc_record']);
});

test('a plan never goes back behind a record that is newer than the check', async () => {
  const strict = 'v=DMARC1; p=reject; rua=mailto:d@example.com';
  const dmarc = { name: '_dmarc.example.com', value: 'v=DMARC1; p=none' };
  const absent = await planOne({ '_dmarc.example.com': { TXT: [strict] } }, dmarc);
  assert.deepEqual([absent.action, absent.after.values], ['none', [strict]]);
  const name = '_smtp._tls.example.com';
  const reports = { name, value: 'v=TLSRPTv1; rua=mailto:old@example.com' };
  const newer: Zone = { [name]: { TXT: ['v=TLSRPTv1; rua=mailto:new@example.com'] } };
  for (const basedOn of [null, [], ['v=TLSRPTv1']]) {
    const change = await planOne(newer, { ...reports, basedOn });
    assert.match(change.problem!, /have changed since the check/);
  }
  const seen = await planOne(newer, {
    ...reports,
    basedOn: ['v=TLSRPTv1; rua=mailto:new@example.com'],
  });
  assert.deepEqual(seen.after.values, [reports.value]);
});

test('a plan repairs a DKIM record, but does not bring back an earlier key', async () => {
  const name = 's._domainkey.example.com';
  const repaired = { name, value: 'v=DKIM1; k=rsa; p=MIIBabc+/' };
  const same = await planOne({ [name]: { TXT: ['"k=rsa; t=y; p=MII Babc+/"'] } }, repaired);
  assert.deepEqual(same.after.values, [repaired.value]);
  const rotated = await planOne({ [name]: { TXT: ['v=DKIM1; p=MIIBxyz'] } }, repaired);
  assert.match(rotated.problem!, /have changed since the check/);
});

test('from public DNS, a plan does not take the answers of a wildcard for records of a name', async () => {
  const name = '_dmarc.example.com';
  const proposal = { name, value: 'v=DMARC1; p=none' };
  for (const wildcard of [{ CNAME: ['sites.example.net'] }, { TXT: ['v=spf1 -all'] }]) {
    const change = await planOne({ '*.example.com': wildcard }, proposal);
    assert.deepEqual(
      [change.problem, change.action, change.before.values, change.after.values],
      [null, 'add', [], [proposal.value]],
    );
    assert.match(change.caution!, /A wildcard provides the .* records at _dmarc\.example\.com/);
  }
  const alias = { CNAME: ['sites.example.net'] };
  const own = await planOne({ [name]: alias, '*.example.com': { A: ['192.0.2.1'] } }, proposal);
  assert.match(own.problem!, /is an alias \(CNAME\) of sites\.example\.net/);
});

test('a plan says which records of a wildcard a new record takes away', async () => {
  const source = (types: Record<string, string[]>) => ({
    ...sourceOf({}),
    wildcardTypes: async (_zone: string, name: string) => types[name] ?? [],
  });
  const plan = async (name: string, types: Record<string, string[]>) =>
    (await planChanges(source(types), [proposed({ name, value: 'v=DMARC1; p=none' })]))[0]!;
  const host = await plan('_dmarc.news.example.com', {
    '_dmarc.news.example.com': ['A', 'MX'],
    'news.example.com': ['A', 'MX'],
  });
  assert.match(host.problem!, /^news\.example\.com has records only by a wildcard \(A, MX\)/);
  assert.deepEqual(host.after, host.before);
  const key = await plan('s._domainkey.example.com', {
    's._domainkey.example.com': ['A', 'TXT'],
    '_domainkey.example.com': ['A', 'TXT'],
  });
  assert.equal(key.action, 'add');
  assert.match(key.caution!, /the TXT records at s\._domainkey\.example\.com and the TXT records/);
  const policy = await plan('_dmarc.example.com', { '_dmarc.example.com': ['A', 'MX'] });
  assert.deepEqual([policy.action, policy.caution], ['add', null]);
});

test('a plan takes no other text for an SPF record', async () => {
  const zone: Zone = { 'example.com': { TXT: ['v=spf10 x', 'v=spf1 mx ~all'] } };
  const change = await planOne(zone, { value: 'v=spf1 mx -all', basedOn: ['v=spf1 mx ~all'] });
  assert.deepEqual(change.after.values.toSorted(), ['v=spf1 mx -all', 'v=spf10 x']);
});

test('a plan publishes no mailbox that a check has invented', async () => {
  const dmarc = {
    name: '_dmarc.example.com',
    value: 'v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com',
  };
  const change = await planOne({}, dmarc);
  assert.deepEqual([change.action, change.after.values], ['add', ['v=DMARC1; p=none']]);
  assert.match(change.caution!, /your mailbox address/);
  const idle = await planOne({ '_dmarc.example.com': { TXT: ['v=DMARC1; p=none'] } }, dmarc);
  assert.match(idle.problem!, /needs the address of a mailbox/);
});

test('a plan adds no address to a name that has others', async () => {
  const name = 'mx.example.com';
  for (const [type, address] of [
    ['A', '192.0.2.1'],
    ['AAAA', '2001:db8::1'],
  ]) {
    const zone: Zone = { [name]: { [type!]: [address!] } };
    const change = await planOne(zone, { type: 'A', name, value: '192.0.2.2' });
    assert.deepEqual(change.after, change.before);
    assert.ok(change.problem!.includes(`other addresses already: ${address}`), change.problem!);
  }
  const first = await planOne({}, { type: 'AAAA', name, value: '2001:DB8:0:0::2' });
  assert.deepEqual([first.action, first.after.values], ['add', ['2001:db8::2']]);
});

test('a plan adds hashes and verification records beside those that are there', async () => {
  const name = 'mx.example.com';
  const hash = await planOne(
    { [name]: { TLSA: ['3 1 1 ab'] } },
    { type: 'TLSA', name, value: '3 1 1 cd' },
  );
  assert.deepEqual([hash.action, hash.after.values], ['add', ['3 1 1 ab', '3 1 1 cd']]);
  const row = { name: 'example.com', token: 'abc' };
  const verification = await planOne(
    { '_deliverability.example.com': { TXT: ['deliverability-verify=other'] } },
    verificationProposal(row),
  );
  assert.deepEqual(verification.after.values, [
    'deliverability-verify=other',
    'deliverability-verify=abc',
  ]);
  const twice = await planOne(
    { [name]: { A: ['192.0.2.2'] } },
    { type: 'A', name, value: '192.0.2.2' },
  );
  assert.deepEqual([twice.action, twice.problem], ['none', null]);
});

test('a plan corrects one CAA record and keeps the others', async () => {
  const change = await planOne(
    { 'example.com': { CAA: ['0 issue "ca.example"', '0 issue "https://b.example"'] } },
    { type: 'CAA', value: '0 issue "b.example"' },
  );
  assert.deepEqual(change.after.values, ['0 issue "ca.example"', '0 issue "b.example"']);
});

test('a plan refuses an alias and a name of another zone, but not a name below an alias', async () => {
  const name = '_dmarc.example.com';
  const dmarc = { name, value: 'v=DMARC1; p=none' };
  const alias = await planOne(
    { [name]: { CNAME: ['d.example'] }, 'd.example': { TXT: ['x'] } },
    dmarc,
  );
  assert.match(alias.problem!, /^_dmarc\.example\.com is an alias \(CNAME\) of d\.example/);
  const below = { name: '_dmarc.www.example.com', value: 'v=DMARC1; p=none' };
  const www = await planOne({ 'www.example.com': { CNAME: ['w.example'] } }, below);
  assert.deepEqual([www.problem, www.zone, www.action], [null, 'example.com', 'add']);
  const foreign = await planOne({}, { ...dmarc, name: '_dmarc.example.org' });
  assert.match(foreign.problem!, /is not in a zone of this server/);
});

test('a plan makes the host of a file an alias, unless it has other records', async () => {
  const alias = {
    type: 'CNAME',
    name: 'mta-sts.example.com',
    value: 'mail.example.net',
    isFinal: true,
  };
  const added = await planOne({ '*.example.com': { A: ['192.0.2.9'] } }, alias);
  assert.deepEqual([added.action, added.after.values], ['add', ['mail.example.net']]);
  const other = { 'mta-sts.example.com': { CNAME: ['other.example'] } };
  const replaced = await planOne({ ...other, 'other.example': { A: ['192.0.2.9'] } }, alias);
  assert.deepEqual([replaced.action, replaced.after.values], ['replace', ['mail.example.net']]);
  const same = await planOne({ 'mta-sts.example.com': { CNAME: ['mail.example.net'] } }, alias);
  assert.deepEqual([same.action, same.problem], ['none', null]);
  const own = await planOne({ 'mta-sts.example.com': { A: ['192.0.2.9'], TXT: ['a'] } }, alias);
  assert.equal(own.action, 'none');
  assert.match(own.problem!, /mta-sts\.example\.com has A and TXT records/);
  const record = { name: '_mta-sts.example.com', value: 'v=STSv1; id=new', isFinal: true };
  const texts = { '_mta-sts.example.com': { TXT: ['v=STSv1; id=old', 'v=STSv1; id=older'] } };
  assert.deepEqual((await planOne(texts, record)).after.values, ['v=STSv1; id=new']);
});

test('a plan fails if records cannot be read, and never takes them for absent', async () => {
  const source = sourceOf({ '_dmarc.example.com': { fails: 'timeout' } });
  await assert.rejects(
    planChanges(source, [proposed({ name: '_dmarc.example.com' })]),
    DnsServerError,
  );
});

test('the token of a plan stands for its changes, in any order', async () => {
  const zone: Zone = { 'example.com': { TXT: ['v=spf1 mx ~all'] } };
  const records = [
    proposed({ value: 'v=spf1 mx -all', basedOn: ['v=spf1 mx ~all'] }),
    proposed({ name: '_dmarc.example.com', value: 'v=DMARC1; p=none' }),
  ];
  const changes = await planChanges(sourceOf(zone), records);
  assert.equal(planToken(changes), planToken(changes.toReversed()));
  assert.match(planToken(changes), /^[0-9a-f]{32}$/);
  const other = await planChanges(
    sourceOf({ 'example.com': { TXT: ['new', 'v=spf1 mx ~all'] } }),
    records,
  );
  assert.notEqual(planToken(changes), planToken(other));
});

test('proposals say which records a person must adjust or ask for', () => {
  const check = (id: string, type: string, name: string, value: string, evidence = {}) => ({
    id,
    label: id,
    status: 'fail' as const,
    evidence,
    fix: { text: 'Publish it.', record: { type, name, value } },
  });
  const proposals = proposalsOf([
    check('ptr', 'PTR', '1.2.0.192.in-addr.arpa', 'mx.example.com'),
    check('dkim', 'TXT', 's._domainkey.example.com', 'v=DKIM1; p=<your key>'),
    check('return_path', 'MX', 'example.com', '10 mx.example.com'),
    check(
      'tls_rpt',
      'TXT',
      '_smtp._tls.example.com',
      'v=TLSRPTv1; rua=mailto:tls-reports@example.com',
    ),
    check('mta_sts', 'TXT', '_mta-sts.example.com', 'v=STSv1; id=1'),
    check('helo', 'A', 'mx.example.com', '192.0.2.1'),
    check('spf', 'TXT', 'Example.com', 'v=spf1 mx -all', {
      domain: 'EXAMPLE.com',
      record: 'v=spf1 mx',
    }),
    check('dmarc_policy', 'TXT', '_dmarc.example.com', 'v=DMARC1; p=none', {
      record_domain: 'example.com',
      records: ['x'],
    }),
  ]);
  const [ptr, dkim, mx, tls, sts, helo, spf, dmarc] = proposals;
  assert.match(ptr!.problem!, /provider of the IP address/);
  assert.match(dkim!.problem!, /angle brackets/);
  for (const example of [mx, tls]) assert.match(example!.problem!, /is an example/);
  assert.equal(sts!.problem, null);
  assert.match(sts!.caution!, /policy file/);
  assert.match(helo!.caution!, /only if 192\.0\.2\.1 is your server/);
  assert.deepEqual([spf!.name, spf!.problem, spf!.basedOn], ['example.com', null, ['v=spf1 mx']]);
  assert.deepEqual([dmarc!.problem, dmarc!.basedOn], [null, ['x']]);
});
