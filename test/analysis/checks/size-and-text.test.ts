/** `text_part`, `html_size` and `message_size`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, CheckStatus } from '../../../src/analysis/check.ts';
import { htmlSize } from '../../../src/analysis/checks/html-size.ts';
import { messageSize } from '../../../src/analysis/checks/message-size.ts';
import { textPart } from '../../../src/analysis/checks/text-part.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const html = (body: string, changes = {}) =>
  goodMessage({ 'Content-Type': 'text/html; charset=utf-8', ...changes }, body);

const parts = (subtype: string, ...list: [string, string][]) =>
  goodMessage(
    { 'Content-Type': `multipart/${subtype}; boundary=x` },
    `${list.map(([type, body]) => `--x\nContent-Type: ${type}\n\n${body}\n`).join('')}--x--\n`,
  );

/** `octets` of HTML whose transfer encoding is twice as long: what counts is the decoded size. */
const encodedHtml = (octets: number) =>
  html(`${'=41'.repeat(25)}=\n`.repeat(octets / 25).trimEnd(), {
    'Content-Transfer-Encoding': 'quoted-printable',
  });

/** A message of exactly that many octets. */
function sized(octets: number): string {
  const empty = goodMessage({}, '');
  const crlf = empty.split('\n').length - 1;
  return empty + 'x'.repeat(octets - empty.length - crlf);
}

const styled = (...sizes: number[]) => {
  const rules = (size: number) => 'p{color:red}\n'.repeat(Math.ceil(size / 13));
  const styles = sizes.map((size) => `<style>${rules(size)}</style>`).join('');
  return parts('mixed', ['text/html', `${styles}<p>Hello</p>\n`]);
};

const cases: [Check, string, string, CheckStatus, RegExp?][] = [
  [textPart, 'plain text', goodMessage(), 'pass'],
  [
    textPart,
    'text and HTML',
    parts('alternative', ['text/plain', 'Hello'], ['text/html', '<p>Hello']),
    'pass',
  ],
  [textPart, 'only HTML', html('<p>Hello'), 'warn', /HTML only/],
  [
    textPart,
    'only HTML in multipart/alternative',
    parts('alternative', ['text/html', '<p>Hello']),
    'warn',
    /HTML only/,
  ],
  [
    textPart,
    'an empty text part beside HTML',
    parts('alternative', ['text/plain', ''], ['text/html', '<p>Hello']),
    'fail',
    /is empty/,
  ],
  [
    textPart,
    'an invisible text part beside HTML',
    parts(
      'alternative',
      ['text/plain; charset=utf-8', ' \u200b\u00ad\ufeff\n'],
      ['text/html', '<p>Hello'],
    ),
    'fail',
    /is empty/,
  ],
  [textPart, 'an empty body', goodMessage({}, ''), 'fail', /has no text/],
  [
    textPart,
    'only an attachment',
    parts('mixed', ['application/pdf', '%PDF']),
    'fail',
    /has no text/,
  ],
  [
    textPart,
    'text as an attachment',
    parts('mixed', ['text/html', '<p>'], ['text/plain\nContent-Disposition: attachment', 'log']),
    'warn',
    /HTML only/,
  ],
  [
    textPart,
    'HTML whose text part may exceed a limit',
    parts('mixed', ...Array.from({ length: 1001 }, (): [string, string] => ['text/html', 'a'])),
    'error',
    /1,001 MIME parts/,
  ],
  [htmlSize, 'no HTML', goodMessage(), 'skipped'],
  [htmlSize, '80 KB', encodedHtml(80_000), 'pass'],
  [
    htmlSize,
    'more than 80 KB',
    encodedHtml(80_025),
    'warn',
    /close to the size at which Gmail clips/,
  ],
  [htmlSize, '102 KB', encodedHtml(102_000), 'warn', /102 KB/],
  [htmlSize, 'more than 102 KB', encodedHtml(102_025), 'fail', /Gmail clips/],
  [
    htmlSize,
    'HTML that may exceed a limit',
    parts('mixed', ...Array.from({ length: 1001 }, (): [string, string] => ['text/html', 'a'])),
    'error',
    /1,001 MIME parts/,
  ],
  [htmlSize, 'styles of 16 KB', styled(16_000), 'pass'],
  [
    htmlSize,
    'styles of more than 16 KB in two elements',
    styled(9000, 9000),
    'warn',
    /Gmail ignores some of your styles/,
  ],
  [messageSize, '1 MB', sized(1_000_000), 'pass'],
  [messageSize, 'more than 1 MB', sized(1_000_001), 'warn', /(1 MB)/],
  [messageSize, '10 MB', sized(10_000_000), 'warn'],
  [messageSize, 'more than 10 MB', sized(10_000_001), 'fail', /reject/],
];

for (const [check, name, message, status, expected] of cases)
  test(`${check.id} check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(check, { message });
    assert.equal(finding.status, status, finding.title);
    if (expected) assert.match(`${finding.title} ${finding.detail}`, expected);
    if (status === 'warn' || status === 'fail') assert.ok(finding.fix?.text);
  });

test('message_size check names the largest parts', async () => {
  const message = parts(
    'mixed',
    ['text/plain', 'a'],
    ['application/pdf; name=big.pdf', 'x'.repeat(500)],
  );
  const finding = await runCheck(messageSize, { message });
  assert.deepEqual(finding.evidence?.largest_parts, [
    { type: 'application/pdf', filename: 'big.pdf', octets: 500 },
    { type: 'text/plain', filename: null, octets: 1 },
  ]);
});
