/** The cost of a missing or unusable DMARC record, and the gain of fixing it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import type { AnalysisResult } from '../../../src/analysis/result.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../../helpers/analysis.ts';
import { analyzeWorld, CLIENT, cleanWorld, type World } from '../planted/world.ts';

const NAME = '_dmarc.example.com';
const REPORTS = 'rua=mailto:dmarc@example.com';

function worldWith(...records: string[]): World {
  const world = cleanWorld();
  world.zone[NAME] = { TXT: records };
  return world;
}

const at = ({ checks }: AnalysisResult, id: string) => checks.find((check) => check.id === id)!;

/** SPF and DKIM pass for another domain only. */
function sentByAnother(world: World): void {
  world.zone['sender.example'] = { A: [CLIENT], TXT: [`v=spf1 ip4:${CLIENT} -all`] };
  world.zone['s1._domainkey.sender.example'] = world.zone['s1._domainkey.example.com']!;
  world.envelope.mail_from = 'bounce@sender.example';
  world.sign.domain = 'sender.example';
}

const rows: [what: string, records: string[], reported: string][] = [
  ['no record', [], 'dmarc_policy'],
  ['no valid policy', ['v=DMARC1; p=rejct'], 'dmarc_policy'],
  ['two records', [`v=DMARC1; p=reject; ${REPORTS}`, 'v=DMARC1; p=quarantine'], 'dmarc_record'],
  ['a tag twice', [`v=DMARC1; p=reject; p=reject; ${REPORTS}`], 'dmarc_record'],
  ['a version in other case', [`v=dmarc1; p=quarantine; ${REPORTS}`], 'dmarc_record'],
  ['a version without semicolon', [`v=DMARC1 p=reject; ${REPORTS}`], 'dmarc_record'],
];

for (const [what, records, reported] of rows)
  test(`DMARC gain: ${what} is one finding with the whole gain`, async () => {
    const result = await analyzeWorld(worldWith(...records));
    const { score, uncapped, cap, checks } = result;
    // The message is marketing mail, which needs a DMARC record.
    assert.deepEqual([score, cap?.limit], [79, 79]);
    assert.ok(uncapped! > 79);
    assert.deepEqual(
      checks.filter(({ status }) => status === 'fail').map(({ id }) => id),
      [reported],
    );
    // All three checks pass once the record is fixed, unless it still has no address for reports.
    assert.equal(at(result, reported).gain, what === 'no valid policy' ? 20.3 : 21);
    for (const id of ['dmarc', 'dmarc_policy', 'dmarc_record'].filter((each) => each !== reported))
      assert.equal(at(result, id).detail, `Not checked: ${at(result, reported).label} failed.`);
  });

test('DMARC gain of correcting a record equals that of publishing it', async () => {
  const now = await analyzeWorld(worldWith(`v=dmarc1; p=none; ${REPORTS}`));
  const { fix, gain } = at(now, 'dmarc_record');
  const then = await analyzeWorld(worldWith(fix!.record!.value));
  assert.ok(gain > 0);
  assert.equal(
    gain,
    Math.round((then.uncapped! - Math.min(now.uncapped!, now.cap!.limit)) * 10) / 10,
  );
});

test('DMARC gain is 0 when neither SPF nor DKIM is aligned', async () => {
  const world = worldWith();
  sentByAnother(world);
  const now = await analyzeWorld(world);
  assert.equal(at(now, 'dmarc_policy').gain, 0);
  world.zone[NAME] = { TXT: [`v=DMARC1; p=reject; ${REPORTS}`] };
  const then = await analyzeWorld(world);
  assert.deepEqual([now.cap?.limit, then.cap?.limit, then.score! <= now.score!], [40, 40, true]);
});

test('DMARC gain excludes DMARC while alignment is unknown', async () => {
  const world = worldWith();
  sentByAnother(world);
  world.envelope.mail_from = null;
  const result = await analyzeWorld(world);
  assert.equal(at(result, 'dmarc').detail, 'Not checked: DMARC policy failed.');
  assert.ok(result.score !== null && at(result, 'dmarc_policy').gain > 0);
});

// A From field without a single domain: one finding that has the whole gain.

const ZONE = {
  'example.com': {
    A: ['192.0.2.1'],
    MX: ['10 mail.example.com'],
    TXT: ['v=spf1 ip4:192.0.2.1 -all'],
  },
  'mail.example.com': { A: ['192.0.2.1'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
  '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
};

const analyzeFrom = (from: string) =>
  analyze(
    {
      raw: Buffer.from(
        `From: ${from}\r\nTo: b@example.net\r\nSubject: Hello\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@example.com>\r\n\r\nText.\r\n`,
      ),
      envelope: ENVELOPE,
      receivedAt: RECEIVED_AT,
      kind: 'auto',
    },
    { resolver: zoneResolver(ZONE) },
  );

for (const from of ["O'Brien, Inc. <a@example.com>", 'a@example.com, b@other.example'])
  test(`From field without a single domain is one finding: ${from}`, async () => {
    const result = await analyzeFrom(from);
    const gainOf = (id: string) => result.checks.find((check) => check.id === id)!.gain;
    assert.equal(result.cap?.limit, 40);
    assert.equal(result.checks.find(({ id }) => id === 'from')?.status, 'fail');
    assert.equal(result.checks.find(({ id }) => id === 'dmarc')?.status, 'skipped');
    assert.ok(gainOf('from') > 20, String(gainOf('from')));
    assert.equal(gainOf('dkim'), 0, 'DKIM alone fixes nothing');
  });
