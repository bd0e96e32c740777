/** `spamassassin` with a real SpamAssassin on loopback, and the parser of its report. */

import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import {
  parseSpamdReport,
  receivedFields,
  spamassassin,
} from '../../../src/analysis/checks/spamassassin.ts';
import { type CheckInput, contextFor, runCheck } from '../../helpers/analysis.ts';
import { freePort } from '../../helpers/daemon.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { GTUBE } from '../../helpers/gtube.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { type Spamd, startSpamd } from '../../helpers/spamd.ts';

const PTR = { '7.113.0.203.in-addr.arpa': { PTR: ['mail.example.com'] } };
const KNOWN: Omit<CheckInput, 'message'> = { zone: PTR, envelope: { client_ip: '203.0.113.7' } };
const subject = (text: string) => goodMessage({ Subject: text });

/** Rules of our own, so that the sums are ours whatever Debian's rules are. */
const RULES = [
  ['QUARTER', 1.2, 'A quarter'],
  [
    'HALF',
    2.5,
    'Half of the threshold, with a description that is long enough to go over two lines',
  ],
  ['NEARLY', 4.9, 'Nearly'],
  ['WHOLE', 5, 'The threshold'],
  ['GOOD', -2.4, 'In your favour'],
  ['LOCAL_SPF_RULE', 4, 'What spf checks'],
  ['RCVD_IN_LOCAL', 4, 'What ip_blocklists checks'],
] as const;

const SETTINGS = [
  // The documentation's addresses are illegal to it.
  'score RCVD_ILLEGAL_IP 0',
  ...RULES.flatMap(([name, score, description]) => [
    `header ${name} Subject =~ /\\b${name}\\b/`,
    `score ${name} ${score}`,
    `describe ${name} ${description}`,
  ]),
];

describe('spamassassin check with a real SpamAssassin', {
  skip: skipUnlessInstalled('spamd'),
}, () => {
  let spamd: Spamd;
  before(async () => {
    spamd = await startSpamd(SETTINGS);
  });
  after(() => spamd.kill());
  const ask = (message: string, scene: Partial<CheckInput> = {}) =>
    runCheck(spamassassin, { ...KNOWN, message, setup: { spamd: spamd.url }, ...scene });

  const cases: [string, string, CheckStatus, number][] = [
    ['a good message', goodMessage(), 'pass', 0],
    ['a message at a quarter of the threshold', subject('QUARTER order'), 'pass', 1.2],
    ['a message at half the threshold', subject('HALF order'), 'warn', 2.5],
    ['a message just under the threshold', subject('NEARLY order'), 'warn', 4.9],
    ['a message at the threshold', subject('WHOLE order'), 'fail', 5],
    ['the threshold reduced by favorable rules', subject('WHOLE GOOD order'), 'warn', 2.6],
    ['only rules checked elsewhere', subject('LOCAL_SPF_RULE RCVD_IN_LOCAL x'), 'pass', 0],
    ['own rules and rules checked elsewhere', subject('LOCAL_SPF_RULE HALF order'), 'warn', 2.5],
    ['GTUBE', goodMessage({}, GTUBE), 'fail', 1000],
  ];
  for (const [name, message, status, score] of cases)
    it(`reports ${status}: ${name}`, async () => {
      const finding = await ask(message);
      assert.equal(finding.status, status, finding.detail);
      assert.equal(finding.evidence?.score, score);
      assert.equal(finding.evidence?.threshold, 5);
      assert.equal(finding.fix === undefined, status === 'pass');
    });

  it('shows rules with scores and full descriptions, separate from rules checked elsewhere', async () => {
    const { evidence, fix } = await ask(subject('HALF GOOD LOCAL_SPF_RULE QUARTER order x'));
    assert.deepEqual(evidence, {
      score: 1.3,
      threshold: 5,
      engine_score: 5.3,
      rules: [
        { rule: 'HALF', score: 2.5, description: RULES[1][2] },
        { rule: 'GOOD', score: -2.4, description: 'In your favour' },
        { rule: 'QUARTER', score: 1.2, description: 'A quarter' },
      ],
      checked_elsewhere: [{ rule: 'LOCAL_SPF_RULE', score: 4, description: 'What spf checks' }],
    });
    assert.equal(fix, undefined);
  });

  it('passes the client and the time of receipt to SpamAssassin', async () => {
    const nameless = await ask(goodMessage(), { zone: {} });
    const found = JSON.stringify(nameless.evidence?.checked_elsewhere);
    assert.match(found, /"RDNS_NONE"/);
    const late = await ask(goodMessage(), { receivedAt: Date.UTC(2026, 10, 28) });
    assert.match(JSON.stringify(late.evidence?.rules), /"DATE_IN_PAST_96_XX"/);
  });

  it('is skipped offline and for messages over 524 KB', async () => {
    assert.equal((await ask(goodMessage(), { offline: true })).status, 'skipped');
    const large = await ask(goodMessage({}, `${'x'.repeat(70)}\n`.repeat(7500)));
    assert.equal(large.status, 'skipped');
    assert.match(large.detail, /524 KB/);
  });
});

test('spamassassin check reports error when the report template lists no rules', {
  skip: skipUnlessInstalled('spamd'),
}, async (t) => {
  const lines = ['clear_report_template', 'report _SCORE_ of _REQD_', ...SETTINGS];
  const spamd = await startSpamd(lines);
  t.after(() => spamd.kill());
  const scene = { ...KNOWN, message: subject('HALF order'), setup: { spamd: spamd.url } };
  const finding = await runCheck(spamassassin, scene);
  assert.equal(finding.status, 'error');
  assert.match(finding.detail, /no rule table/);
});

test('spamassassin check reports error for a threshold of 0', {
  skip: skipUnlessInstalled('spamd'),
}, async (t) => {
  const spamd = await startSpamd(['required_score 0', ...SETTINGS]);
  t.after(() => spamd.kill());
  const scene = { ...KNOWN, message: goodMessage(), setup: { spamd: spamd.url } };
  assert.equal((await runCheck(spamassassin, scene)).status, 'error');
});

test('spamassassin check is skipped without configuration and reports error when unreachable', async () => {
  const none = await runCheck(spamassassin, { message: goodMessage() });
  assert.equal(none.status, 'skipped');
  const setup = { spamd: `tcp://127.0.0.1:${await freePort()}` };
  const dead = await runCheck(spamassassin, { message: goodMessage(), setup });
  assert.equal(dead.status, 'error');
  assert.match(dead.detail, /refused the connection/);
});

test('parseSpamdReport reads only the last rule table, which the message cannot forge', () => {
  const report = [
    'Content preview:  pts rule name description',
    '---- ---------------------- --------------------------------------------------',
    '-9.9 FORGED                 By the text of the message',
    '',
    'Content analysis details:   (3.1 points, 5.0 required)',
    '',
    ' pts rule name              description',
    '---- ---------------------- --------------------------------------------------',
    '-0.0 SPF_PASS               SPF: sender matches SPF record',
    ' 0.8 BAYES_50               BODY: Bayes spam probability is 40 to 60%',
    '                            [score: 0.5000]',
    '1000 A_VERY_LONG_NAME_INDEED_OF_A_RULE BODY: One',
    '                            and two',
    ' 1.1 NO_DESCRIPTION         ',
    '',
  ].join('\n');
  assert.deepEqual(parseSpamdReport(report), [
    { name: 'SPF_PASS', score: -0, description: 'SPF: sender matches SPF record' },
    {
      name: 'BAYES_50',
      score: 0.8,
      description: 'BODY: Bayes spam probability is 40 to 60% [score: 0.5000]',
    },
    { name: 'A_VERY_LONG_NAME_INDEED_OF_A_RULE', score: 1000, description: 'BODY: One and two' },
    { name: 'NO_DESCRIPTION', score: 1.1, description: '' },
  ]);
});

test('parseSpamdReport handles huge reports quickly', () => {
  assert.deepEqual(parseSpamdReport('\n'.repeat(1_000_000)), []);
  assert.deepEqual(parseSpamdReport('- '.repeat(500_000)), []);
  assert.deepEqual(parseSpamdReport(`${' '.repeat(500_000)}x`), []);
});

const fieldsFor = async (
  envelope: CheckInput['envelope'],
  name: string | null = 'mail.example.com',
) => receivedFields(await contextFor({ message: goodMessage(), envelope }), name).toString();

test('receivedFields describe the connection as this server saw it', async () => {
  assert.equal(
    await fieldsFor({}),
    [
      'Return-Path: <bounce@example.com>',
      'Received: from mail.example.com (mail.example.com [192.0.2.1])',
      '\tby mx.invalid (Deliverability) with ESMTPS id 1;',
      '\tSat, 21 Nov 2026 10:00:00 +0000',
      '',
    ].join('\r\n'),
  );
  assert.match(await fieldsFor({ client_ip: '2001:db8::1' }), /\[IPv6:2001:db8::1\]/);
  assert.match(await fieldsFor({ tls: null }, null), /\(unknown \[192\.0\.2\.1\]\)\r\n.* ESMTP /);
  assert.match(await fieldsFor({ mail_from: '' }), /^Return-Path: <>\r\n/);
  assert.equal(await fieldsFor({ mail_from: null, client_ip: null }), '');
});

test('receivedFields prevent header injection by the client', async () => {
  const helo = 'x)\r\nReceived: from good.example (\u0000';
  const fields = await fieldsFor({ helo, mail_from: 'a>\r\nX: b' });
  assert.match(fields, /^Return-Path: <aX:b>\r\nReceived: from xReceived:fromgood\.example \(/);
  assert.equal(fields.split('\r\n').filter((line) => /^\S/.test(line)).length, 2);
});
