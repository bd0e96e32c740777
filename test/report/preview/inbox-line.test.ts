import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeTags } from '../../../src/analysis/checks/merge-tags.ts';
import { preheader } from '../../../src/analysis/checks/preheader.ts';
import { type InboxInput, inboxLines } from '../../../src/report/preview/inbox-line.ts';
import { runCheck } from '../../helpers/analysis.ts';

const inbox = (input: Partial<InboxInput>) =>
  inboxLines({
    fromName: 'Acme Rail',
    fromAddress: 'news@acme.example',
    subject: 'New trains from December',
    html: null,
    text: null,
    ...input,
  });
const lineOf = (input: Partial<InboxInput>, list: string) =>
  inbox(input).lines.find((line) => line.list === list)!;

const PREHEADER = '<p style="display:none">Every thirty minutes, all day</p>';
const FILLER = `<p style="display:none">${'\u200c&nbsp;'.repeat(100)}</p>`;

test('Each list shows sender, subject and preview, and says what its widths rest on', () => {
  const { lines, previewSource, warnings } = inbox({ html: `${PREHEADER}${FILLER}<p>Hello` });
  assert.deepEqual(
    lines.map(({ list }) => list),
    ['Gmail', 'Gmail app', 'Apple Mail on iPhone', 'Apple Mail on Mac', 'Outlook for Windows'],
  );
  for (const line of lines) {
    assert.deepEqual(line.sender, { shown: 'Acme Rail', isCut: false });
    assert.deepEqual(line.subject, { shown: 'New trains from December', isCut: false });
    assert.deepEqual(line.preview, { shown: 'Every thirty minutes, all day', isCut: false });
    assert.match(line.basis, /^Estimate for .*\.$/);
  }
  assert.equal(previewSource, 'preheader');
  assert.deepEqual(warnings, []);
});

test('Gmail shares one line between subject and preview', () => {
  const html = `<p>${'Many more words than fit. '.repeat(20)}`;
  const withSubject = (subject: string) => lineOf({ html, subject }, 'Gmail').preview.shown.length;
  assert.ok(withSubject('Trains') > withSubject('Trains from December on all lines') + 20);
  assert.deepEqual(lineOf({ html, subject: 'Wide '.repeat(60) }, 'Gmail').preview, {
    shown: '',
    isCut: true,
  });
});

test('Outlook reads at most 255 characters of preview', () => {
  const html = `<p>${'i'.repeat(400)}`;
  assert.ok(lineOf({ html }, 'Outlook for Windows').preview.shown.length <= 256);
});

test('A subject from right to left is cut at its end, without override characters', () => {
  const subject = `\u202e${'الاجتماع غدا في الساعة العاشرة صباحا '.repeat(4)}`;
  const { shown, isCut } = lineOf({ subject }, 'Apple Mail on iPhone').subject;
  assert.ok(isCut);
  assert.ok(shown.startsWith('الاجتماع غدا'));
  assert.ok(shown.endsWith('…'));
});

test('A sender without a name is shown by address or local part', () => {
  assert.equal(lineOf({ fromName: '' }, 'Gmail').sender.shown, 'news');
  assert.equal(lineOf({ fromName: null }, 'Apple Mail on Mac').sender.shown, 'news@acme.example');
});

const INITIALS: [name: string | null, address: string | null, initials: string][] = [
  ['Acme Rail', 'news@acme.example', 'AR'],
  ['anna maria de la cruz', null, 'AC'],
  ['“Acme” | News', null, 'AN'],
  ['Acme', null, 'A'],
  ['Émile Zola', null, 'ÉZ'],
  ["O'Neil & Sons", null, 'OS'],
  ['山田 太郎', null, '山'],
  ['김민수', null, '김'],
  ['Иван Петров', null, 'ИП'],
  ['🚂 Acme 🚂', null, 'A'],
  ['news@acme.example', null, 'N'],
  ['***', 'news@acme.example', 'N'],
  [null, '7@acme.example', '7'],
  [null, null, '?'],
];
for (const [fromName, fromAddress, initials] of INITIALS)
  test(`The initials of ${fromName} <${fromAddress}> are ${initials}`, () => {
    assert.equal(lineOf({ fromName, fromAddress }, 'Outlook for Windows').initials, initials);
  });

const SOURCES: [what: string, input: Partial<InboxInput>, source: string, preview: string][] = [
  ['a preheader', { html: `${PREHEADER}<p>Hi` }, 'preheader', 'Every thirty minutes, all day Hi'],
  ['text', { html: '<p>Dear Anna</p><img src=a alt=Logo>' }, 'text', 'Dear Anna Logo'],
  ['an alt text', { html: '<img src=a alt="Acme logo"><p>Hi' }, 'alt', 'Acme logo Hi'],
  ['a hidden image', { html: '<img hidden src=a alt="Acme"><p>Hi' }, 'text', 'Hi'],
  ['no HTML', { text: 'Dear Anna,\n\n  see you' }, 'text_part', 'Dear Anna, see you'],
  ['HTML before a text part', { html: '<p>Hi', text: 'Other' }, 'text', 'Hi'],
  ['nothing', { html: '<img src=a>' }, 'none', ''],
];
for (const [what, input, source, preview] of SOURCES)
  test(`The preview of a message with ${what} starts with ${source}`, () => {
    assert.equal(inbox(input).previewSource, source);
    assert.equal(lineOf(input, 'Apple Mail on iPhone').preview.shown, preview);
  });

const WARNINGS: [input: Partial<InboxInput>, warning: RegExp][] = [
  [{ html: '<p>View this email in your browser' }, /link to the web version: “View this/],
  [{ html: '<p hidden>Offers</p><p>View in browser' }, /so short that the link to the web version/],
  [{ html: '<img src=a alt="Acme logo">' }, /alt text of an image: “Acme logo”/],
  [{ text: 'https://acme.example/a?b=c' }, /starts with a URL/],
  [{ html: '<a href=x>Unsubscribe</a> from this list' }, /offers to unsubscribe/],
  [{ subject: 'Our spring offers!', html: '<h1>Our Spring Offers</h1>' }, /repeats the subject/],
  [{ html: '<p>Hello {{first_name}}' }, /unfilled merge tag: \{\{first_name\}\}/],
  [{ subject: 'Hello *|FNAME|*', text: 'Trains' }, /unfilled merge tag: \*\|FNAME\|\*/],
  [{ html: '<p hidden>Lorem ipsum dolor' }, /text of the template/],
  [
    { html: '<p hidden>This is preheader text. Some clients will show this text as a preview.' },
    /text of the template/,
  ],
  [{ html: '<img src=a>' }, /no text for a preview/],
  [{ subject: null, text: 'Trains' }, /no subject/],
  [{ fromName: '', text: 'Trains' }, /no name/],
];
for (const [input, warning] of WARNINGS)
  test(`inboxLines warns for ${JSON.stringify(input)}`, () => {
    const { warnings } = inbox(input);
    assert.equal(warnings.length, 1, warnings.join(' '));
    assert.match(warnings[0]!, warning);
    assert.match(warnings[0]!, /\.$/);
  });

test('inboxLines does not warn about ordinary text', () => {
  for (const html of [
    '<p>Hello, here are the trains of the week',
    `${PREHEADER}<p>Hello`,
    '<p>Test your knowledge of preview text in our quiz</p>',
    '<pre>{{name}}</pre>',
  ])
    assert.deepEqual(inbox({ html }).warnings, [], html);
});

test('Warnings quote the hidden preview text in its public form', () => {
  const html = '<p hidden>Hi %%jane@acme.example%%</p><pre>code</pre>';
  const warnings = (publicText?: InboxInput['publicText']) =>
    inbox({ html, ...(publicText && { publicText }) }).warnings.join(' ');
  assert.match(warnings(), /unfilled merge tag: %%jane@acme\.example%%/);
  assert.match(
    warnings((text) => text.replaceAll('jane', 'j')),
    /merge tag: %%j@acme\.example%%/,
  );
});

test('The inbox line and the checks agree about preview text and merge tags', async () => {
  const bodies = [
    `${PREHEADER}<p>Hi`,
    `${PREHEADER}${FILLER}<p>Hi`,
    '<p>View in browser',
    '<p hidden>Offers</p><p>View in browser',
    '<img src=a alt="Logo of {{company}}"><p>Hi',
    '<pre>{{name}}</pre>',
    '<img src=a>',
  ];
  for (const html of bodies) {
    const message = `From: Acme <news@acme.example>\nSubject: Trains\nContent-Type: text/html; charset=utf-8\n\n${html}`;
    const check = await runCheck(preheader, { message });
    const { previewSource, warnings, lines } = inbox({ subject: 'Trains', html });
    const evidence = check.evidence as { preview?: string; from?: string } | undefined;
    assert.equal(evidence?.from ?? 'none', previewSource, html);
    assert.equal(evidence?.preview ?? '', lines[2]!.preview.shown, html);
    assert.equal(
      check.detail.includes('link to the web version'),
      warnings.some((warning) => warning.includes('link to the web version')),
      html,
    );
    const { status } = await runCheck(mergeTags, { message });
    assert.equal(
      status === 'fail',
      warnings.some((warning) => warning.includes('merge tag')),
      html,
    );
  }
});

test('inboxLines reads hostile input in bounded time and space', () => {
  const lines = inboxLines({
    fromName: 'a'.repeat(1_000_000),
    fromAddress: '@'.repeat(1_000_000),
    subject: `\ud800\u202e${'a\u0301'.repeat(1_000_000)}`,
    html: '<img alt="x">'.repeat(100_000),
    text: 'x'.repeat(1_000_000),
  });
  assert.ok(JSON.stringify(lines).length < 20_000);
});
