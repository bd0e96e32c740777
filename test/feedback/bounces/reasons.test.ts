/** The reason of a bounce, and its class. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonOf } from '../../../src/feedback/bounces/explain.ts';
import { COMMON_REPLIES, REPLY_GROUPS } from '../../../src/feedback/bounces/replies.ts';
import { readBounce } from '../../../src/feedback/reading/bounce.ts';
import { REPLIES } from './explained.ts';
import { PRACTICE } from './practice.ts';
import { OF_PROVIDERS, WORDS } from './words.ts';

const fieldsOf = (server: string, status: string, reply: string | null, action = 'failed') =>
  Buffer.from(
    `Reporting-MTA: dns; mail.example.com\r\n\r\nFinal-Recipient: rfc822; a@example.net\r\nAction: ${action}\r\nStatus: ${status}\r\nRemote-MTA: dns; ${server}\r\n${reply === null ? '' : `Diagnostic-Code: smtp; ${reply}\r\n`}`,
  );

const read = (server: string, status: string, reply: string | null, action?: string) =>
  readBounce({
    fields: fieldsOf(server, status, reply, action),
    text: null,
    returned: null,
    reporter: 'mail.example.com',
  })!.recipients[0]!;

for (const [server, status, reply, answer] of PRACTICE)
  test(`${status} "${reply}" of ${server} is ${answer}`, () => {
    assert.equal(read(server, status, reply).class, answer);
  });

test('The text of a reply decides the class of a bounce without a code', () => {
  for (const [reason, replies] of Object.entries(WORDS))
    for (const reply of replies) {
      const bounce = { provider: 'example.net', status_code: '5.0.0', diagnostic: `550 ${reply}` };
      assert.equal(reasonOf(bounce), reason, reply);
    }
});

const statusOf = (reply: string) => /[45]\.\d\.\d+/.exec(reply)?.[0] ?? '5.0.0';

test('The known replies of a provider take precedence over those of any server', () => {
  for (const [provider, diagnostic, reason] of OF_PROVIDERS)
    assert.equal(
      reasonOf({ provider, status_code: statusOf(diagnostic), diagnostic }),
      reason,
      `${provider} ${diagnostic}`,
    );
});

test('Each pattern of replies.json matches a reply in these tests', () => {
  const lines = [
    ...PRACTICE.map(([, , reply]) => reply ?? ''),
    ...Object.values(WORDS).flat(),
    ...REPLIES.map(([, , reply]) => reply ?? ''),
    ...OF_PROVIDERS.map(([, reply]) => reply),
  ];
  const unmatched = [...COMMON_REPLIES, ...REPLY_GROUPS.flatMap(({ replies }) => replies)]
    .flatMap(({ patterns }) => patterns)
    .filter((pattern) => !lines.some((line) => pattern.test(line)));
  assert.deepEqual(unmatched, []);
});

test('A temporary failure is a soft bounce unless it is a policy rejection, and a delay always is', () => {
  assert.equal(read('mx.example.net', '4.1.1', '450 4.1.1 User unknown').class, 'soft');
  assert.equal(read('mx.example.net', '4.0.0', null).class, 'soft');
  assert.equal(read('mx.example.net', '5.0.0', '451 Something else').class, 'soft');
  assert.equal(read('mx.example.net', '4.7.1', '450 4.7.1 Blacklisted').class, 'policy');
  assert.equal(read('mx.example.net', '4.7.1', '450 4.7.1 Blacklisted', 'delayed').class, 'soft');
});

test('A specific code takes precedence over a general text', () => {
  assert.equal(read('mx.example.net', '5.7.1', '550 5.7.1 Recipient rejected').class, 'policy');
  assert.equal(read('mx.example.net', '5.0.0', '550 Recipient rejected').class, 'hard');
  assert.equal(read('mx.example.net', '5.2.2', '552 Try again later').class, 'soft');
});

test('The status is the most specific code of the reply or the Status field, and never a version number', () => {
  for (const [status, reply, expected] of [
    ['5.1.1', '550 5.7.1 Blocked', '5.7.1'],
    ['5.1.1', '550 5.0.0 No such user', '5.1.1'],
    ['5.0.0', '550 (#5.2.2) full', '5.2.2'],
    ['5.1.1', '550 Sent by Exim 4.92.3', '5.1.1'],
    ['5.1.1', '550 from 5.1.7.2', '5.1.1'],
    ['', '450 Later', '4.0.0'],
  ] as const)
    assert.equal(read('mx.example.net', status, reply).status, expected, reply);
});

test('The reply is found in fields of X.400 gateways and Postfix, and for recipients that are not separated', () => {
  const recipients = (fields: string) =>
    readBounce({ fields: Buffer.from(fields), text: null, returned: null, reporter: 'a' })
      ?.recipients.map((one) => `${one.domain} ${one.status} ${one.class}`)
      .join(', ');
  const final = 'Final-Recipient: rfc822; a@one.example\n';
  assert.equal(
    recipients(
      `${final}Action: failed\nStatus: 5.3.0\nDiagnostic-Code: X-Postfix; host mx.one.example[192.0.2.1] said: 550 5.7.1 Blacklisted\n`,
    ),
    'one.example 5.7.1 policy',
  );
  assert.equal(
    recipients(
      `${final}Action: failed\nStatus: 5.0.0\nX-Supplementary-Info: <mx.one.example #5.2.2 smtp; 552 5.2.2 Over quota>\n`,
    ),
    'one.example 5.2.2 soft',
  );
  assert.equal(
    recipients(
      `${final}Action: failed\nStatus: 5.1.1\n${final.replace('one', 'two')}Action: failed\nStatus: 5.2.2\n`,
    ),
    'one.example 5.1.1 hard, two.example 5.2.2 soft',
  );
  assert.equal(recipients(`${final}Status: 5.1.1\n`), 'one.example 5.1.1 hard');
  assert.equal(recipients(`${final}Status: 2.1.5\n`), undefined);
  assert.equal(
    recipients(`${final}Action: failed\nDiagnostic-Code: X-Unix; 75\n`),
    'one.example null unknown',
  );
});

test('A reply of 1 MB, and a bounce with a thousand recipients, are read in linear time', () => {
  const started = performance.now();
  for (const piece of [
    'user not ',
    'host ',
    'message too ',
    '5.7.1 ',
    '550-',
    'x@x ',
    '<',
    'over quota ',
    'a',
  ])
    read('mx.example.net', '5.0.0', `550 ${piece.repeat((1024 * 1024) / piece.length)}`);
  const many = Array.from(
    { length: 1000 },
    (_, index) =>
      `Final-Recipient: rfc822; a${index}@b.example\nAction: failed\nDiagnostic-Code: smtp; 550 ${'host sender user not '.repeat(40)}\n`,
  ).join('\n');
  readBounce({ fields: Buffer.from(many), text: null, returned: null, reporter: 'a' });
  assert.ok(performance.now() - started < 10_000);
});
