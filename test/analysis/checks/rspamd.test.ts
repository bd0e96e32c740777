/** `rspamd` with a real Rspamd on loopback, and the spam threshold read from its response. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext, test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { rspamd, rspamdThreshold } from '../../../src/analysis/checks/rspamd.ts';
import type { RspamdScan } from '../../../src/net/rspamd.ts';
import { type CheckInput, runCheck } from '../../helpers/analysis.ts';
import { freePort } from '../../helpers/daemon.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { GTUBE } from '../../helpers/gtube.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { type Rspamd, startRspamd } from '../../helpers/rspamd.ts';

const KNOWN: Omit<CheckInput, 'message'> = {
  zone: { '7.113.0.203.in-addr.arpa': { PTR: ['mail.example.com'] } },
  envelope: { client_ip: '203.0.113.7' },
};
/** Written now by the clock of the daemon, which has points for a Date a day old or in the future. */
const presentMessage = (changes: Record<string, string> = {}, body?: string) =>
  goodMessage({ Date: new Date().toUTCString().replace('GMT', '+0000'), ...changes }, body);
const subject = (text: string) => presentMessage({ Subject: text });

/** Rules of our own beside Debian's: each fires at its name in the subject. */
const RULES = { QUARTER: 1.5, HALF: 3.4, NEARLY: 5.5, WHOLE: 6.5, MUCH: 20, GOOD: -2.5, A_SPF: 12 };
const IN_LUA = Object.entries(RULES).map(
  ([name, score]) =>
    `config.regexp.${name} = { re = 'Subject=/\\\\b${name}\\\\b/H', score = ${score}, description = 'Says ${name}' }`,
);

describe('rspamd check with a real Rspamd', { skip: skipUnlessInstalled('rspamd') }, () => {
  let server: Rspamd;
  before(async () => {
    server = await startRspamd(IN_LUA);
  });
  after(() => server.kill());
  const ask = (message: string, scene: Partial<CheckInput> = {}) =>
    runCheck(rspamd, { ...KNOWN, message, setup: { rspamd: server.url }, ...scene });

  const cases: [string, string, CheckStatus][] = [
    ['a good message', presentMessage(), 'pass'],
    ['a message at a quarter of the spam threshold', subject('QUARTER order'), 'pass'],
    ['a message at half the spam threshold', subject('HALF order'), 'warn'],
    ['a message just under the spam threshold', subject('NEARLY order'), 'warn'],
    ['a message at the marking threshold, below rejection', subject('WHOLE order'), 'fail'],
    ['a message at the reject threshold', subject('MUCH order'), 'fail'],
    ['a high score reduced by favorable rules', subject('WHOLE GOOD order'), 'warn'],
    ['a message with only rules checked elsewhere', subject('A_SPF order'), 'pass'],
    ['GTUBE', presentMessage({}, GTUBE), 'fail'],
  ];
  for (const [name, message, status] of cases)
    it(`reports ${status}: ${name}`, async () => {
      const finding = await ask(message);
      assert.equal(finding.status, status, finding.detail);
      const fired = JSON.stringify(finding.evidence);
      for (const word of message.match(/^Subject: .*/m)![0].split(' '))
        if (word in RULES) assert.ok(fired.includes(`"${word}"`), word);
      assert.equal(finding.evidence?.threshold, 6);
      assert.equal(finding.evidence?.reject_at, 15);
      assert.equal(finding.fix === undefined, status === 'pass');
    });

  it('shows rules with scores and lists rules checked elsewhere separately', async () => {
    const { evidence, fix } = await ask(subject('HALF A_SPF order'));
    const { rules, checked_elsewhere } = evidence as Record<string, { rule: string }[]>;
    assert.deepEqual(rules![0], { rule: 'HALF', score: 3.4, description: 'Says HALF' });
    assert.deepEqual(checked_elsewhere![0]?.rule, 'A_SPF');
    const elsewhere = checked_elsewhere!.map((item) => item.rule);
    for (const name of ['R_DKIM_NA', 'ARC_NA']) assert.ok(elsewhere.includes(name), name);
    assert.match(fix!.text, /^Fix the problems that .*HALF \(3\.4: Says HALF\)/);
  });

  it('passes the client address and name to Rspamd', async () => {
    const nameless = await ask(presentMessage(), { zone: {} });
    assert.match(
      JSON.stringify(nameless.evidence?.checked_elsewhere),
      /"HFILTER_HOSTNAME_UNKNOWN"/,
    );
    const withName = await ask(presentMessage());
    assert.doesNotMatch(
      JSON.stringify(withName.evidence?.checked_elsewhere),
      /"HFILTER_HOSTNAME_UNKNOWN"/,
    );
    const elsewhere = await ask(presentMessage(), { envelope: { mail_from: 'news@example.com' } });
    assert.match(JSON.stringify(elsewhere.evidence?.rules), /"FROM_EQ_ENVFROM"/);
  });

  it('is skipped offline', async () => {
    assert.equal((await ask(presentMessage(), { offline: true })).status, 'skipped');
  });
});

test('rspamd check is skipped without configuration and reports error when unreachable', async () => {
  assert.equal((await runCheck(rspamd, { message: goodMessage() })).status, 'skipped');
  const setup = { rspamd: `http://127.0.0.1:${await freePort()}` };
  const dead = await runCheck(rspamd, { message: goodMessage(), setup });
  assert.equal(dead.status, 'error');
  assert.match(dead.detail, /refused the connection/);
});

const scan = (changes: Partial<RspamdScan>): RspamdScan => ({
  action: 'no action',
  score: 0,
  required_score: 15,
  thresholds: {},
  is_skipped: false,
  symbols: {},
  ...changes,
});

/** What the check finds where Rspamd answers this: versions and settings that Debian does not have. */
async function findingFor(t: TestContext, changes: Partial<RspamdScan>) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(scan(changes))));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const setup = { rspamd: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  return runCheck(rspamd, { message: goodMessage(), setup });
}

const symbol = (score: number) => ({ score, description: '', options: [] });
const answers: [string, Partial<RspamdScan>, CheckStatus][] = [
  ['message skipped by Rspamd', { is_skipped: true }, 'error'],
  ['message skipped and rejected by Rspamd', { is_skipped: true, action: 'reject' }, 'fail'],
  [
    'action forced by an antivirus rule',
    { action: 'reject', passthrough_module: 'antivirus' },
    'fail',
  ],
  ['action forced by DMARC', { action: 'reject', passthrough_module: 'dmarc' }, 'pass'],
  ['soft reject by rate limit', { action: 'soft reject', passthrough_module: 'ratelimit' }, 'pass'],
  [
    'score only from rules checked elsewhere',
    { action: 'reject', score: 20, symbols: { DMARC_POLICY_REJECT: symbol(20) } },
    'pass',
  ],
  [
    'spam score left after removing rules checked elsewhere',
    { score: 1, symbols: { RWL_MAILSPIKE_GOOD: symbol(-6), BAYES_SPAM: symbol(7) } },
    'fail',
  ],
];
for (const [name, changes, status] of answers)
  test(`rspamd check reports ${status}: ${name}`, async (t) => {
    const finding = await findingFor(t, changes);
    assert.equal(finding.status, status, finding.detail);
  });

test('rspamd check shows only the heaviest of thousands of symbols', async (t) => {
  const symbols = Object.fromEntries(
    Array.from({ length: 5000 }, (_, i) => [
      `RULE_${i}`,
      { score: i / 1e6, description: 'x'.repeat(100), options: ['y'.repeat(300), 'z'] },
    ]),
  );
  const { evidence } = await findingFor(t, { score: 1, symbols });
  const { rules } = evidence as { rules: { rule: string }[] };
  assert.equal(rules[0]?.rule, 'RULE_4999');
  assert.ok(JSON.stringify(evidence).length < 15_000);
});

const thresholds: [string, Partial<RspamdScan>, number, RegExp][] = [
  [
    'the lowest spam action threshold',
    { thresholds: { reject: 12, 'add header': 5, greylist: 2 } },
    5,
    /^add header$/,
  ],
  [
    'an earlier rewrite subject threshold',
    { thresholds: { 'rewrite subject': 4, reject: 9 } },
    4,
    /^rewrite/,
  ],
  [
    'only a reject threshold',
    { thresholds: { reject: 9, greylist: 4 }, required_score: 9 },
    9,
    /^reject$/,
  ],
  ['only required_score', {}, 6, /default/],
  ['another reject threshold', { required_score: 7.5 }, 3, /default/],
  [
    'an add header threshold below the default',
    { action: 'add header', score: 4.5 },
    4.5,
    /^add header \(inferred\)$/,
  ],
  ['a reject threshold above the default', { action: 'greylist', score: 8 }, 15, /^reject$/],
  ['a rule that rejects regardless of score', { action: 'reject', score: 1 }, 6, /default/],
];
for (const [name, changes, expected, source] of thresholds)
  test(`rspamdThreshold returns ${expected}: ${name}`, () => {
    const found = rspamdThreshold(scan(changes));
    assert.equal(found.threshold, expected);
    assert.match(found.source, source);
  });
