/** What people outside of the team see of a report: no message, no address of a test or seed, nothing to act with. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../../src/analysis/check.ts';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { addressRule, hostIn } from '../../src/render/addresses-for-strangers.ts';
import { forStrangers } from '../../src/render/for-strangers.ts';
import type { Report } from '../../src/render/report.ts';
import { COMPLIANCE } from '../analysis/planted/compliance.ts';
import { CONTENT } from '../analysis/planted/content.ts';
import { INFRASTRUCTURE } from '../analysis/planted/infrastructure.ts';
import { cleanWorld, judge, type World } from '../analysis/planted/world.ts';
import { badReport, goodReport, newsletterReport } from './reports.ts';

const TOKEN = 'k3x9w2m7p4q8r5t1';
const SEEDS = ['seed.one@mail.example', 'seed-two@post.example'];
const CONCEAL = [TOKEN, ...SEEDS];

/** Recipient and seeds in every place where programs that send put them. */
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

const cutBy = addressRule(
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
});

/** Beginnings of the text that every planted message has, and its unsubscribe link. */
const OF_THE_MESSAGE = ['Bread that is', 'Linen, frost and dumplings', '/u/'];
const OF_PEOPLE = [TOKEN, 'seed.one', 'seed-two'];

const foundIn = (report: Report, texts: string[]): string[] => {
  const json = JSON.stringify(report).toLowerCase();
  return texts.filter((text) => json.includes(text.toLowerCase()));
};

describe('whatever is wrong with a message', () => {
  it('nothing of it, of its reader or of the seeds is in what strangers see', async () => {
    const known = new Set<string>();
    for (const defect of [null, ...COMPLIANCE, ...CONTENT, ...INFRASTRUCTURE]) {
      const world = cleanWorld();
      defect?.plant(world);
      reveal(world);
      const report = reportOf(await judge(world));
      for (const text of foundIn(report, [...OF_THE_MESSAGE, ...OF_PEOPLE])) known.add(text);
      const cut = forStrangers(report, CONCEAL);
      assert.deepEqual(foundIn(cut, OF_PEOPLE), [], defect?.name);
      assert.deepEqual(foundIn(cut, OF_THE_MESSAGE), [], defect?.name);
    }
    // The report of the team does show them: what is looked for would be found.
    assert.deepEqual([...known].sort(), [...OF_THE_MESSAGE, ...OF_PEOPLE].sort());
  });
});

describe('a report for strangers', () => {
  it('keeps scores, verdicts, reasons and remedies as they are, but for addresses', async () => {
    for (const report of [await goodReport(), await badReport(), await newsletterReport()]) {
      const cut = forStrangers(report, CONCEAL);
      const kept = report.checks.filter(({ id }) => !['preheader', 'received_path'].includes(id));
      const { checks: _, message, envelope, ...rest } = cut;
      const { checks: __, message: ___, envelope: ____, ...whole } = report;
      assert.deepEqual(rest, whole);
      assert.deepEqual([message, envelope], [null, null]);
      const without = (checks: Report['checks']) =>
        checks.map((check) => ({ ...check, evidence: {}, fix: { ...check.fix, record: null } }));
      const [told, own] = [without(cut.checks), without(kept)];
      for (const check of own) {
        check.detail = cutBy(check.detail, 'sentence');
        if (check.fix.text) check.fix.text = cutBy(check.fix.text, 'sentence');
      }
      assert.deepEqual(told, own);
    }
  });

  it('keeps the evidence but for what would hand out the message', async () => {
    const report = await newsletterReport();
    const cut = forStrangers(report, []);
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

  it('shows no address out of the rules of a spam engine', async () => {
    const report = await badReport();
    const engine = report.checks.find(({ id }) => id === 'spamassassin')!;
    const [rule] = engine.evidence.rules as { [key: string]: Json }[];
    rule!.description = 'Recipients differ: m:someone@mail.example,s:other@post.example';
    engine.fix = { text: `Change: ${rule!.description}` };
    const cut = forStrangers(report, []).checks.find(({ id }) => id === engine.id)!;
    const words = 'Recipients differ: m:…,s:…';
    assert.equal((cut.evidence.rules as { description: string }[])[0]!.description, words);
    assert.equal(cut.fix!.text, `Change: ${words}`);
    assert.equal(cut.reference.url, engine.reference.url);
  });

  it('conceals what it is told to in every text, however it is written', async () => {
    const report = await goodReport();
    const forms = [
      'SEED.ONE@Mail.Example',
      'seed.one=mail.example',
      'seed.one%40mail.example',
      `x${TOKEN}y`,
    ];
    const check = report.checks[0]!;
    Object.assign(check, { title: forms.join(' '), detail: forms.join(' ') });
    check.evidence = { [forms[0]!]: { deep: [[forms.join(' ')]] } };
    report.providers[0]!.rules[0]!.detail = forms.join(' ');
    Object.assign(report, { subject: forms[1], from_address: forms[0], summary: forms[3] });
    report.judged_kind.reasons = forms;
    const cut = forStrangers(report, [...CONCEAL, 'a+b(c@x.example', '', 'ab']);
    assert.deepEqual(foundIn(cut, OF_PEOPLE), []);
    assert.equal(cut.checks[0]!.title, '… … … x…y');
    assert.equal(cut.score, 100);
  });
});

describe('the address of a link or an image', () => {
  it('is told by its host alone', () => {
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

describe('an address in a sentence', () => {
  it('is cut to its host, whatever is around it', () => {
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
    ])
      assert.equal(cutBy(text!, 'sentence'), shown);
  });

  it('is the From address, or a page of a blocklist: then it stays, as does what is none', () => {
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
    ])
      for (const kind of ['sentence', 'evidence'] as const) assert.equal(cutBy(text, kind), text);
  });

  it('costs little to look for in a long text', () => {
    const pieces = ['a.', 'a', '@', "a'", '/', '%25', 'a-', 'a:', '//a', '"a', 'x.y/', 'https:'];
    const texts = [...pieces.map((piece) => piece.repeat(100_000)), `x.y/${')'.repeat(200_000)}x`];
    const start = performance.now();
    for (const text of texts) cutBy(text, 'sentence');
    // Looked at again from each of its letters, one alone would take longer.
    assert.ok(performance.now() - start < 5000);
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

it('no link, no mailbox and no password is in any text of any check or rule', async () => {
  const report = await newsletterReport();
  const said = CUT_LINKS.join(' and ');
  for (const check of report.checks) {
    Object.assign(check, { title: said, detail: `${check.detail} ${said}` });
    check.evidence = { ...check.evidence, ...Object.fromEntries(CUT_LINKS.entries()) };
    check.evidence.links = CUT_LINKS.map((href) => ({ href, text: href }));
    check.evidence.found = CUT_LINKS.map((src) => ({ src, problem: `leads to ${src}` }));
    check.fix = { text: said, record: { type: 'TXT', name: 'a.example', value: said } };
  }
  for (const { rules } of report.providers) for (const rule of rules) rule.detail = said;
  Object.assign(report, { summary: said, subject: said });
  report.judged_kind.reasons = CUT_LINKS;
  report.cap = { limit: 40, reason: said, reference: 'RFC 7489' };
  const cut = forStrangers(report, []);
  assert.deepEqual(foundIn(cut, [SECRET]), []);
  assert.ok(foundIn(cut, ['https://shop.example/…', '…@mail.example']).length === 2);
});

it('a file is told by its extension where it is a finding, and not at all otherwise', async () => {
  const report = await newsletterReport();
  const check = report.checks.find(({ id }) => id === 'attachments')!;
  const problem = 'holds offers/anna-smith.js, which is of the kind .js, which Gmail refuses';
  check.title = `Your attachment Anna (draft).zip ${problem}.`;
  check.evidence = {
    attachments: 2,
    found: [{ file: 'Anna (draft).zip', type: 'application/zip', octets: 9, problem }],
  };
  report.summary = `First: ${check.title}`;
  const cut = forStrangers(report, []);
  const told = 'Your attachment ….zip holds ….js, which is of the kind .js, which Gmail refuses.';
  assert.equal(cut.checks.find(({ id }) => id === check.id)!.title, told);
  assert.equal(cut.summary, `First: ${told}`);
  assert.deepEqual(foundIn(cut, ['anna', 'banner.png', 'size-guide']), []);
});
