/** `merge_tags`: merge tags of many email services, and text that only resembles them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { mergeTags } from '../../../src/analysis/checks/merge-tags.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const html = (body: string) =>
  goodMessage(
    { 'Content-Type': 'text/html; charset=utf-8' },
    `<html><body>${body}</body></html>\n`,
  );
const both = (text: string, body: string) =>
  goodMessage(
    { 'Content-Type': 'multipart/alternative; boundary=x' },
    `--x\nContent-Type: text/plain; charset=utf-8\n\n${text}\n--x\nContent-Type: text/html; charset=utf-8\n\n${body}\n--x--\n`,
  );
const subject = (text: string) => goodMessage({ Subject: text });

const TAGS = [
  '{{name}}',
  '{{ first_name }}',
  '{{{unescaped}}}',
  '{{ contact.firstname | default: "friend" }}',
  '{{#if premium}}',
  '{% if customer %}',
  '%FIRSTNAME%',
  '%first_name%',
  '%FirstName%',
  '%%First Name%%',
  '%%=v(@name)=%%',
  '*|FNAME|*',
  '*|LIST:COMPANY|*',
  '<%= name %>',
  '<%= @user.first_name %>',
  `\${name}`,
  `\${customer.name}`,
  '##name##',
  '[[first_name]]',
  '[[data:email]]',
  '[First Name]',
  '{first_name}',
  '{{ naïve_feld }}',
];

for (const tag of TAGS)
  test(`merge_tags check finds ${tag} in text, HTML, alt text, subject and preheader`, async () => {
    // As an editor writes it: `<` is text.
    const shown = tag.replaceAll('<', '&lt;');
    const hidden = `<div style="display:none">Hi ${shown}</div><p>Hello</p>`;
    const places: [string, string][] = [
      [goodMessage({}, `Dear ${tag}, hello.\n`), 'text_part'],
      [html(`<p>Dear ${shown}, hello.</p>`), 'html'],
      [html(`<p>Hello</p><img alt='Hi ${shown}' src="https://example.com/a.png">`), 'html'],
      [subject(`${tag}, your order`), 'subject'],
      [html(hidden), 'preheader'],
    ];
    for (const [message, place] of places) {
      const { status, evidence, fix } = await runCheck(mergeTags, { message });
      assert.equal(status, 'fail', place);
      assert.deepEqual(evidence, { [place]: [tag] });
      assert.ok(fix?.text);
    }
  });

const link = (href: string) => html(`<p>Hello, <a href="${href}">here</a> it is.</p>`);

const cases: [string, string, CheckStatus, RegExp?][] = [
  [
    'a link with a tag',
    link('https://example.com/?u={{id}}'),
    'fail',
    /Your links contain .*\{\{id\}\}/,
  ],
  [
    'a link with an encoded tag',
    link('https://example.com/?u=%7B%7Bid%7D%7D'),
    'fail',
    /\{\{id\}\}/,
  ],
  ['a link with percent signs', link('https://example.com/%FIRSTNAME%'), 'fail'],
  ['a link with bars', link('https://example.com/*%7CUNSUB%7C*'), 'fail', /\*\|UNSUB\|\*/],
  ['a URL in the text', goodMessage({}, 'See https://example.com/*|UNSUB|*\n'), 'fail', /links/],
  [
    'tags in text and link, the worse counts',
    both('Dear %FNAME%', '<a href="https://x.example/{{id}}">x</a>'),
    'fail',
  ],

  [
    'a tag in an image',
    html('<p>Hello</p><img src="https://example.com/{{user.image}}.png">'),
    'fail',
    /Your images contain .*\{\{user\.image\}\}/,
  ],
  [
    'a tag in List-Unsubscribe',
    goodMessage({ 'List-Unsubscribe': '<https://example.com/u/{{unsubscribe_id}}>' }),
    'fail',
    /Your unsubscribe addresses contain .*\{\{unsubscribe_id\}\}/,
  ],
  [
    'a tag in Reply-To',
    goodMessage({ 'Reply-To': '*|REPLY|* <a@example.com>' }),
    'fail',
    /\*\|REPLY/,
  ],
  ['a tag in To', goodMessage({ To: '%VORNAME% <a@example.com>' }), 'fail', /shows an unfilled/],
  [
    'a tag in Feedback-ID',
    goodMessage({ 'Feedback-ID': '{{kampagne}}:a:b:c' }),
    'fail',
    /kampagne/,
  ],

  ['no tags', goodMessage(), 'pass'],
  ['no subject', goodMessage({ Subject: null }), 'pass'],
  [
    'percentages',
    goodMessage({}, 'Save 50% off, 100% now, 20%-30%, 5%OFF% and 100%% sure 50%%.\n'),
    'pass',
  ],
  ['a word between two percentages', goodMessage({}, '10% DISCOUNT 20% TODAY 30%\n'), 'pass'],
  [
    'percent-encoding',
    link('https://example.com/caf%C3%A9MENU%20a%20b?q=%E2%82%ACPRICE%20&r=%20SALE%20'),
    'pass',
  ],
  [
    'a percent-encoded URL in the text',
    goodMessage({}, 'https://example.com/%A9MENU%20x\n'),
    'pass',
  ],
  [
    'styles and scripts',
    html('<style>@media x{a{b:c}}.a{{color:red}} .x{content:"{{name}}"}</style><p>Hello</p>'),
    'pass',
  ],
  ['JSX in the text', goodMessage({}, "Write style={{color: 'red'}} there.\n"), 'pass'],
  [
    'prices, currencies and brackets',
    goodMessage({}, '$100 {1} [2] {a, b} [x] $[3] [Unsubscribe]\n'),
    'pass',
  ],
  ['headings and rules of Markdown', goodMessage({}, '## Title ##\n\n### More\n\n####\n'), 'pass'],
  [
    'environment variables',
    goodMessage({}, `Open %APPDATA% or \${HOME}/bin or \${JAVA_HOME}.\n`),
    'pass',
  ],
  [
    'a code sample in the text',
    goodMessage({}, `So:\n\n    echo \${name} {{name}}\n\nor \`{{name}}\`.\n`),
    'pass',
  ],
  ['a fenced code sample', goodMessage({}, 'So:\n\n```\nHi {{name}}\n```\n'), 'pass'],
  [
    'a code sample in both parts',
    both('Hi {{name}}', '<p>Write <code>Hi {{name}}</code></p>'),
    'pass',
  ],
  [
    'a code sample, and a tag in a link',
    html('<pre>{{name}}</pre><a href="https://example.com/{{id}}">x</a>'),
    'fail',
  ],
  [
    'no tags up to a limit',
    goodMessage(
      { 'Content-Type': 'multipart/mixed; boundary=x' },
      `${'--x\nContent-Type: text/plain\n\na\n'.repeat(1001)}--x--\n`,
    ),
    'error',
    /1,001 MIME parts/,
  ],
  ['no tags in a text over the limit', goodMessage({}, 'Hello there\n'.repeat(100_000)), 'error'],
];

for (const [name, message, status, expected] of cases)
  test(`merge_tags check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(mergeTags, { message });
    assert.equal(finding.status, status, JSON.stringify(finding.evidence));
    if (expected) assert.match(`${finding.title} ${finding.detail}`, expected);
    assert.equal(finding.fix === undefined, status !== 'warn' && status !== 'fail');
  });

test('merge_tags check keeps evidence short for thousands of tags', async () => {
  const tags = Array.from({ length: 5000 }, (_, i) => `{{ name_${i}_${'x'.repeat(40)} }}`);
  const { evidence, title } = await runCheck(mergeTags, {
    message: goodMessage({}, `${tags.join('\n')}\n`),
  });
  assert.ok(JSON.stringify(evidence).length < 2000);
  assert.ok(title.length < 200);
});

test('merge_tags check scans a megabyte of tag starts quickly', async () => {
  for (const start of ['{{', '{{a ', '{% if ', '*|A', '%%a', '<%a', '${a[', '##a', '[[a_', '%A']) {
    const message = goodMessage({}, `${start.repeat(100_000 / start.length)}\n`.repeat(9));
    const started = cpuTime();
    await runCheck(mergeTags, { message });
    assert.ok(cpuTime() - started < 2000, start);
  }
});
