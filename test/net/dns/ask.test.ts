/** Questions that explain failed lookups: which flags they have, and what is read from the replies. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Answer, decode, encode } from 'dns-packet';
import { parseNetwork } from '../../../src/lib/addresses.ts';
import { createAskDns } from '../../../src/net/dns/ask.ts';
import { startDnsServer } from '../../helpers/dns-server.ts';

const ZONE = { 'kiln.example': { SOA: ['ns.kiln.example admin.kiln.example 1 2 3 4 5'] } };
const QUESTION = { name: 'Kiln.example.', type: 'SOA' } as const;
const RESPONSE = 0x8000;
const AUTHORITATIVE = 0x0400;

async function start(t: TestContext, attemptMs = 2000) {
  const dns = await startDnsServer(ZONE);
  t.after(() => dns.close());
  const { host, port } = dns.address;
  const allowNetworks = [parseNetwork('127.0.0.0/8')];
  const ask = createAskDns({ servers: [dns.address], allowNetworks, port, attemptMs });
  /** Replaces each reply. */
  const reply = (
    flags: number,
    sections: { answers?: Answer[]; authorities?: Answer[]; additionals?: Answer[] },
  ) => {
    dns.tamper = (_reply, _over, query) => {
      const { id, questions } = decode(query);
      return [encode({ type: 'response', id, questions, flags: RESPONSE | flags, ...sections })];
    };
  };
  return { dns, host, ask, reply };
}

const opt = (options: { code: number; data: Buffer }[]): Answer =>
  ({ type: 'OPT', name: '.', udpPayloadSize: 1232, flags: 0, options }) as unknown as Answer;

const extended = (code: number, text: string) => ({
  code: 15,
  data: Buffer.concat([Buffer.from([0, code]), Buffer.from(text)]),
});

test('AskDns asks the resolver with recursion, with or without validation, and a name server without recursion', async (t) => {
  const { dns, host, ask } = await start(t);
  const flags: boolean[][] = [];
  dns.tamper = (reply, _over, query) => {
    const { flag_rd, flag_cd, additionals } = decode(query);
    const edns = additionals?.find(({ type }) => type === 'OPT');
    flags.push([flag_rd, flag_cd, edns?.type === 'OPT' && edns.flag_do]);
    return [reply];
  };
  for (const to of ['resolver', 'unchecked', host]) {
    const { failure, authoritative, records } = await ask({ ...QUESTION, to });
    assert.deepEqual([failure, authoritative, records], [null, true, ZONE['kiln.example'].SOA]);
  }
  assert.deepEqual(flags, [
    [true, false, true],
    [true, true, true],
    [false, true, true],
  ]);
});

test('AskDns reads extended errors, and the text of a hostile one is short', async (t) => {
  const { ask, reply } = await start(t);
  const errors = [
    extended(7, 'kiln.example/SOA'),
    extended(22, ''),
    extended(200, 'x'.repeat(600)),
  ];
  reply(2, { additionals: [opt([...errors, { code: 15, data: Buffer.from([1]) }])] });
  const { failure, extended: texts } = await ask({ ...QUESTION, to: 'resolver' });
  assert.equal(failure, 'servfail');
  assert.deepEqual(texts, [
    '7 Signature Expired: kiln.example/SOA',
    '22 No Reachable Authority',
    `200 Error: ${'x'.repeat(120)}`,
  ]);
});

test('AskDns reads signatures of the records, and a referral with its addresses', async (t) => {
  const { host, ask, reply } = await start(t);
  const soa = {
    mname: 'ns.example',
    rname: 'a.example',
    serial: 1,
    refresh: 2,
    retry: 3,
    expire: 4,
    minimum: 5,
  };
  const signature = {
    algorithm: 13,
    labels: 2,
    originalTTL: 60,
    expiration: 1_700_000_000,
    inception: 1_600_000_000,
    keyTag: 77,
    signersName: 'kiln.example',
    signature: Buffer.from('x'),
  };
  reply(AUTHORITATIVE, {
    answers: [
      { type: 'SOA', name: 'kiln.example', data: soa },
      { type: 'RRSIG', name: 'kiln.example', data: { ...signature, typeCovered: 'SOA' } },
      { type: 'RRSIG', name: 'kiln.example', data: { ...signature, typeCovered: 'NS' } },
    ],
  });
  const signed = await ask({ ...QUESTION, to: host });
  assert.deepEqual(signed.signatures, [
    { keyTag: 77, from: 1_600_000_000_000, until: 1_700_000_000_000 },
  ]);
  reply(0, {
    authorities: [{ type: 'NS', name: 'kiln.example', data: 'NS1.kiln.example' }],
    additionals: [
      { type: 'A', name: 'ns1.kiln.example', data: '192.0.2.7' },
      { type: 'A', name: 'elsewhere.example', data: '192.0.2.8' },
    ],
  });
  const { referral, authoritative } = await ask({ ...QUESTION, to: host });
  assert.equal(authoritative, false);
  assert.deepEqual(referral, {
    zone: 'kiln.example',
    hosts: ['ns1.kiln.example'],
    addresses: { 'ns1.kiln.example': ['192.0.2.7'] },
  });
});

test('AskDns asks a server without EDNS again, and one that stays silent once more', async (t) => {
  const { dns, host, ask } = await start(t, 50);
  dns.tamper = (reply, _over, query) => {
    if (decode(query).additionals?.length === 0) return [reply];
    const formatError = Buffer.from(reply);
    formatError.writeUInt8((formatError[3]! & 0xf0) | 1, 3);
    return [formatError];
  };
  assert.equal((await ask({ ...QUESTION, to: host })).failure, null);
  let queries = 0;
  dns.tamper = () => {
    queries += 1;
    return [];
  };
  assert.equal((await ask({ ...QUESTION, to: host })).failure, 'timeout');
  assert.equal(queries, 2);
});

test('AskDns contacts no name server at an address that is not public', async (t) => {
  const { dns } = await start(t);
  const ask = createAskDns({ servers: [dns.address], port: dns.address.port });
  for (const to of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', 'ns.example'])
    assert.equal((await ask({ ...QUESTION, to })).failure, 'forbidden', to);
  assert.equal(dns.queries.size, 0);
});
