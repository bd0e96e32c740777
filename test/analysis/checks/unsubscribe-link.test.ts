/** `unsubscribe_link`, and which links count as unsubscribe links. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { unsubscribeLink } from '../../../src/analysis/checks/unsubscribe-link.ts';
import { unsubscribeLinks } from '../../../src/analysis/links/unsubscribe.ts';
import { contextFor, runCheck } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const html = (body: string) => goodMessage({ 'Content-Type': 'text/html; charset=utf-8' }, body);

const both = (text: string, body: string) =>
  goodMessage(
    { 'Content-Type': 'multipart/alternative; boundary=x' },
    `--x\nContent-Type: text/plain\n\n${text}\n--x\nContent-Type: text/html\n\n${body}\n--x--\n`,
  );

const T = 'https://click.example/ls/abc';
const link = (href: string, text: string) => `<p>Hello <a href="${href}">${text}</a></p>`;

const cases: [string, string, CheckStatus, RegExp][] = [
  ['recognized by text', html(link(T, 'Unsubscribe')), 'pass', /has an unsubscribe link/],
  ['recognized by German text', html(link(T, 'Newsletter abbestellen')), 'pass', /has an unsub/],
  [
    'recognized by URL',
    html(link('https://example.com/optout?id=1', 'Leave us')),
    'pass',
    /has an/,
  ],
  ['a mailto link', html(link('mailto:unsubscribe@example.com', 'Leave us')), 'pass', /has an/],
  ['an image with alt text', html(link(T, '<img src="x" alt="Unsubscribe">')), 'pass', /has an/],
  [
    'a "here" link beside the word',
    html(`<p>${link(T, 'here')} is news. To unsubscribe click <a href="${T}2">here</a>.</p>`),
    'pass',
    /has an/,
  ],
  [
    'a "here" link far from the word',
    html(`${link(T, 'here')}<p>${'x '.repeat(200)}unsubscribe`),
    'fail',
    /no unsubscribe link/,
  ],
  ['the word without a link', html('<p>To unsubscribe write to us.</p>'), 'fail', /has no unsub/],
  ['no link', html('<p>Hello</p>'), 'fail', /has no unsubscribe link/],
  ['other links', html(link(T, 'Read more')), 'fail', /has no unsubscribe link/],
  ['a paragraph as a link', html(link(T, `${'word '.repeat(100)} unsubscribe`)), 'fail', /has no/],
  [
    'a placeholder',
    html(link('{{unsubscribe_url}}', 'Unsubscribe')),
    'fail',
    /has no valid address/,
  ],
  ['an empty URL', html(link('#', 'Unsubscribe')), 'fail', /has no valid address/],
  [
    'a link without text',
    html(link('https://example.com/unsubscribe', '')),
    'warn',
    /no visible text/,
  ],
  [
    'a hidden link',
    html(
      `<div style="display:none">${link('https://example.com/unsubscribe', 'Unsubscribe')}</div>`,
    ),
    'warn',
    /no visible text/,
  ],
  ['a line in the text part', goodMessage({}, `Hello\nUnsubscribe: ${T}\n`), 'pass', /has an/],
  [
    'the word in the line above',
    goodMessage({}, `Hello\nTo unsubscribe:\n\n  <${T}>\n`),
    'pass',
    /has an/,
  ],
  ['the word after the URL', goodMessage({}, `Hello\n${T} (opt out)\n`), 'pass', /has an/],
  ['a URL in the text part', goodMessage({}, 'See https://example.com/unsubscribe'), 'pass', /has/],
  ['another line of the text', goodMessage({}, `No way to unsubscribe.\nSee ${T}\n`), 'fail', /no/],
  ['both parts', both(`Unsubscribe: ${T}`, link(T, 'Unsubscribe')), 'pass', /has an unsub/],
  [
    'both parts with different wording',
    both(`To unsubscribe: ${T}`, `<p>To unsubscribe, <a href="${T}">click here</a>.</p>`),
    'pass',
    /has an unsub/,
  ],
  [
    'a mail address after the word',
    html(`<p>Unsubscribe: <a href="${T}">${T}</a>`),
    'pass',
    /has an/,
  ],
  [
    'a title',
    html(`<a href="${T}" title="Unsubscribe"><img alt=""></a>`),
    'warn',
    /no visible text/,
  ],
  [
    'Baja as a place name',
    html(link('https://example.com/baja-california/', 'Baja')),
    'fail',
    /has no/,
  ],
  ['a host named like the word', html(link('https://baja.example.com/', 'Baja')), 'fail', /has no/],
  ['HTML without a link', both(`Unsubscribe: ${T}`, '<p>Hello'), 'fail', /The HTML .* has no/],
];

for (const [name, message, status, expected] of cases)
  test(`unsubscribe_link check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(unsubscribeLink, { message, kind: 'marketing' });
    assert.equal(finding.status, status, finding.title);
    assert.match(finding.title, expected);
    assert.equal(finding.fix !== undefined, status === 'warn' || status === 'fail');
  });

test('unsubscribe_link check is skipped for transactional mail', async () => {
  const finding = await runCheck(unsubscribeLink, { message: html(link(T, 'Unsubscribe')) });
  assert.equal(finding.status, 'skipped');
  assert.match(finding.detail, /^Not checked: your message is transactional mail\. Its subject /);
});

test('unsubscribe_link check reports error beyond parser limits', async () => {
  const parts = '--x\nContent-Type: text/plain\n\na\n'.repeat(1001);
  const message = goodMessage({ 'Content-Type': 'multipart/mixed; boundary=x' }, `${parts}--x--\n`);
  const finding = await runCheck(unsubscribeLink, { message, kind: 'marketing' });
  assert.equal(finding.status, 'error');
  assert.match(finding.detail, /1,001 MIME parts/);
});

test('unsubscribeLinks returns openable links in message order', async () => {
  const body = `${link(T, 'Read')}${link('{{u}}', 'Unsubscribe')}${link(`${T}1`, 'Opt out')}${link('mailto:unsubscribe@example.com', 'mail')}`;
  const context = await contextFor({ message: both(`Unsubscribe: ${T}2`, body) });
  assert.deepEqual(
    context.fact(unsubscribeLinks).map(({ href, source }) => [href, source]),
    [
      [`${T}1`, 'html'],
      ['mailto:unsubscribe@example.com', 'html'],
      [`${T}2`, 'text'],
    ],
  );
});

test('unsubscribe_link check finds the link next to the word among a thousand', async () => {
  const here = '<a href="https://example.com/a">click here</a> ';
  const body = `<p>${here.repeat(900)}</p>${'x '.repeat(100)}<p>To unsubscribe <a href="${T}">click here</a></p>`;
  const finding = await runCheck(unsubscribeLink, {
    message: html(`${body}${'x '.repeat(500_000)}`),
    kind: 'marketing',
  });
  assert.equal(finding.status, 'pass');
  assert.deepEqual(finding.evidence!.links, [{ href: T, text: 'click here', part: 'html' }]);
});

test('unsubscribe_link check is not misled by ligature characters', async () => {
  const grown = '\ufdfa'.repeat(280);
  const many = Array.from({ length: 900 }, (_, i) => link(`https://example.com/${i}`, grown));
  const message = html(`${many.join('')}${link(T, `${grown} unsubscribe`)}`);
  const context = await contextFor({ message });
  assert.deepEqual(
    context.fact(unsubscribeLinks).map(({ href }) => href),
    [T],
  );
});

test('unsubscribe_link check handles a thousand links in one line quickly', async () => {
  const text = `${'https://example.com/a unsubscribe '.repeat(2000)}${'x'.repeat(5_000_000)}`;
  const started = cpuTime();
  const finding = await runCheck(unsubscribeLink, {
    message: goodMessage({}, text),
    kind: 'marketing',
  });
  assert.equal(finding.status, 'pass');
  assert.ok(JSON.stringify(finding).length < 5000);
  assert.ok(cpuTime() - started < 2000);
});
