/** The DNS resolver against a real server: every kind of answer and failure. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { DnsServer } from '../../../src/lib/addresses.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createDnsResolver } from '../../../src/net/dns/network-resolver.ts';
import type { RecordType } from '../../../src/net/dns/resolver.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { startDnsServer } from '../../helpers/dns-server.ts';

const RECORDS: [RecordType, string[]][] = [
  ['A', ['192.0.2.1', '192.0.2.2']],
  ['AAAA', ['2001:db8::1']],
  ['NS', ['ns1.example.com']],
  ['PTR', ['mail.example.com']],
  ['MX', ['10 mx1.example.com', '20 mx2.example.com']],
  ['TXT', ['v=spf1 -all', 'größer']],
  ['CAA', ['0 issue "ca.example"']],
  ['SOA', ['ns.example.com host.example.com 7 3600 600 86400 60']],
  ['DS', ['12345 13 2 aabbccdd']],
  ['DNSKEY', ['257 3 13 AQIDBA==']],
  ['TLSA', ['3 1 1 0badcafe']],
];

const zone: Zone = {
  'all.example.com': Object.fromEntries(RECORDS),
  'a.example.com': { A: ['192.0.2.7'] },
  'null.example.com': { MX: ['0 .'] },
  'alias.example.com': { CNAME: ['second.example.com'] },
  'second.example.com': { CNAME: ['a.example.com'] },
  'dangling.example.com': { CNAME: ['gone.example.net'] },
  'loop.example.com': { CNAME: ['loop.example.com'] },
  'long.example.com': { TXT: [`v=DKIM1; p=${'A'.repeat(700)}`] },
  'huge.example.com': { TXT: Array.from({ length: 90 }, (_, i) => `${i} ${'x'.repeat(200)}`) },
  'silent.example.com': { fails: 'timeout' },
  'broken.example.com': { fails: 'servfail' },
  'closed.example.com': { fails: 'refused' },
};

const server = await startDnsServer(zone);
/** Only a query that hangs takes so long, on a busy machine too. */
const options = { clock: systemClock, timeoutMs: 60_000, attemptMs: 30_000 };
const resolve = createDnsResolver({ ...options, servers: [server.address] });
/** For names without an answer. */
const hasty = createDnsResolver({ ...options, servers: [server.address], timeoutMs: 300 });
after(async () => {
  resolve.close();
  hasty.close();
  await server.close();
});

/** A loopback port that nothing listens on. */
async function closedPort(): Promise<DnsServer> {
  const server = await startDnsServer();
  await server.close();
  return server.address;
}

for (const [type, records] of RECORDS) {
  test(`DNS resolver returns ${type} records as text`, async () => {
    assert.deepEqual(await resolve('all.example.com', type), {
      status: 'found',
      records,
      ttl: 300,
      authenticated: false,
    });
  });
}

const STATUSES: [string, RecordType, string][] = [
  ['none.example.com', 'A', 'nxdomain'],
  ['example.com', 'A', 'nodata'],
  ['a.example.com', 'MX', 'nodata'],
  ['alias.example.com', 'A', 'found'],
  ['alias.example.com', 'CNAME', 'found'],
  ['ALIAS.Example.com.', 'A', 'found'],
  ['alias.example.com', 'MX', 'nodata'],
  ['dangling.example.com', 'A', 'nxdomain'],
  ['loop.example.com', 'A', 'nodata'],
  ['broken.example.com', 'A', 'error: servfail'],
  ['closed.example.com', 'A', 'error: refused'],
  ['silent.example.com', 'A', 'error: timeout'],
];
for (const [name, type, expected] of STATUSES) {
  test(`DNS resolver answers ${name} ${type} with ${expected}`, async () => {
    const answer = await (expected.endsWith('timeout') ? hasty : resolve)(name, type);
    const told = answer.status === 'error' ? `error: ${answer.reason}` : answer.status;
    assert.equal(told, expected);
  });
}

test('DNS resolver follows a CNAME to its target’s records', async () => {
  const answer = await resolve('alias.example.com', 'A');
  assert.deepEqual(answer.status === 'found' && answer.records, ['192.0.2.7']);
});

test('DNS resolver keeps the dot of a null MX', async () => {
  const answer = await resolve('null.example.com', 'MX');
  assert.deepEqual(answer.status === 'found' && answer.records, ['0 .']);
});

test('DNS resolver joins the strings of a TXT record', async () => {
  const answer = await resolve('long.example.com', 'TXT');
  assert.deepEqual(answer.status === 'found' && answer.records[0]?.length, 711);
  assert.equal(server.tcpQueries.get('long.example.com/TXT'), undefined);
});

test('DNS resolver retries a truncated answer over TCP', async () => {
  const answer = await resolve('huge.example.com', 'TXT');
  assert.equal(answer.status === 'found' && answer.records.length, 90);
  assert.equal(server.queries.get('huge.example.com/TXT'), 2);
  assert.equal(server.tcpQueries.get('huge.example.com/TXT'), 1);
});

test('DNS resolver requests and reports the AD bit', async () => {
  const signed = await startDnsServer({ 'signed.example.com': { A: ['192.0.2.9'] } });
  signed.authenticated = true;
  const validating = createDnsResolver({ ...options, servers: [signed.address] });
  const answer = await validating('signed.example.com', 'A');
  assert.equal(answer.status === 'found' && answer.authenticated, true);
  await signed.close();
});

for (const name of [
  '',
  '.',
  '.example.com',
  'a..example.com',
  `${'x'.repeat(64)}.example.com`,
  `${'abcdefg.'.repeat(31)}abcdefg`,
  'größe.example.com',
  'new\nline.example.com',
]) {
  test(`DNS resolver answers invalid name ${JSON.stringify(name.slice(0, 40))} with nxdomain without a query`, async () => {
    const before = new Map(server.queries);
    assert.deepEqual(await resolve(name, 'A'), { status: 'nxdomain' });
    assert.deepEqual(server.queries, before);
  });
}

test('DNS resolver reports a closed port as unreachable at once', async () => {
  const patient = createDnsResolver({ servers: [await closedPort()], clock: systemClock });
  const answer = await patient('a.example.com', 'A');
  assert.deepEqual(answer, { status: 'error', reason: 'unreachable' });
});

test('DNS resolver survives a server that the system refuses to connect to, as without a network', async () => {
  // No datagram leaves: connecting to the broadcast address needs an option that the socket does not have.
  const servers = [{ host: '255.255.255.255', port: 53 }];
  const answer = await createDnsResolver({ servers, clock: systemClock })('a.example.com', 'A');
  assert.deepEqual(answer, { status: 'error', reason: 'unreachable' });
});

test('DNS resolver fails over to the next server and prefers it afterwards', async () => {
  const silent = await startDnsServer({ 'a.example.com': { fails: 'timeout' } });
  const refusing = await startDnsServer({ 'a.example.com': { fails: 'refused' } });
  const servers = [await closedPort(), refusing.address, silent.address, server.address];
  const failover = createDnsResolver({ ...options, attemptMs: 1500, servers });
  assert.equal((await failover('a.example.com', 'A')).status, 'found');
  assert.equal((await failover('a.example.com', 'MX')).status, 'nodata');
  assert.deepEqual([...refusing.queries.keys()], ['a.example.com/A']);
  assert.deepEqual([...silent.queries.keys()], ['a.example.com/A']);
  await Promise.all([silent.close(), refusing.close()]);
});

test('DNS resolver resends a lost datagram', async () => {
  const lossy = await startDnsServer({ 'a.example.com': { A: ['192.0.2.7'] } });
  let lost = 0;
  lossy.tamper = (reply) => (lost++ === 0 ? [] : [reply]);
  const patient = createDnsResolver({ ...options, attemptMs: 300, servers: [lossy.address] });
  assert.equal((await patient('a.example.com', 'A')).status, 'found');
  assert.ok(lossy.queries.get('a.example.com/A')! >= 2);
  await lossy.close();
});
