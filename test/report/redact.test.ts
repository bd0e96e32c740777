/** Public reports contain no message, no address of a test or seed mailbox, and no usable link. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../../src/analysis/check.ts';
import type { AnalysisResult, CheckResult } from '../../src/analysis/result.ts';
import { responseFilter } from '../../src/http/response.ts';
import { sharedPage } from '../../src/report/html/report-page.tsx';
import { sharedPdf } from '../../src/report/pdf/pdf.ts';
import { redactReport } from '../../src/report/redact.ts';
import { addressRule, hostIn } from '../../src/report/redact-addresses.ts';
import type { Report } from '../../src/report/report.ts';
import { PublicTest } from '../../src/shares/schema.ts';
import { COMPLIANCE, CONTENT } from '../analysis/planted/message.ts';
import { INFRASTRUCTURE } from '../analysis/planted/sender.ts';
import { analyzeWorld, cleanWorld, type World } from '../analysis/planted/world.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { badReport, goodReport, newsletterReport, shareOf } from './reports.ts';

const TOKEN = 'k3x9w2m7p4q8r5t1';
const SEEDS = ['seed.one@mail.example', 'seed-two@post.example'];
const CONCEAL = [TOKEN, ...SEEDS];

/** Puts the recipient and the seeds in every place where sending programs put them. */
function reveal(world: World): void {
  const to = [`${TOKEN}@tests.example`, ...SEEDS];
  const { fields, envelope } = world;
  if (fields.To) fields.To = to.join(', ');
  if (envelope.mail_from?.startsWith('bounce@'))
    envelope.mail_from = `bounce+seed.one=mail.example@${envelope.mail_from.split('@')[1]}`;
  const reader = (text: string) =>
    text
      .replaceAll('/u/4711', `/u/${TOKEN.toUpperCase()}`)
      .replaceAll('example.com/bread"', `example.com/bread?for=seed-two%40post.example"`);
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') fields[name] = reader(value);
  fields['Reply-To'] ??= `Shop <answer+${TOKEN}@example.com>`;
  world.text = reader(world.text);
  world.html = reader(world.html);
}

const cutAddresses = addressRule(
  new Set(['news@shop.example', 'https://lists.example/ask', 'https://www.spamcop.net/bl.shtml']),
);

const reportOf = (result: AnalysisResult): Report => ({
  ...result,
  id: 'test_1',
  name: `Sent to ${SEEDS[0]}`,
  received_at: '2026-11-21T10:00:00.000Z',
  completed_at: '2026-11-21T10:00:02.000Z',
  envelope: { mail_from: 'bounce@example.com', client_ip: '203.0.114.7', helo: null, tls: null },
  placement: [{ provider: 'Gmail', placement: 'inbox', seconds: 4 }],
  message: null,
  preview: null,
});

/** Texts of every planted message, and its unsubscribe link. */
const MESSAGE_TEXTS = ['Bread that is', 'Linen, frost and dumplings', '/u/'];
const RECIPIENT_TEXTS = [TOKEN, 'seed.one', 'seed-two'];

const foundIn = (report: Report, texts: string[]): string[] => {
  const json = JSON.stringify(report).toLowerCase();
  return texts.filter((text) => json.includes(text.toLowerCase()));
};

describe('redactReport for every planted defect', () => {
  it('removes message content, recipient and seed addresses', async () => {
    const known = new Set<string>();
    for (const defect of [null, ...COMPLIANCE, ...CONTENT, ...INFRASTRUCTURE]) {
      const world = cleanWorld();
      defect?.plant(world);
      reveal(world);
      const report = reportOf(await analyzeWorld(world));
      for (const text of foundIn(report, [...MESSAGE_TEXTS, ...RECIPIENT_TEXTS])) known.add(text);
      const cut = redactReport(report, CONCEAL);
      assert.deepEqual(foundIn(cut, RECIPIENT_TEXTS), [], defect?.name);
      assert.deepEqual(foundIn(cut, MESSAGE_TEXTS), [], defect?.name);
    }
    // The team report shows them, so the search works.
    assert.deepEqual([...known].sort(), [...MESSAGE_TEXTS, ...RECIPIENT_TEXTS].sort());
  });
});

describe('redactReport', () => {
  it('keeps scores, verdicts, reasons and fixes except addresses', async () => {
    for (const report of [await goodReport(), await badReport(), await newsletterReport()]) {
      const cut = redactReport(report, CONCEAL);
      const kept = report.checks.filter(({ id }) => !['preheader', 'received_path'].includes(id));
      const { checks: _, message, preview, envelope, ...rest } = cut;
      // The sample is a complete result; fields that a report does not declare are dropped.
      const { checks: __, message: ___, preview: _______, envelope: ____, ...result } = report;
      const { uncapped: _____, temporary: ______, ...whole } = result as Report & AnalysisResult;
      assert.deepEqual(rest, whole);
      assert.deepEqual([message, preview, envelope], [null, null, null]);
      const without = (checks: Report['checks']) =>
        checks.map((check) => ({ ...check, evidence: {}, fix: { ...check.fix, record: null } }));
      const [actual, expected] = [without(cut.checks), without(kept)];
      for (const check of expected) {
        check.detail = cutAddresses(check.detail, 'sentence');
        // Fixes contain only example addresses and a blocklist page, except the mailbox for reports.
        if (check.fix.text) check.fix.text = check.fix.text.replace('dmarc-reports@', '…@');
      }
      assert.deepEqual(actual, expected);
    }
  });

  it('keeps evidence except what reveals the message', async () => {
    const report = await newsletterReport();
    const cut = redactReport(report, []);
    const changed = cut.checks.filter(({ id, evidence }) => {
      const before = report.checks.find((check) => check.id === id)!.evidence;
      return JSON.stringify(evidence) !== JSON.stringify(before);
    });
    assert.deepEqual(changed.map(({ id }) => id).sort(), [
      'attachments',
      'link_status',
      'list_unsubscribe',
      'message_id',
      'message_size',
      'one_click',
      'return_path',
      'spf',
      'text_matches_html',
      'tracking_pixel',
      'unsubscribe_link',
    ]);
    const evidence = (id: string) => cut.checks.find((check) => check.id === id)!.evidence;
    assert.deepEqual(evidence('list_unsubscribe'), {
      https: ['https://shop.example/…'],
      mailto: ['mailto:…@shop.example'],
      http: [],
    });
    assert.equal(evidence('spf').checked, '…@shop.example');
    assert.deepEqual(evidence('attachments'), { attachments: 2 });
    const links = evidence('link_status').links as { href: string; status: string }[];
    assert.deepEqual(
      links.map(({ href, status }) => [status, href]),
      [
        ['unknown', 'https://shop.example/…'],
        ['works', 'https://shop.example/…'],
        ['not_asked', 'https://shop.example/…'],
      ],
    );
  });

  it('removes addresses from spam engine rules', async () => {
    const report = await badReport();
    const engine = report.checks.find(({ id }) => id === 'spamassassin')!;
    const [rule] = engine.evidence.rules as { [key: string]: Json }[];
    rule!.description = 'Recipients differ: m:someone@mail.example,s:other@post.example';
    engine.fix = { text: `Change: ${rule!.description}` };
    const cut = redactReport(report, []).checks.find(({ id }) => id === engine.id)!;
    const words = 'Recipients differ: m:…,s:…';
    assert.equal((cut.evidence.rules as { description: string }[])[0]!.description, words);
    assert.equal(cut.fix!.text, `Change: ${words}`);
    assert.equal(cut.reference.url, engine.reference.url);
  });

  it('removes concealed texts in every notation', async () => {
    const report = await goodReport();
    const forms = [
      'SEED.ONE@Mail.Example',
      'seed.one=mail.example',
      'seed.one%40mail.example',
      `x${TOKEN}y`,
    ];
    const check = report.checks[0]!;
    Object.assign(check, { title: forms.join(' '), detail: forms.join(' ') });
    check.evidence = { [forms[0]!]: { deep: [[forms.toReversed().join(' ')]] } };
    report.providers[0]!.rules[0]!.detail = forms.join(' ');
    Object.assign(report, { subject: forms[1], from_address: forms[0], summary: forms[3] });
    report.judged_kind.reasons = forms;
    const cut = redactReport(report, [...CONCEAL, 'a+b(c@x.example', '', 'ab']);
    assert.deepEqual(foundIn(cut, RECIPIENT_TEXTS), []);
    assert.equal(cut.checks[0]!.title, '… … … x…y');
    assert.equal(cut.score, 100);
  });
});

describe('Redacted link or image URL', () => {
  it('shows only its host', () => {
    for (const [address, shown] of [
      ['https://shop.example/u/1?x=2#y', 'https://shop.example/…'],
      ['http://shop.example:8080/', 'http://shop.example:8080/…'],
      ['https://shop.example?reset=1', 'https://shop.example/…'],
      ['https://user:secret@shop.example/', 'https://shop.example/…'],
      ['//user:secret@shop.example/reset', '//shop.example/…'],
      ['HTTPS:\\\\shop.example\\reset', 'https://shop.example/…'],
      ['https:shop.example/reset', 'https://shop.example/…'],
      ['https%3A%2F%2Fshop.example%2Freset', 'https://shop.example/…'],
      ['https%253A%252F%252Fme%2540shop.example%252Freset', 'https://shop.example/…'],
      ['https://shop.example/a b c', 'https://shop.example/…'],
      ['https://[2001:db8::1]:80/reset', 'https://[2001:db8::1]:80/…'],
      ['203.0.114.7/reset', '203.0.114.7/…'],
      ['shop://open/reset', 'shop://open/…'],
      ['mailto:leave+81@shop.example?subject=x', 'mailto:…@shop.example'],
      ['mailto:leave%40shop.example', 'mailto:…@shop.example'],
      ['mailto:k3x9', 'mailto:…'],
      ['tel:+491234', 'tel:…'],
      ['data:text/plain,k3x9', 'data:…'],
      ['{{unsubscribe}}', '…'],
      ['reset?token=1', '…'],
      ['/reset/1', '…'],
      ['www.shop.example', 'www.shop.example'],
    ])
      assert.equal(hostIn(address!), shown, address);
  });
});

describe('Redacted address in text', () => {
  it('is cut to its host in any context', () => {
    for (const [text, shown] of [
      ['See https://shop.example/reset/1, please.', 'See https://shop.example/…, please.'],
      ['(shop.example/reset/1)', '(shop.example/…)'],
      ['shop.example%2Freset%3Ftoken%3D1 fails', 'shop.example/… fails'],
      ['user:secret@shop.example/reset', '…@shop.example/…'],
      ['The link /reset/1 is dead', 'The link … is dead'],
      ['“https://shop.example/a”', '“https://shop.example/…”'],
      ['by reader%40mail.example', 'by …@mail.example'],
      ["<o'hara+list=mail.example@shop.example>", '<…@shop.example>'],
      ['"a reader"@mail.example', '…@mail.example'],
      ["url('https://shop.example/a.png')", "url('https://shop.example/…')"],
      ['v=DMARC1; rua=mailto:all@shop.example', 'v=DMARC1; rua=mailto:…@shop.example'],
      ['...https://intranet/SECRET', '...https://intranet/…'],
      ['1https://intranet/SECRET', '1https://intranet/…'],
      ['..shop.example/r/SECRET', '..shop.example/…'],
      ['--shop.example/r/SECRET', '--shop.example/…'],
      ['a.-shop.example/r/SECRET', 'a.-shop.example/…'],
      ['localhost/SECRET', 'localhost/…'],
      ['localhost:8080/SECRET', 'localhost:8080/…'],
      ['[::1]/SECRET', '[::1]/…'],
      ['[::1]:8080/SECRET', '[::1]:8080/…'],
      ['otpauth:totp/SECRET', 'otpauth:…'],
      ['magnet:?xt=SECRET', 'magnet:…'],
      ['itms-services:?action=SECRET', 'itms-services:…'],
      ['to shop:?t=SECRET', 'to shop:…'],
      ['x=/u/SECRET', 'x=…'],
      ['x>/u/SECRET', 'x>…'],
      ['[/u/SECRET', '[…'],
      ['‘/u/SECRET', '‘…'],
      ['at ../../u/SECRET', 'at …'],
    ])
      assert.equal(cutAddresses(text!, 'sentence'), shown);
  });

  it('keeps the From address, blocklist pages and text without addresses', () => {
    for (const text of [
      'From news@shop.example.',
      'NEWS@shop.example',
      'Ask at https://lists.example/ask (List).',
      'at https://mta-sts.shop.example/.well-known/mta-sts.txt, then',
      'v=spf1 ip4:203.0.114.0/25 a:shop.example/24//64 include:spf.shop.example -all',
      'text/html; and/or 2001:db8::/32, TLSv1.3, 550 5.7.26',
      'Do you own shop.example? Yes.',
      'javascript: addresses and <base href> in </style>',
      '2026-11-21T10:00:00.000Z',
      '?all',
      '?include:_spf.example.com',
      'localhost [::1] mail.shop.example',
      'Outlook.com/Hotmail',
      'Content-Type: text/html, Europe/Berlin',
    ])
      for (const kind of ['sentence', 'evidence'] as const)
        assert.equal(cutAddresses(text, kind), text);
  });

  it('is cut in evidence whatever its scheme', () => {
    for (const [text, shown] of [
      ['shop:open/SECRET', 'shop:…'],
      ['see shop:open/SECRET here', 'see shop:… here'],
      ['?t=SECRET', '…'],
      ['../../u/SECRET', '…'],
      ['a:shop.example/24 ip4:203.0.114.0/25', 'a:shop.example/24 ip4:203.0.114.0/25'],
    ])
      assert.equal(cutAddresses(text!, 'evidence'), shown);
  });

  it('is found quickly in 100,000 characters', () => {
    const pieces = [
      'a.',
      'a',
      '@',
      "a'",
      '/',
      '%25',
      'a-',
      'a:',
      '//a',
      '-',
      '.',
      '../',
      'x:y',
      '[',
    ];
    const long = [...pieces, '--a', 'a--', `${'a'.repeat(62)}.`, 'a-a-a-a.', 'x?', 'localhost.'];
    for (const kind of ['sentence', 'evidence'] as const)
      for (const piece of long) {
        const text = piece.repeat(Math.ceil(100_000 / piece.length));
        const before = cpuTime();
        cutAddresses(`x ${text}/`, kind);
        const took = cpuTime() - before;
        assert.ok(took < 200, `${piece} as ${kind}: ${took} ms`);
      }
  });

  it('is found quickly in long text', () => {
    const pieces = ['a.', 'a', '@', "a'", '/', '%25', 'a-', 'a:', '//a', '"a', 'x.y/', 'https:'];
    const texts = [...pieces.map((piece) => piece.repeat(100_000)), `x.y/${')'.repeat(200_000)}x`];
    const start = cpuTime();
    for (const text of texts) cutAddresses(text, 'sentence');
    // In quadratic time, a single piece would exceed the limit.
    assert.ok(cpuTime() - start < 5000);
  });
});

const SECRET = 'k7tok4711';
const CUT_LINKS = [
  `https://shop.example/password/reset?t=${SECRET}`,
  `http://shop.example/confirm/${SECRET}#${SECRET}`,
  `//shop.example/unsubscribe/${SECRET}`,
  `https://me:${SECRET}@shop.example/`,
  `shop.example/u/${SECRET}`,
  `https%3A%2F%2Fshop.example%2Fu%2F${SECRET}`,
  `reader.${SECRET}@mail.example`,
  `/reset/${SECRET}`,
];

it('redactReport leaves no link, mailbox or password in any check', async () => {
  const report = await newsletterReport();
  const text = CUT_LINKS.join(' and ');
  for (const check of report.checks) {
    Object.assign(check, { title: text, detail: `${check.detail} ${text}` });
    check.evidence = { ...check.evidence, ...Object.fromEntries(CUT_LINKS.entries()) };
    check.evidence.links = CUT_LINKS.map((href) => ({ href, text: href }));
    check.evidence.found = CUT_LINKS.map((src) => ({ src, problem: `leads to ${src}` }));
    check.fix = { text, record: { type: 'TXT', name: 'a.example', value: text } };
  }
  for (const { rules } of report.providers) for (const rule of rules) rule.detail = text;
  Object.assign(report, { summary: text, subject: text });
  report.judged_kind.reasons = CUT_LINKS;
  report.cap = { limit: 40, reason: text, reference: 'RFC 7489' };
  const cut = redactReport(report, []);
  assert.deepEqual(foundIn(cut, [SECRET]), []);
  assert.ok(foundIn(cut, ['https://shop.example/…', '…@mail.example']).length === 2);
});

for (const [ending, where] of [
  ['is of type .js, which Gmail blocks', 'in an archive'],
  ['some email clients open as a .js file', 'hidden by broken MIME'],
])
  it(`redactReport shows only the extension of a file ${where}, and only in findings`, async () => {
    const report = await newsletterReport();
    const check = report.checks.find(({ id }) => id === 'attachments')!;
    const problem = `contains offers/anna-smith.js, which ${ending}`;
    check.title = `Your attachment Anna (draft).zip ${problem}.`;
    check.evidence = {
      attachments: 2,
      found: [{ file: 'Anna (draft).zip', type: 'application/zip', octets: 9, problem }],
    };
    report.summary = `First: ${check.title}`;
    const cut = redactReport(report, []);
    const title = `Your attachment ….zip contains ….js, which ${ending}.`;
    assert.equal(cut.checks.find(({ id }) => id === check.id)!.title, title);
    assert.equal(cut.summary, `First: ${title}`);
    assert.deepEqual(foundIn(cut, ['anna', 'banner.png', 'size-guide']), []);
  });

/** All keys and texts in a value. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...wordsOf(inner),
  ]);
}

/** A report with these file names: one in a finding, one in an archive, the others as parts. */
function withFiles(report: Report, [first, ...others]: string[]): Report {
  const made = structuredClone(report);
  const check = made.checks.find(({ id }) => id === 'attachments')!;
  const found = [first!, ...others].map((file) => ({
    file,
    type: 'application/zip',
    octets: 9,
    problem: `contains ${file}, which is of type .js, which Gmail blocks`,
  }));
  check.title = `Your attachment ${first} ${found[0]!.problem}.`;
  check.evidence = { attachments: found.length, found };
  made.summary = `First: ${check.title}`;
  made.providers[0]!.rules[0]!.detail = check.title;
  const parts = [first!, ...others].map((filename) => ({ type: 'text/html', filename, octets: 9 }));
  made.checks.find(({ id }) => id === 'message_size')!.evidence.largest_parts = parts;
  return made;
}

it('redactReport redacts only the file name when a file is named like a field or a common word', async () => {
  const report = await badReport();
  report.message = null;
  const unnamed = (files: string[]) =>
    JSON.stringify(
      redactReport(withFiles(report, files), []).checks.filter(({ id }) => id !== 'spamassassin'),
    );
  const words = [...new Set([...wordsOf(report), 'pass', 'logo', 'image', '2026', 'text'])].filter(
    (word) => word.length >= 4 && word.length <= 100 && !/[./@?:]/.test(word),
  );
  assert.ok(
    words.length > 200 &&
      ['title', 'checks', 'status', 'warn'].every((word) => words.includes(word)),
  );
  const all = redactReport(withFiles(report, words), []);
  const plain = redactReport(
    withFiles(
      report,
      words.map(() => 'qqqqzzzz'),
    ),
    [],
  );
  // Only descriptions of a spam engine may lose a word.
  const outside = (each: Report) => ({
    ...each,
    checks: each.checks.map((check) =>
      check.id === 'spamassassin' ? { id: check.id, status: check.status } : check,
    ),
  });
  assert.deepEqual(outside(all), outside(plain));
  const keysOf = (each: Report) => JSON.stringify(each, (_, v) => (typeof v === 'string' ? '' : v));
  assert.equal(keysOf(all), keysOf(plain));
  const neutral = unnamed(['qqqqzzzz']);
  for (const word of words) assert.equal(unnamed([word]), neutral, word);
  const share = shareOf([withFiles(report, words)]);
  assert.equal(sharedPage(share).includes('qqqqzzzz'), false);
  assert.ok((await sharedPdf(share)).length > 1000);
});

it('redactReport removes file names from spam engine results and fixes', async () => {
  const report = withFiles(await badReport(), ['anna smith.zip', 'URG_BIZ', 'half']);
  const engine = report.checks.find(({ id }) => id === 'spamassassin')!;
  const [rule] = engine.evidence.rules as { [key: string]: Json }[];
  rule!.description = 'Holds anna smith.zip, behalf';
  engine.fix = { text: `Change: URG_BIZ (2.4: ${rule!.description}).` };
  const cut = redactReport(report, []).checks.find(({ id }) => id === engine.id)!;
  const [publicRule] = cut.evidence.rules as { rule: string; description: string }[];
  assert.deepEqual([publicRule!.rule, publicRule!.description], ['URG_BIZ', 'Holds ….zip, behalf']);
  assert.equal(cut.fix!.text, 'Change: URG_BIZ (2.4: Holds ….zip, behalf).');
});

it('redactReport keeps example addresses in fixes and removes message addresses', async () => {
  const report = await badReport();
  const [first, second] = report.checks;
  first!.fix = { text: 'Write "From: Example Ltd <news@example.com>" for <news+k7@example.com>.' };
  const own =
    'Add "<https://a.example/unsubscribe/TOKEN>, <mailto:unsubscribe@a.example?subject=TOKEN>"';
  second!.fix = { text: `${own} for https://a.example/unsubscribe/TOKEN/k7?u=news@example.com` };
  const [one, two] = redactReport(report, []).checks;
  assert.equal(one!.fix!.text, first!.fix.text.replace('news+k7', '…'));
  assert.equal(two!.fix!.text, `${own} for https://a.example/…`);
});

it('redactReport removes unsubscribe link text and header lines', async () => {
  const report = await newsletterReport();
  const find = (each: Report, id: string) => each.checks.find((check) => check.id === id)!;
  const line = 'Dear anna "x" smith';
  find(report, 'encoding').detail =
    `"${line}" has no field name before a colon. Some mail servers treat it as the start of the body.`;
  find(report, 'unsubscribe_link').evidence.links = [
    { href: 'https://shop.example/u/1', text: line, part: 'html' },
  ];
  const cut = redactReport(report, []);
  assert.deepEqual(find(cut, 'unsubscribe_link').evidence.links, [
    { href: 'https://shop.example/…', part: 'html' },
  ]);
  assert.equal(
    find(cut, 'encoding').detail,
    'The line has no field name before a colon. Some mail servers treat it as the start of the body.',
  );
});

it('redactReport removes non-public evidence from all sentences', async () => {
  const report = await goodReport();
  const words = ['Dear Anna', 'anna smith', 'free-offer', 'half'];
  const quote = `Your message says “${words[0]}”, ANNA SMITH and free-offer%20`;
  const check = (id: string, evidence: CheckResult['evidence']): CheckResult => ({
    ...structuredClone(report.checks[0]!),
    id,
    evidence,
    title: `${quote}.`,
    detail: quote,
    fix: { text: quote },
  });
  const evidence = { said: words[0]!, names: [words[1]!], deep: { list: [{ text: words[2]! }] } };
  report.checks = [check('check_of_tomorrow', evidence), check('tls', evidence)];
  report.summary = `First: ${quote}. Then the rest.`;
  const cut = redactReport(report, []);
  assert.deepEqual(
    cut.checks.map(({ title, detail, fix, evidence: shown }) => [title, detail, fix, shown]),
    [
      [report.checks[0]!.label, '', null, {}],
      [
        'Your message says “…”, … and …%20.',
        'Your message says “…”, … and …%20',
        { text: 'Your message says “…”, … and …%20' },
        {},
      ],
    ],
  );
  assert.doesNotMatch(JSON.stringify(cut.summary), /anna|free-offer/i);
});

it('redactReport removes quoted beginnings of values, and overlapping values as one', async () => {
  const report = await goodReport();
  const said = 'The quick brown fox jumps over the lazy dog at midnight';
  const check = structuredClone(report.checks.find(({ id }) => id === 'tls')!);
  report.checks = [
    {
      ...check,
      evidence: { said, also: 'lazy dog barks', it: 'barks at noon' },
      title: `It begins “${said.slice(0, 30)}…”.`,
      detail: 'A lazy dog barks at noon, said a friend.',
    },
  ];
  const [cut] = redactReport(report, []).checks;
  assert.equal(cut!.title, 'It begins “……”.');
  assert.equal(cut!.detail, 'A …, said a friend.');
});

/** Adds an undeclared field to the value and every object in it. */
function withUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownFields);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value).map(([key, item]) => [key, withUnknownFields(item)]);
  return { ...Object.fromEntries(inner), unknown_field: 'zqsecretqz' };
}

it('redactReport drops unknown fields in every format', async () => {
  for (const made of [goodReport, badReport, newsletterReport]) {
    const report = await made();
    const fixed = report.checks.find(({ fix }) => fix);
    if (fixed) fixed.fix!.record = { type: 'TXT', name: 'a.example', value: 'x' };
    report.cap = { limit: 40, reason: 'DMARC fails.', reference: 'RFC 7489' };
    const { checks, ...rest } = report;
    const planted = {
      ...(withUnknownFields(rest) as Report),
      // Checks declare the keys of their evidence.
      checks: checks.map((check) => ({
        ...(withUnknownFields({ ...check, evidence: {} }) as CheckResult),
        evidence: { ...check.evidence, unknown_field: 'zqsecretqz' },
      })),
    };
    assert.doesNotMatch(JSON.stringify(redactReport(planted, [])), /unknown_field|zqsecretqz/);
  }
  const test = responseFilter(PublicTest)(
    withUnknownFields({ id: 'test_1', address: 'a@b.example', cap: {} }),
  );
  assert.deepEqual(test, { id: 'test_1', cap: {} });
});

it('redactReport removes a value regardless of white space, case and adjacent letters', async () => {
  const report = await goodReport();
  const check = structuredClone(report.checks.find(({ id }) => id === 'tls')!);
  const title = 'The one says “Dear Anna Smith”.';
  const evidence = { said: ' Dear \n\t Anna\u00a0Smith ', also: 'link', name: 'Anna Jones' };
  const detail =
    'İ says “DEAR  ANNA\nSMITH”, “anna jones”, LINK%20a, b%20link, but not links or blinks.';
  report.checks = [{ ...check, evidence, title, detail }];
  report.summary =
    'It is refused: the one says “Dear Anna Smith”. First: The one says “Dear Anna Smith”.';
  const cut = redactReport(report, []);
  assert.equal(cut.checks[0]!.title, 'The one says “…”.');
  assert.equal(cut.checks[0]!.detail, 'İ says “…”, “…”, …%20a, b%20…, but not links or blinks.');
  assert.equal(cut.summary, 'It is refused: the one says “…”. First: The one says “…”.');
});
