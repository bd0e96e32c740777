/** Certificates by host name: the names of their files, renewals, and pairs that are invalid for a while. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createPairFolder } from '../../src/keys/tls-files.ts';
import { makeTestAuthority } from '../helpers/authority.ts';
import { testClock } from '../helpers/clock.ts';

function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'pairs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = testClock();
  const logged: string[] = [];
  const log = { error: (text: string) => logged.push(text) } as never;
  return { folder, clock, logged, contextFor: createPairFolder(folder, { clock, log }) };
}

test('a host gets the pair with its name, as certbot and lego store it, and no other', async (t) => {
  const { folder, contextFor, logged } = start(t);
  const authority = await makeTestAuthority();
  const pair = await authority.issue(['mta-sts.example.com']);
  mkdirSync(join(folder, 'mta-sts.example.com'));
  writeFileSync(join(folder, 'mta-sts.example.com/fullchain.pem'), pair.cert);
  writeFileSync(join(folder, 'mta-sts.example.com/privkey.pem'), pair.key);
  writeFileSync(join(folder, 'bimi.example.com.crt'), pair.cert);
  writeFileSync(join(folder, 'bimi.example.com.key'), pair.key);
  // A certificate without its key.
  writeFileSync(join(folder, 'alone.example.com.crt'), pair.cert);
  for (const name of ['mta-sts.example.com', 'MTA-STS.Example.com', 'bimi.example.com'])
    assert.ok(contextFor(name), name);
  const others = [
    'example.com',
    'alone.example.com',
    'a.mta-sts.example.com',
    '..',
    '../mta-sts.example.com',
    'mta-sts.example.com/../mta-sts.example.com',
    '.mta-sts.example.com',
    'mta-sts.example.com.',
    '',
    'bimi.example.com\0',
    '*.example.com',
  ];
  for (const name of others) assert.equal(contextFor(name), undefined, name);
  assert.deepEqual(logged, []);
});

test('a renewed pair is used within a minute, and an invalid one leaves the former in use', async (t) => {
  const { folder, clock, contextFor, logged } = start(t);
  const authority = await makeTestAuthority();
  const write = async (name: string) => {
    const pair = await authority.issue(['a.example.com']);
    writeFileSync(join(folder, `a.example.com.${name}`), name === 'crt' ? pair.cert : pair.key);
    return pair;
  };
  const pair = await write('crt');
  writeFileSync(join(folder, 'a.example.com.key'), pair.key);
  const first = contextFor('a.example.com');
  assert.ok(first);
  // Only the certificate is new: the key does not belong to it.
  const renewed = await write('crt');
  assert.equal(contextFor('a.example.com'), first);
  clock.advance(60_000);
  assert.equal(contextFor('a.example.com'), first);
  assert.equal(logged.length, 1);
  writeFileSync(join(folder, 'a.example.com.key'), renewed.key);
  clock.advance(60_000);
  const second = contextFor('a.example.com');
  assert.ok(second && second !== first);
  rmSync(join(folder, 'a.example.com.key'));
  clock.advance(60_000);
  assert.equal(contextFor('a.example.com'), undefined);
});
