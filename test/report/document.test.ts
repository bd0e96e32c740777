/** Report documents: the content of each variant, and that every renderer shows every word. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it, test } from 'node:test';
import { DomUtils, parseDocument } from 'htmlparser2';
import type { CheckResult } from '../../src/analysis/result.ts';
import { checksToFix } from '../../src/analysis/summary.ts';
import {
  type Block,
  plainText,
  type ReportDocument,
  type Section,
  sanitize,
  type Verdict,
} from '../../src/report/blocks.ts';
import { SCORE_LIMITATIONS } from '../../src/report/content.ts';
import {
  sharedDocument,
  terminalDocument,
  testDocument,
} from '../../src/report/document/document.ts';
import { evidenceFacts, evidenceInShort } from '../../src/report/document/evidence.ts';
import { summaryDocument, summaryMail } from '../../src/report/document/summary.ts';
import { renderDocument } from '../../src/report/html/report-page.tsx';
import { renderPdf } from '../../src/report/pdf/pdf.ts';
import type { Evidence, Report } from '../../src/report/report.ts';
import { reportMail } from '../../src/report/summary-mail.ts';
import { mailText, renderText } from '../../src/report/text.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfWords } from '../helpers/pdf.ts';
import { allDocuments } from './documents.ts';
import { asRead, asReadOnPaper, leavesOf } from './leaves.ts';
import {
  badReport,
  campaignShare,
  goodReport,
  largeShare,
  newsletterReport,
  shareOf,
  unscoredReport,
} from './reports.ts';
import { DAY, MONTH, NOTHING, UNSCORED, WEEK } from './scheduled-reports.ts';

let [good, bad, unscored, newsletter]: Report[] = [];
before(async () => {
  [good, bad, unscored, newsletter] = await Promise.all([
    goodReport(),
    badReport(),
    unscoredReport(),
    newsletterReport(),
  ]);
});

const sectionsOf = ({ blocks }: { blocks: Block[] }): Section[] =>
  blocks.filter((block) => block.kind === 'section');
const idsOf = (document: { blocks: Block[] }): string[] => sectionsOf(document).map(({ id }) => id);
const sectionOf = (document: ReportDocument, id: string): Section =>
  sectionsOf(document).find((section) => section.id === id)!;
const verdictOf = ({ blocks }: { blocks: Block[] }): Verdict => all('verdict', blocks)[0]!;
/** All blocks of a kind at any depth. */
function all<K extends Block['kind']>(kind: K, value: unknown): Extract<Block, { kind: K }>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap((each) => all(kind, each));
  return 'kind' in value && value.kind === kind ? [value as never, ...inside] : inside;
}

const BODY = ['fix', 'score', 'authentication', 'placement', 'providers'];
const PAGE_BODY = ['more-fixes', ...BODY.slice(1)];
/** Sections that only some reports have. The first fixes of a page are in its front. */
const isFor = (report: Report) => (id: string) =>
  (id !== 'placement' || report.placement.length > 0) &&
  (id !== 'more-fixes' || checksToFix(report.checks).length > 3);
/** On the first page of a PDF, after the verdict. */
const FIRST_PAGE = ['first-fixes', 'acceptance'];
const REST = ['passed', 'info', 'not-checked'];

describe('Report document sections', () => {
  it('of a page are the same for every report', () => {
    for (const report of [good!, bad!, unscored!, newsletter!])
      assert.deepEqual(
        idsOf(testDocument(report, 'page')),
        [...PAGE_BODY, 'path', 'preview', 'message', ...REST].filter(isFor(report)),
      );
  });

  it('of the PDF variant omit empty sections', () => {
    assert.deepEqual(idsOf(testDocument(bad!, 'pdf')), [
      ...FIRST_PAGE,
      ...BODY,
      'path',
      'message',
      ...REST,
    ]);
    const bare = { ...good!, placement: [], providers: [], checks: [], envelope: null };
    assert.deepEqual(idsOf(testDocument(bare, 'pdf')), [
      'first-fixes',
      'score',
      'authentication',
      'message',
    ]);
  });

  it('of a shared report omit the message and its path', () => {
    const one = shareOf([bad!]);
    assert.deepEqual(idsOf(sharedDocument(one, 'page')), [...PAGE_BODY, ...REST]);
    assert.deepEqual(idsOf(sharedDocument(one, 'pdf')), [...FIRST_PAGE, ...BODY, ...REST]);
    for (const medium of ['page', 'pdf'] as const) {
      const document = sharedDocument(one, medium);
      assert.deepEqual(all('preview', document), []);
      assert.deepEqual(all('path', document), []);
    }
  });

  it('of a shared report repeat per test, abbreviated for many tests', async () => {
    const partsOf = (document: ReportDocument) => all('part', document).map(idsOf);
    const [campaign, six, large] = [
      await campaignShare(),
      await largeShare(6),
      await largeShare(21),
    ];
    for (const [index, ids] of partsOf(sharedDocument(campaign, 'page')).entries())
      assert.deepEqual(ids, [...PAGE_BODY, ...REST].filter(isFor(campaign.reports[index]!)));
    for (const ids of partsOf(sharedDocument(six, 'pdf')))
      assert.deepEqual(
        ids.filter((id) => id !== 'placement'),
        ['fix', 'authentication'],
      );
    const more = ({ blocks }: { blocks: Block[] }) =>
      all('entries', blocks).flatMap(({ items }) => items.filter((item) => item.more !== null));
    assert.ok(more(sharedDocument(six, 'page')).length > 0);
    assert.deepEqual(more(sharedDocument(large, 'page')), []);
  });

  it('of the terminal variant are limited to the most important ones', () => {
    assert.deepEqual(idsOf(terminalDocument(bad!, null)), [
      'fix',
      'score',
      'authentication',
      'providers',
    ]);
    assert.deepEqual(idsOf(terminalDocument(good!, null)), [
      'score',
      'authentication',
      'providers',
    ]);
  });
});

describe('Report document verdict', () => {
  it('states the summary, the first fix and what is unknown', () => {
    const [first, ...others] = checksToFix(bad!.checks);
    for (const medium of ['page', 'pdf'] as const) {
      const { score, title, lines, unknown, categories } = verdictOf(testDocument(bad!, medium));
      assert.equal(plainText(title), bad!.summary);
      // The first fixes follow the verdict of a page.
      const fixFirst = `Fix this first: ${first!.title.replace(/\.$/, '')} (${bad!.score} → ${Math.floor(bad!.score! + first!.gain)}). See ${others.length} more issues below.`;
      assert.deepEqual(lines.map(plainText), medium === 'pdf' ? [fixFirst] : []);
      assert.deepEqual(
        categories!.items.map(({ value }) => value),
        bad!.categories.map(({ score: points }) =>
          points === null ? 'not checked' : String(points),
        ),
      );
      assert.match(
        plainText(unknown!),
        /^Not everything is known\. Not checked: Mail servers \(MX\) and Return path\. Coverage: \d\d%\.$/,
      );
      assert.deepEqual(
        [score.number, score.letter, score.state],
        [`${bad!.score}`, 'Grade F', 'fail'],
      );
      assert.ok(score.uncapped! > bad!.score!);
    }
  });

  const finding = (id: string, gain: number): CheckResult => ({
    ...bad!.checks[0]!,
    id,
    gain,
    status: 'fail',
    title: `${id} is wrong.`,
  });
  it('of a PDF counts the fixes after the first', () => {
    const cap = { limit: 60, reason: 'It is capped.', reference: 'A rule' };
    for (const [findings, expected] of [
      [[], 'No problems found.'],
      [[finding('a', 3)], 'Fix this first: a is wrong (60 → 63).'],
      [
        [finding('a', 0)],
        'Fix this first: a is wrong. Several issues cause the cap on the score, so no single fix raises it.',
      ],
      [
        [finding('a', 3), finding('b', 2.25)],
        'Fix this first: a is wrong (60 → 63). See 1 more issue below.',
      ],
      [
        [finding('a', 3), finding('b', 2), finding('c', 1)],
        'Fix this first: a is wrong (60 → 63). See 2 more issues below.',
      ],
    ] as const) {
      const document = testDocument({ ...good!, score: 60, cap, checks: [...findings] }, 'pdf');
      assert.equal(plainText(verdictOf(document).lines[0]!), expected);
    }
  });

  it('without a score says so and promises no gain', () => {
    const document = testDocument(unscored!, 'page');
    const { score, lines } = verdictOf(document);
    assert.deepEqual(
      [score.number, score.letter, score.state, score.uncapped],
      ['No score', null, 'unknown', null],
    );
    assert.doesNotMatch(lines.map(plainText).join(), /\(\+/);
    for (const { gain } of all('finding', document)) assert.equal(gain, null);
    assert.doesNotMatch(
      leavesOf([sectionOf(document, 'score')]).join(' '),
      /Sum|Adds|rounded down/,
    );
  });
});

const groupsOf = (document: ReportDocument) =>
  all('findings', document).flatMap(({ groups }) =>
    groups.map(({ title, findings }) => ({ title, findings })),
  );

describe('Report document findings', () => {
  it('never mix required changes and recommendations', () => {
    for (const medium of ['page', 'pdf'] as const) {
      const groups = groupsOf(testDocument(bad!, medium)).filter(({ title }) => title !== null);
      assert.deepEqual(
        groups.map(({ title }) => title),
        ['Required', 'Recommended'],
      );
      const checks = checksToFix(bad!.checks).slice(medium === 'page' ? 3 : 0);
      for (const [index, status] of ['fail', 'warn'].entries())
        assert.deepEqual(
          groups[index]!.findings.map(({ id }) => id),
          checks.filter((check) => check.status === status).map(({ id }) => `check-${id}`),
        );
    }
  });

  it('of a page are the first three with their fix, then one line for each of the others', () => {
    const [first, more] = all('findings', testDocument(bad!, 'page'));
    const ids = checksToFix(bad!.checks).map(({ id }) => `check-${id}`);
    const idsOf = ({ groups }: { groups: { findings: { id: string }[] }[] }) =>
      groups.flatMap(({ findings }) => findings.map(({ id }) => id));
    assert.deepEqual(idsOf(first!), ids.slice(0, 3));
    assert.deepEqual(idsOf(more!).toSorted(), ids.slice(3).toSorted());
    const isFirst = groupsOf(testDocument(bad!, 'page')).flatMap(({ findings }) =>
      findings.map(({ more: folded }) => folded !== null),
    );
    assert.deepEqual(
      isFirst,
      ids.map((_, index) => index < 3),
    );
  });

  it('show whole points, and say which ones the cap locks', () => {
    const gains = (medium: 'page' | 'pdf', changes: Partial<Report>) =>
      groupsOf(testDocument({ ...bad!, ...changes }, medium)).flatMap(({ findings }) =>
        findings.map(({ gain }) => gain?.text),
      );
    const checks = [24.4, 0.6, 0.4, 0].map((gain, index) => ({
      ...bad!.checks[0]!,
      id: `c${index}`,
      gain,
      points: 5,
      status: 'fail' as const,
    }));
    for (const medium of ['page', 'pdf'] as const) {
      assert.deepEqual(gains(medium, { checks }), ['+24', '+1', '+<1', 'unlocks later']);
      assert.deepEqual(gains(medium, { checks, cap: null })[3], 'no points');
      const unscored = checks.map((check) => ({ ...check, points: 0 }));
      assert.deepEqual(gains(medium, { checks: unscored })[3], 'no points');
      const text = leavesOf(testDocument({ ...bad!, checks }, medium).blocks).join('\n');
      assert.equal(text.match(/The score is capped at/g)?.length, 1);
      assert.match(text, /Points marked “unlocks later” count from then on\./);
      assert.doesNotMatch(text, /\+0\b/);
    }
    const terminal = leavesOf(terminalDocument({ ...bad!, checks }, null).blocks).join('\n');
    assert.match(terminal, /\(unlocks later\)/);
    assert.match(terminal, /Points marked “unlocks later”/);
  });

  it('begin with the change, then evidence and reason', () => {
    for (const medium of ['page', 'pdf'] as const)
      for (const { groups } of all('finding', testDocument(bad!, medium))) {
        const names = groups.map(({ name }) => name);
        assert.deepEqual(
          names,
          ['fix', 'evidence', 'reason'].filter((name) => names.includes(name as 'fix')),
        );
        assert.equal(groups[0]!.title, 'What to change');
      }
    for (const { groups } of all('finding', terminalDocument(bad!, null)).slice(0, 5))
      assert.deepEqual(
        groups.map(({ name }) => name),
        ['fix', 'reason', 'remarks'],
      );
  });
});

describe('Report document state', () => {
  it('of an error or skipped check is unknown, not pass or fail', () => {
    for (const report of [good!, bad!, unscored!])
      for (const entry of all('entries', testDocument(report, 'page')).flatMap(
        ({ items }) => items,
      )) {
        const check = report.checks.find(({ id }) => entry.id === `check-${id}`);
        if (check?.status === 'error' || check?.status === 'skipped')
          assert.equal(entry.state.state, 'unknown');
      }
  });

  it('of a provider with only unknown rules is "Unknown"', () => {
    const report = structuredClone(good!);
    for (const provider of report.providers) {
      provider.ready = false;
      provider.status = 'unknown';
      for (const rule of provider.rules) rule.status = 'unknown';
    }
    for (const medium of ['page', 'pdf'] as const) {
      const [table] = all('table', sectionOf(testDocument(report, medium), 'providers'));
      const [, ...verdicts] = table!.groups[0]!.rows[0]!.cells;
      assert.deepEqual(
        verdicts.map(({ text }) => plainText(text)),
        Array(4).fill('Unknown'),
      );
    }
  });

  it('path says who forwarded the message, also for results without that check', () => {
    const noteOf = (kind: string | null) => {
      const report = structuredClone(good!);
      report.checks = report.checks.filter(({ id }) => id !== 'forwarding');
      const template = report.checks.find(({ id }) => id === 'received_path')!;
      const title = 'This message was forwarded by alumni.example.';
      if (kind) report.checks.push({ ...template, id: 'forwarding', title, evidence: { kind } });
      const sections = all('section', testDocument(report, 'page'));
      return plainText(sections.find(({ id }) => id === 'path')!.note ?? []);
    };
    assert.match(noteOf('forwarded'), /^This message was forwarded by alumni\.example\. \S/);
    assert.doesNotMatch(noteOf('direct'), /alumni/);
    assert.doesNotMatch(noteOf(null), /alumni/);
  });

  it('is a warning for a long delay and names a wrong clock for a negative one', () => {
    const path = (delay: number) => {
      const report = structuredClone(good!);
      const check = report.checks.find(({ id }) => id === 'received_path')!;
      check.evidence = { hops: [{ by: 'mx.example' }], last_delay_seconds: delay };
      const [block] = all('path', testDocument(report, 'page'));
      return block!.hops.at(-1)!.delay!;
    };
    assert.deepEqual(path(3), { label: 'after', value: ['3 s'] });
    assert.deepEqual(path(300).value, [
      { kind: 'state', state: 'warn', word: '5 min', badge: true },
    ]);
    const { label, value } = path(-5);
    assert.deepEqual([label, plainText(value)], [null, '−5 s: wrong clock']);
  });
});

describe('Report document evidence', () => {
  it('omits empty values and shows at most eight in short form', () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`n${index}`, index]));
    const short = (evidence: Evidence) => plainText(evidenceInShort(evidence)?.text ?? []);
    assert.equal(
      short({ a: null, b: [], c: {}, ...many }),
      'N0: 0 · N1: 1 · N2: 2 · N3: 3 · N4: 4 · N5: 5 · N6: 6 · N7: 7',
    );
    assert.equal(
      short({ client_ip: ['192.0.2.1', { port: 25, tls: true }] }),
      'Sending IP address: 192.0.2.1; port 25, tls yes',
    );
    assert.equal(evidenceInShort({ a: null, b: [] }), null);
  });

  it('in full contains every value, with tables for similar items', () => {
    const facts = evidenceFacts({ hops: [{ a: 1 }, { a: 2, b: 'x' }], aligned: false });
    const [table] = all('table', facts);
    assert.deepEqual(
      table!.columns.map(({ title }) => title),
      ['A', 'B'],
    );
    assert.deepEqual(facts.rows[1]!.value, [{ kind: 'state', state: 'fail', word: 'not aligned' }]);
  });
});

describe('Report document', () => {
  it('has unique anchors, and every jump leads to one', async () => {
    for (const document of [
      testDocument(bad!, 'page'),
      testDocument(bad!, 'pdf'),
      sharedDocument(await campaignShare(), 'page'),
    ]) {
      const parts = all('part', document);
      const bodies = parts.length > 0 ? parts : [document];
      for (const { blocks } of bodies) {
        const found = ['verdict', 'section', 'finding', 'overview', 'part'] as const;
        const ids = [
          ...found.flatMap((kind) => all(kind, blocks).map(({ id }) => id)),
          ...all('entries', blocks).flatMap(({ items }) => items.flatMap(({ id }) => id ?? [])),
          ...all('heading', blocks).flatMap(({ id }) => id ?? []),
        ];
        assert.equal(new Set(ids).size, ids.length);
        for (const { to } of jumpsIn(blocks)) assert.ok(ids.includes(to), to);
      }
    }
  });

  const jumpsIn = (value: unknown): { to: string }[] => all('jump' as never, value) as never;

  it('contains no control, bidi or malformed characters', () => {
    const evil = (value: unknown): unknown => {
      if (typeof value === 'string') return `${value}\u001b[2J\u202e\u0000\ud800`;
      if (Array.isArray(value)) return value.map(evil);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, evil(each)]));
    };
    const hostile = { ...bad!, subject: evil('x') as string, from_address: evil('y') as string };
    hostile.checks = bad!.checks.map((check) => ({
      ...check,
      title: evil(check.title) as string,
      detail: evil(check.detail) as string,
      evidence: evil(check.evidence) as CheckResult['evidence'],
    }));
    hostile.message = evil(bad!.message) as NonNullable<Report['message']>;
    hostile.preview = null;
    for (const document of [
      testDocument(hostile, 'page'),
      testDocument(hostile, 'pdf'),
      terminalDocument(hostile, evil('of') as string),
    ])
      assert.doesNotMatch(JSON.stringify(document), /[\u0000\u202e]|\\u001b|\\ud800/);
  });

  it('is sanitized except for the HTML of the message', () => {
    const html = 'a\u202eb';
    const frame = { source: { html }, title: html };
    assert.deepEqual(sanitize({ frames: [frame] }), { frames: [{ ...frame, title: 'a·b' }] });
  });
});

// Every renderer shows every word of every document. Tests compare its output as text.

interface Renderer {
  name: string;
  /** The painted document as plain text. */
  read(document: ReportDocument): Promise<string> | string;
  /** Which documents the renderer supports; all by default. */
  isFor?(which: string): boolean;
  /** Removes differences that do not matter. */
  normalize: (text: string) => string;
  /** Why this machine cannot test it. */
  skip?: string | false;
  /** Its source files, which must not contain words. */
  files: string[];
}

/** Add new renderers here. */
const RENDERERS: Renderer[] = [
  ...[40, 80, 400].map((width) => ({
    name: `text of ${width} columns`,
    read: (document: ReportDocument) => renderText(document, { width, color: false }),
    normalize: asRead,
    files: ['text.ts'],
  })),
  {
    name: 'page',
    read: (document) => textOfPage(renderDocument(document)),
    // Documents for a terminal have no title and other blocks.
    isFor: (which) => !/ in a terminal$/.test(which),
    normalize: asRead,
    files: ['html/paint.tsx', 'html/report-page.tsx', '../ui/components.tsx'],
  },
  {
    name: 'PDF',
    read: async (document) => pdfWords(await renderPdf(document)),
    // PDFs of all documents take too long; test/long/report-pdf-words.test.ts covers them.
    isFor: (which) => /^(?:bad as pdf|one shared as pdf|summary (?:WEEK|HOSTILE))$/.test(which),
    normalize: asReadOnPaper,
    skip: skipUnlessInstalled('pdftotext'),
    files: ['paint', 'figures', 'layout', 'table'].map((name) => `pdf/${name}.ts`),
  },
];

const textOfPage = (html: string): string =>
  DomUtils.textContent(DomUtils.getElementsByTagName('body', parseDocument(html)));

const MAIL_FILES = ['summary-mail.ts'];

for (const { name, read, isFor = () => true, normalize, skip } of RENDERERS)
  test(`Report renderer (${name}) shows every word of every document`, { skip }, async () => {
    for (const [which, document] of await allDocuments()) {
      if (!isFor(which)) continue;
      const painted = normalize(await read(document));
      const leaves = leavesOf(document.blocks);
      assert.ok(leaves.length > 1, which);
      for (const leaf of leaves) assert.ok(painted.includes(normalize(leaf)), `${which}: ${leaf}`);
    }
  });

test('PDF renderer rejects blocks that only terminals show', async () => {
  const { blocks } = terminalDocument(bad!, 'bad.eml');
  const painted = renderPdf({ ...summaryDocument(WEEK), blocks });
  await assert.rejects(painted, /A PDF cannot show bars\./);
});

test('Scheduled report mail contains every word in both its text and HTML parts', () => {
  for (const report of [WEEK, MONTH, DAY, UNSCORED, NOTHING])
    for (const hasPdf of [false, true]) {
      const reader = { unsubscribeUrl: 'https://app.example.com/unsubscribe/1', hasPdf };
      const { title, blocks, footer, button, unsubscribe } = summaryMail(report, reader);
      const { text, html } = reportMail(report, reader);
      const parts = {
        text: asRead(text),
        html: asRead(textOfPage(html).replaceAll('\u00a0', ' ')),
      };
      for (const [part, painted] of Object.entries(parts))
        for (const leaf of [title, ...leavesOf(blocks), footer, button!.label, unsubscribe!.label])
          assert.ok(painted.includes(asRead(leaf)), `${part}: ${leaf}`);
      for (const block of blocks) assert.ok(text.includes(mailText(block)));
    }
});

test('Report renderers contain no wording of their own', async () => {
  const files = new Set([...RENDERERS.flatMap((painter) => painter.files), ...MAIL_FILES]);
  const source = [...files]
    .map((file) => readFileSync(new URL(`../../src/report/${file}`, import.meta.url), 'utf8'))
    .join('\n');
  const mails = [WEEK, NOTHING].flatMap((report) =>
    leavesOf(summaryMail(report, { unsubscribeUrl: null, hasPdf: true }).blocks),
  );
  const words = (await allDocuments()).flatMap(([, { blocks }]) => leavesOf(blocks));
  const sentences = new Set(
    [...words, ...mails, SCORE_LIMITATIONS].filter((text) => / \w+ /.test(text)),
  );
  assert.ok(sentences.size > 300);
  for (const sentence of sentences) assert.ok(!source.includes(sentence), sentence);
});

test('A report says which trusted mail server reported the client, or that it did not', () => {
  const pathOf = (report: Report) =>
    JSON.stringify(sectionOf(testDocument(report, 'page'), 'path'));
  const withMethod = (method: 'received' | 'xforward' | null) => {
    const reported_by = { client_ip: '10.0.0.5', name: 'mx.example.net', method };
    return pathOf({ ...good!, envelope: { ...good!.envelope!, reported_by } });
  };
  assert.match(withMethod('received'), /mx\.example\.net.*10\.0\.0\.5.*in its Received field/);
  assert.match(withMethod('xforward'), /with XFORWARD/);
  assert.match(withMethod(null), /did not report its client in a readable form/);
  assert.doesNotMatch(pathOf(good!), /Reported by/);
});
