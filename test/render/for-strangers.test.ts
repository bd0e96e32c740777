/** What people outside of the team see of a report: no message, no address of a test or seed, nothing to act with. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../../src/analysis/check.ts';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { hostOnly } from '../../src/render/evidence-for-strangers.ts';
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
      const told = foundIn(cut, OF_THE_MESSAGE).filter(
        // A dead link is what it is about.
        (text) => !(text === '/u/' && defect?.check === 'link_status'),
      );
      assert.deepEqual(told, [], defect?.name);
    }
    // The report of the team does show them: what is looked for would be found.
    assert.deepEqual([...known].sort(), [...OF_THE_MESSAGE, ...OF_PEOPLE].sort());
  });
});

describe('a report for strangers', () => {
  it('keeps scores, verdicts, reasons and remedies as they are', async () => {
    for (const report of [await goodReport(), await badReport(), await newsletterReport()]) {
      const cut = forStrangers(report, CONCEAL);
      const kept = report.checks.filter(({ id }) => !['preheader', 'received_path'].includes(id));
      const { checks: _, message, envelope, ...rest } = cut;
      const { checks: __, message: ___, envelope: ____, ...whole } = report;
      assert.deepEqual(rest, whole);
      assert.deepEqual([message, envelope], [null, null]);
      assert.deepEqual(
        cut.checks.map((check) => ({ ...check, evidence: {} })),
        kept.map((check) => ({ ...check, evidence: {} })),
      );
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
        ['unknown', 'https://shop.example/gloves'],
        ['works', 'https://shop.example/scarves'],
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

it('an address is told by its host alone', () => {
  for (const [address, shown] of [
    ['https://shop.example/u/1?x=2#y', 'https://shop.example/…'],
    ['http://shop.example:8080/', 'http://shop.example:8080/…'],
    ['https://user:secret@shop.example/', 'https://shop.example/…'],
    ['mailto:leave+81@shop.example?subject=x', 'mailto:…@shop.example'],
    ['mailto:k3x9', '…'],
    ['{{unsubscribe}}', '…'],
    ['tel:+491234', '…'],
  ])
    assert.equal(hostOnly(address!), shown);
});
