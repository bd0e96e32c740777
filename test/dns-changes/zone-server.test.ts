/** What name servers with an API share, at records that few servers have. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Stored, zoneServer } from '../../src/dns-changes/servers/zone-server.ts';
import { assertProblem, set } from './conformance.ts';

function serverWith(stored: Stored[], zones = ['example.com']) {
  const written: string[][] = [];
  const server = zoneServer({
    name: 'the server',
    noZones: null,
    zones: async () => zones.map((name) => ({ id: name, name })),
    entries: async () => stored,
    write: async ({ name, type, ttl, data }) => {
      written.push(data());
      stored = [{ name, type, ttl, data: data() }];
    },
  });
  return { server, written };
}

const NAME = 'a.example.com';
const entry = (type: string, ...data: string[]): Stored => ({ name: NAME, type, ttl: 60, data });

test('names have any case and perhaps a dot at the end', async () => {
  const { server, written } = serverWith([{ ...entry('TXT', '"A"'), name: 'A.Example.COM.' }]);
  assert.equal(await server.zoneOf(NAME), 'example.com');
  const before = await server.read('example.com', NAME, 'TXT');
  assert.deepEqual(before, set(NAME, 'TXT', ['A'], 60));
  await server.replace('example.com', before, { ...before, values: ['A', 'b'] });
  assert.deepEqual(written, [['"A"', '"b"']]);
});

test('records that are the same text stay as they are', async () => {
  const same = ['"ab" "c"', '"a" "bc"', '"\\255"', '"\\254"'];
  const { server, written } = serverWith([entry('TXT', ...same, '"old"')]);
  const before = await server.read('example.com', NAME, 'TXT');
  const values = [...before.values.filter((value) => value !== 'old'), 'new'];
  await server.replace('example.com', before, { ...before, values });
  assert.deepEqual(written, [[...same, '"new"']]);
});

test('a record with bytes that are not text is not removed, because nobody could bring it back', async () => {
  const { server, written } = serverWith([entry('TXT', '"\\255"')]);
  const before = await server.read('example.com', NAME, 'TXT');
  await assertProblem(
    server.replace('example.com', before, { ...before, values: [] }),
    'invalid_record',
    /not text/,
  );
  assert.deepEqual(written, []);
});

test('an alias stands beside records of DNSSEC only', async () => {
  const none = set(NAME, 'CNAME', []);
  const alias = { ...none, values: ['b.example.com'] };
  const { server } = serverWith([entry('SRV', '0 0 25 mx.example.com.')]);
  await assertProblem(server.replace('example.com', none, alias), 'refused', /are SRV records/);
  const signed = serverWith([entry('RRSIG', 'x'), entry('NSEC', 'x')]);
  await signed.server.replace('example.com', none, alias);
  assert.deepEqual(signed.written, [['b.example.com.']]);
});
