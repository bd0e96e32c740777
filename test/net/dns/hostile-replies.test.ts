/** Replies of hostile or broken DNS servers cause errors, but no crash, leak or false answer. */

// @waits: for the time limit of queries that get only false replies, five seconds.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, beforeEach, describe, test } from 'node:test';
import { encode } from 'dns-packet';
import { systemClock } from '../../../src/lib/clock.ts';
import { createDnsResolver } from '../../../src/net/dns/network-resolver.ts';
import { type DnsTestServer, startDnsServer } from '../../helpers/dns-server.ts';

const NAME = 'a.example.com';
const QUESTION_END = 12 + NAME.length + 2 + 4;

const zone = { [NAME]: { A: ['192.0.2.7'] } };
const server = await startDnsServer(zone);
/** Longer than a busy machine delays a reply. There is one attempt, because a short second one could end without a reply. */
const options = { clock: systemClock, timeoutMs: 5000, attemptMs: 5000, servers: [server.address] };
after(() => server.close());
beforeEach(() => {
  server.tamper = null;
});

/** A copy with these bytes changed. */
function changed(bytes: Buffer, ...changes: [at: number, value: number][]): Buffer {
  const copy = Buffer.from(bytes);
  for (const [at, value] of changes) copy[at] = value;
  return copy;
}

/** The header and question of the reply, with one answer record of the given bytes. */
function withAnswer(reply: Buffer, record: number[]): Buffer {
  const head = Buffer.from(reply.subarray(0, QUESTION_END));
  head.writeUInt16BE(1, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, Buffer.from(record)]);
}

const POINTER_TO_ITSELF = [0xc0, QUESTION_END, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7];
const CUT_RECORD = [0xc0, 12, 0, 1, 0, 1, 0, 0];

const ANSWERS: [string, NonNullable<DnsTestServer['tamper']>, string][] = [
  ['random bytes', () => [randomBytes(200)], 'malformed'],
  ['an empty datagram', () => [Buffer.alloc(0)], 'malformed'],
  ['a reply with a wrong ID', (reply) => [changed(reply, [0, reply[0]! ^ 0xff])], 'malformed'],
  ['a reply for another name', (reply) => [changed(reply, [13, 'b'.charCodeAt(0)])], 'malformed'],
  ['a reply for another type', (reply) => [changed(reply, [QUESTION_END - 3, 16])], 'malformed'],
  ['the echoed question', (_reply, _over, query) => [query], 'malformed'],
  ['a compression loop', (reply) => [withAnswer(reply, POINTER_TO_ITSELF)], 'malformed'],
  ['a truncated record', (reply) => [withAnswer(reply, CUT_RECORD)], 'malformed'],
  ['more records declared than sent', (reply) => [changed(reply, [6, 255])], 'malformed'],
  ['a truncated answer over TCP', (reply) => [changed(reply, [2, reply[2]! | 2])], 'malformed'],
  ['RCODE 11', (reply) => [changed(reply, [3, 11])], 'servfail'],
];
// All at once, because most of them wait until no reply can come any more.
describe('DNS resolver', { concurrency: true }, () => {
  for (const [what, tamper, reason] of ANSWERS) {
    test(`DNS resolver reports ${what} as ${reason}`, async (t) => {
      const hostile = await startDnsServer(zone);
      t.after(() => hostile.close());
      hostile.tamper = tamper;
      const resolve = createDnsResolver({ ...options, servers: [hostile.address] });
      assert.deepEqual(await resolve(NAME, 'A'), { status: 'error', reason });
    });
  }
});

test('DNS resolver ignores forged datagrams before the real reply', async () => {
  server.tamper = (reply) => [
    changed(reply, [1, reply[1]! ^ 1]),
    Buffer.alloc(60_000, 0xc0),
    changed(reply, [13, 'z'.charCodeAt(0)]),
    reply,
  ];
  const answer = await createDnsResolver(options)(NAME, 'A');
  assert.deepEqual(answer.status === 'found' && answer.records, ['192.0.2.7']);
});

test('DNS resolver ignores records of other names', async () => {
  server.tamper = (reply) => [
    withAnswer(reply, [1, 0x78, 0, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 66]),
  ];
  assert.deepEqual(await createDnsResolver(options)(NAME, 'A'), { status: 'nodata' });
});

test('DNS resolver reports a referral as refused, not as missing', async () => {
  server.tamper = (reply) => [
    encode({
      type: 'response',
      id: reply.readUInt16BE(0),
      questions: [{ name: NAME, type: 'A' }],
      authorities: [{ name: '.', type: 'NS', ttl: 60, data: 'a.root-servers.net' }],
    }),
  ];
  const answer = await createDnsResolver(options)(NAME, 'A');
  assert.deepEqual(answer, { status: 'error', reason: 'refused' });
});

test('DNS resolver keeps non-UTF-8 TXT bytes as single characters', async () => {
  const text = Buffer.from([7, ...Buffer.from('v=spf1'), 0xe9]);
  server.tamper = (reply) => [
    withAnswer(reply, [0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, text.length, ...text]),
  ];
  const answer = await createDnsResolver(options)(NAME, 'TXT');
  assert.deepEqual(answer.status === 'found' && answer.records, ['v=spf1é']);
});

test('DNS resolver retries without EDNS on FORMERR', async () => {
  server.tamper = (reply, _over, query) => {
    const hasOpt = query.readUInt16BE(10) > 0;
    return [hasOpt ? changed(reply.subarray(0, 12), [3, 1], [5, 0], [7, 0], [11, 0]) : reply];
  };
  const answer = await createDnsResolver(options)(NAME, 'A');
  assert.equal(answer.status, 'found');
});

test('DNS resolver reports a TCP connection that ends early as malformed', async () => {
  // The length is larger than the message; then the server closes the connection.
  const huge = await startDnsServer({ [NAME]: { TXT: Array(40).fill('x'.repeat(250)) } });
  huge.tamper = (reply, over) => {
    if (over === 'udp') return [reply];
    queueMicrotask(() => void huge.close());
    return [];
  };
  const resolve = createDnsResolver({ ...options, servers: [huge.address] });
  assert.deepEqual(await resolve(NAME, 'TXT'), { status: 'error', reason: 'malformed' });
});

test('DNS resolver leaves no sockets or timers open', async () => {
  const open = () =>
    process.getActiveResourcesInfo().filter((name) => /UDP|TCPSocket|Timeout/.test(name)).length;
  // A closed socket disappears after a turn or two of the event loop.
  const settle = async (wanted: number) => {
    for (let turns = 0; turns < 20 && open() > wanted; turns++) await new Promise(setImmediate);
    return open();
  };
  const before = await settle(0);
  const resolve = createDnsResolver({ ...options, timeoutMs: 600, maxInFlight: 50 });
  const names = Array.from({ length: 100 }, (_, i) => `n${i}.example.com`);
  await Promise.all(names.map((name) => resolve(name, 'A')));
  server.tamper = () => [randomBytes(40)];
  await Promise.all(names.map((name) => resolve(name, 'MX')));
  assert.equal(await settle(before), before);
});
