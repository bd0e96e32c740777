/** `list_unsubscribe` and `one_click`: the header fields of marketing mail. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import type { Check, CheckStatus } from '../../../src/analysis/check.ts';
import { listUnsubscribeCheck } from '../../../src/analysis/checks/list-unsubscribe.ts';
import { oneClick } from '../../../src/analysis/checks/one-click.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { fakeCheck, INPUT } from '../fake-checks.ts';

const WEB = '<https://example.com/u/1>';
const MAIL = '<mailto:leave@example.com?subject=1>';
const POST = 'List-Unsubscribe=One-Click';

type Value = string | string[] | null;

const message = (field: Value, post: Value = POST) =>
  goodMessage({ 'List-Unsubscribe': field, 'List-Unsubscribe-Post': post });

const fieldCases: [string, Value, CheckStatus, RegExp][] = [
  ['a web URL', WEB, 'pass', /with a web address\./],
  ['a mailto URL', MAIL, 'pass', /with an email address\./],
  ['a web and a mailto URL', `${MAIL}, ${WEB}`, 'pass', /with a web and an email address\./],
  ['both URLs without a space', `${MAIL},${WEB}`, 'pass', /web and an email/],
  ['comments', `(by web) ${WEB} (here), (or mail (now)) ${MAIL}`, 'pass', /web and an email/],
  ['a fold between two URLs', `${MAIL},\n ${WEB}`, 'pass', /web and an email/],
  ['a fold after the bracket', '<\n https://example.com/u/1>', 'pass', /web address/],
  ['a folded URL', '<https://example.com/\n u/1>', 'warn', /broken by a space or a line break/],
  ['a space in a mailto URL', '<mailto:leave @example.com>', 'warn', /broken by a space/],
  ['a tab in a URL', `${MAIL}, <https://example.com/\n\tu>`, 'warn', /broken by a space/],
  ['a comma at the end', `${WEB},`, 'pass', /web address/],
  ['a URL beside another scheme', `<tel:1>, ${WEB}`, 'pass', /web address/],
  ['no field', null, 'fail', /has no List-Unsubscribe field/],
  ['an empty field', '', 'fail', /cannot be used.*is empty/],
  ['only a comment', '(to come)', 'fail', /is empty/],
  ['no brackets', 'https://example.com/u/1', 'fail', /not in angle brackets/],
  ['an encoded word', '=?utf-8?Q?=3Chttps=3A//example.com/u=3E?=', 'fail', /is encoded/],
  ['words in base64', '=?UTF-8?B?PGh0dHBzOi8v?=\n =?UTF-8?B?ZXhhbXBsZT4=?=', 'fail', /is encoded/],
  ['an encoded URL in brackets', '<=?us-ascii?q?https=3A//example.com/u?=>', 'fail', /is encoded/],
  [
    'a tag in a URL',
    '<https://example.com/u/{{unsubscribe_id}}>',
    'fail',
    /tag: \{\{unsubscribe_id/,
  ],
  ['a tag of Mailchimp', `${MAIL}, <https://example.com/*|UNIQID|*>`, 'fail', /tag: \*\|UNIQID/],
  ['an encoded tag', '<https://example.com/%7B%7Bid%7D%7D>', 'fail', /tag: \{\{id\}\}/],
  ['a tag in a mailto URL', '<mailto:leave+%%id_abo%%@example.com>', 'fail', /unfilled|no usable/],
  ['an open bracket', '<https://example.com/u/1', 'fail', /not closed/],
  ['a placeholder', '<{{unsubscribe_url}}>', 'fail', /contains an unfilled merge tag/],
  ['empty brackets', '<>', 'fail', /no usable/],
  ['another scheme', '<ftp://example.com/u>', 'fail', /no usable/],
  ['no host', '<https:///u>', 'fail', /no usable/],
  ['a single-label host', '<https://localhost/u>', 'fail', /no usable/],
  ['a loopback address', '<https://127.0.0.1/u>', 'fail', /no usable/],
  ['an IPv6 address', '<https://[2001:db8::1]/u>', 'fail', /no usable/],
  ['a name of a local network', '<https://intern.local/u>', 'fail', /no usable/],
  ['a user name', '<https://user:secret@example.com/u>', 'fail', /no usable/],
  ['a mailbox of a local network', '<mailto:leave@intern.local>', 'fail', /no usable/],
  ['a name with umlauts', '<https://bücher.example/u>', 'pass', /web address/],
  ['no mail domain', '<mailto:leave>', 'fail', /no usable/],
  ['only http', '<http://example.com/u>', 'fail', /only an unencrypted http address/],
  ['http and mail', `<http://example.com/u>, ${MAIL}`, 'pass', /with an email address\./],
  ['no comma', `${WEB} ${MAIL}`, 'warn', /no comma between/],
  ['bare text after a URL', `${WEB}, or write to us`, 'warn', /malformed/],
  ['two fields', [WEB, MAIL], 'warn', /has 2 List-Unsubscribe fields/],
];

const clickCases: [string, Value, Value, CheckStatus, RegExp][] = [
  ['both fields', WEB, POST, 'pass', /offers one-click/],
  ['an additional mailto URL', `${MAIL}, ${WEB}`, POST, 'pass', /offers one-click/],
  ['a merge tag', '<https://example.com/{{abmelde_id}}>', POST, 'fail', /tag: \{\{abmelde_id/],
  ['no Post field', WEB, null, 'fail', /no List-Unsubscribe-Post field/],
  ['an empty Post field', WEB, '', 'fail', /the wrong value/],
  ['another value', WEB, 'One-Click', 'fail', /it is "One-Click"/],
  ['a value in quotes', WEB, `"${POST}"`, 'fail', /the wrong value/],
  ['another spelling', WEB, 'list-unsubscribe=one-click', 'warn', /the wrong value/],
  ['two Post fields', WEB, [POST, POST], 'warn', /2 List-Unsubscribe-Post fields/],
  ['two different Post fields', WEB, [POST, 'x'], 'fail', /it is "x"/],
  ['only a mailto URL', MAIL, POST, 'fail', /no https address/],
  ['only http', '<http://example.com/u>', POST, 'fail', /no https address/],
  ['a single-label host', `${MAIL}, <https://intern.local/u>`, POST, 'fail', /no https address/],
  ['a user name', `${MAIL}, <https://me@example.com/u>`, POST, 'fail', /no https address/],
  ['two web URLs', `${WEB}, <https://example.com/2>`, POST, 'warn', /more than one web/],
  ['an additional http URL', `${WEB}, <http://example.com/2>`, POST, 'warn', /more than one web/],
  ['no List-Unsubscribe', null, POST, 'fail', /List-Unsubscribe field is missing/],
];

async function expect(check: Check, text: string, status: CheckStatus, expected: RegExp) {
  const finding = await runCheck(check, { message: text, kind: 'marketing' });
  const output = `${finding.title} ${finding.detail}`;
  assert.equal(finding.status, status, output);
  assert.match(output, expected);
  assert.equal(finding.fix !== undefined, status === 'warn' || status === 'fail');
}

for (const [name, field, status, expected] of fieldCases)
  test(`list_unsubscribe check reports ${status}: ${name}`, () =>
    expect(listUnsubscribeCheck, message(field), status, expected));

for (const [name, field, post, status, expected] of clickCases)
  test(`one_click check reports ${status}: ${name}`, () =>
    expect(oneClick, message(field, post), status, expected));

for (const check of [listUnsubscribeCheck, oneClick]) {
  test(`${check.id} check is skipped for transactional mail`, async () => {
    for (const text of [goodMessage(), message('nonsense', 'nonsense')]) {
      const finding = await runCheck(check, { message: text, kind: 'transactional' });
      assert.equal(finding.status, 'skipped');
      assert.equal(
        finding.detail,
        'Not checked: your message is transactional mail. You chose this kind.',
      );
    }
    const automatic = await runCheck(check, { message: goodMessage() });
    assert.match(
      automatic.detail,
      /^Not checked: your message is transactional mail\. Its subject /,
    );
  });

  test(`${check.id} check reports error when the header exceeds the limit`, async () => {
    const text = `${'X: y\n'.repeat(250_000)}${message(WEB)}`;
    const finding = await runCheck(check, { message: text, kind: 'marketing' });
    assert.equal(finding.status, 'error');
  });
}

test('list_unsubscribe check proposes both header fields at the sender’s domain', async () => {
  const finding = await runCheck(listUnsubscribeCheck, {
    message: goodMessage({ From: 'a@shop.example' }),
    kind: 'marketing',
  });
  assert.match(finding.fix!.text, /List-Unsubscribe: <https:\/\/shop\.example\//);
  assert.match(finding.fix!.text, /List-Unsubscribe-Post: List-Unsubscribe=One-Click/);
});

test('list_unsubscribe check handles hostile fields quickly', async () => {
  const started = cpuTime();
  for (const item of ['<https://example.com/u>,', '(', '<', '<x> ', ',']) {
    const finding = await runCheck(listUnsubscribeCheck, {
      message: goodMessage({ 'List-Unsubscribe': item.repeat(1_000_000 / item.length) }),
      kind: 'marketing',
    });
    assert.ok(JSON.stringify(finding).length < 10_000, item);
  }
  assert.ok(cpuTime() - started < 3000);
});

/** With SPF, DKIM and DMARC known, so that there is a score. */
async function analyzed(text: string) {
  const known = ['spf', 'dkim', 'dmarc'].map((id) => fakeCheck(id, 'pass', { points: 30 }));
  const result = await analyze(
    { ...INPUT, raw: Buffer.from(text.replaceAll('\n', '\r\n')), kind: 'marketing' },
    { resolver: zoneResolver({}), checks: [...known, listUnsubscribeCheck, oneClick] },
  );
  const of = (id: string) => result.checks.find((check) => check.id === id)!;
  return { result, list: of('list_unsubscribe'), click: of('one_click') };
}

test('one_click check follows from list_unsubscribe, which carries the cap', async () => {
  for (const text of [message(null, null), message(null), message('nonsense', null)]) {
    const { result, list, click } = await analyzed(text);
    assert.deepEqual(
      [list.status, click.detail],
      ['fail', 'Not checked: List-Unsubscribe failed.'],
    );
    assert.deepEqual([result.score, result.cap?.limit], [75, 75]);
    assert.equal(list.gain, 25);
  }
});

test('one_click check failing alone caps the score', async () => {
  const { result, list, click } = await analyzed(message(MAIL));
  assert.deepEqual([list.status, click.status, result.cap?.limit], ['pass', 'fail', 75]);
});
