/** The causes of a change in words, from real analyses of the same message in different worlds. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Zone } from '../../src/net/dns/zone.ts';
import { causesOf } from '../../src/report/causes.ts';
import { compareResults } from '../../src/report/comparison.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { badReport, goodReport, ORDER, reportOn } from './reports.ts';

const KEY = makeKey();
const OTHER_KEY = makeKey();
const SIGNED = await signMessage(ORDER, { domain: 'shop.example', selector: 's1', key: KEY });
const UNSIGNED = Buffer.from(ORDER.replaceAll('\n', '\r\n'));

interface World {
  raw?: Uint8Array;
  spf?: string | null;
  key?: string | null;
  policy?: string;
  client_ip?: string;
}

function reportIn(world: World) {
  const { raw = SIGNED, spf = 'v=spf1 ip4:203.0.114.7 -all', key = KEY.record } = world;
  const { policy = 'reject', client_ip = '203.0.114.7' } = world;
  const zone: Zone = {
    'shop.example': { MX: ['10 mail.shop.example'], ...(spf === null ? {} : { TXT: [spf] }) },
    'mail.shop.example': { A: ['203.0.114.7'] },
    ...(key === null ? {} : { 's1._domainkey.shop.example': { TXT: [key] } }),
    '_dmarc.shop.example': { TXT: [`v=DMARC1; p=${policy}; rua=mailto:dmarc@shop.example`] },
  };
  const envelope = { mail_from: 'bounces@shop.example', helo: 'mail.shop.example', client_ip };
  return reportOn({ name: 'Order', raw, zone, envelope });
}

async function causesBetween(before: World, after: World): Promise<string[]> {
  const comparison = compareResults(await reportIn(before), await reportIn(after));
  return causesOf(comparison).map(({ change, text }) => `${change}: ${text}`);
}

describe('Causes of a change', () => {
  for (const [what, before, after, expected] of [
    ['a key that is gone', {}, { key: null }, ['worse: DKIM broke: the key at s1 is gone.']],
    [
      'a key that was published',
      { key: null },
      {},
      ['improved: DKIM now passes: the key at s1 was published.'],
    ],
    [
      'a key that was replaced',
      {},
      { key: OTHER_KEY.record },
      ['worse: DKIM broke: it was made with a different key than the published one.'],
    ],
    [
      'a signature that is gone',
      {},
      { raw: UNSIGNED },
      ['worse: DKIM broke: the signature by shop.example (s1) is gone.'],
    ],
    [
      'an address that was added to SPF',
      { spf: 'v=spf1 ip4:192.0.2.9 -all' },
      { spf: 'v=spf1 ip4:192.0.2.9 ip4:203.0.114.7 -all' },
      ['improved: SPF now passes: 203.0.114.7 was added.'],
    ],
    [
      'an SPF record that is gone',
      {},
      { spf: null },
      ['worse: SPF broke: the record of shop.example is gone.'],
    ],
    [
      'another sending server',
      {},
      { client_ip: '203.0.114.99' },
      ['worse: SPF broke: the message was sent from 203.0.114.99 instead of 203.0.114.7.'],
    ],
    [
      'a weaker policy',
      {},
      { policy: 'none' },
      ['worse: The DMARC policy worsened: p=reject became p=none.'],
    ],
    [
      'a policy that changed without a change of its status',
      {},
      { policy: 'quarantine' },
      ['other: The DMARC policy changed: p=reject became p=quarantine.'],
    ],
  ] as [string, World, World, string[]][])
    it(`name ${what}`, async () => {
      const causes = await causesBetween(before, after);
      for (const text of expected) assert.ok(causes.includes(text), causes.join('\n'));
    });

  it('are none between two results that are the same', async () => {
    assert.deepEqual(await causesBetween({}, {}), []);
  });

  it('leave out what only goes with another change', async () => {
    const causes = await causesBetween({}, { key: null, spf: null });
    assert.deepEqual(
      causes.filter((text) => text.includes('DMARC')),
      [],
      causes.join('\n'),
    );
  });

  it('begin with what worsened, and do not compare records of different domains', async () => {
    const causes = causesOf(compareResults(await goodReport(), await badReport()));
    const changes = causes.map(({ change }) => change);
    assert.equal(changes[0], 'worse');
    assert.deepEqual(
      changes,
      ['worse', 'improved', 'other'].flatMap((of) => changes.filter((change) => change === of)),
    );
    assert.ok(
      causes.some(
        ({ text }) =>
          text === 'SPF broke: The SPF record of acme.example does not allow 203.0.114.200.',
      ) ||
        causes.some(({ text }) =>
          /^SPF broke: the SPF record of acme\.example does not allow/.test(text),
        ),
    );
  });
});
