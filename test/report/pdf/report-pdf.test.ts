/** Reports as PDF: complete, in order, and safe with hostile messages. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checksToFix } from '../../../src/analysis/summary.ts';
import { dependsOnFailedCheck, formatGain } from '../../../src/report/content.ts';
import { reportPdf, sharedPdf } from '../../../src/report/pdf/pdf.ts';
import type { Report } from '../../../src/report/report.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import {
  pdfFonts,
  pdfInfo,
  pdfPages,
  pdfPageWords,
  pdfStructure,
  pdfText,
  pdfWords,
} from '../../helpers/pdf.ts';
import {
  badReport,
  filledWith,
  goodReport,
  newsletterReport,
  shareOf,
  unscoredReport,
} from '../reports.ts';

const skip = skipUnlessInstalled('pdftotext');
const BAD = await badReport();
const GOOD = await goodReport();

/** Compares text without line breaks. */
const dense = (text: string): string => text.replace(/\s+/g, '');

function assertHolds(text: string, wanted: string[]): void {
  const all = dense(text);
  for (const each of wanted) assert.ok(all.includes(dense(each)), each);
}

describe('Report PDF', { skip }, () => {
  it('contains verdict, findings with reason and fix, and records', async () => {
    const text = pdfWords(await reportPdf(BAD));
    const fixes = checksToFix(BAD.checks);
    assert.ok(fixes.length >= 10 && fixes.some(({ fix }) => fix?.record));
    assertHolds(text, [`${BAD.score}`, `Grade ${BAD.grade}`, BAD.summary]);
    for (const { title, detail, reference, fix, gain } of fixes)
      assertHolds(text, [
        title,
        detail,
        reference.name,
        reference.url,
        fix!.text,
        gain > 0 ? formatGain(gain) : 'unlocks later',
        ...(fix!.record ? [`Name${fix!.record.name}`, `Value${fix!.record.value}`] : []),
      ]);
    assertHolds(text, [`${BAD.cap!.reason} The score is capped at`]);
  });

  it('contains passed and unchecked checks with reasons', async () => {
    const text = pdfWords(await reportPdf(BAD));
    for (const { status, title, detail, points, earned } of BAD.checks) {
      if (status === 'pass') assertHolds(text, [`${title}`, `${earned} of ${points}`]);
      if (status === 'error') assertHolds(text, [title, detail.slice(0, 30)]);
    }
    const follows = BAD.checks.filter(dependsOnFailedCheck);
    assert.ok(follows.length > 0);
    assertHolds(
      text,
      follows.map(({ title }) => title),
    );
  });

  it('tells the whole story on its first page, and the rest on at most seven for 16 findings', async () => {
    const findings = checksToFix(BAD.checks);
    const dropped = new Set(findings.slice(16));
    const report = { ...BAD, checks: BAD.checks.filter((check) => !dropped.has(check)) };
    for (const pdf of [await reportPdf(report), await sharedPdf(shareOf([report]))]) {
      const pages = pdfPages(pdf);
      assert.ok(pages.length <= 8, `${pages.length} pages`);
      const words = pdfPageWords(pdf, 1);
      assertHolds(words, [
        `${BAD.score}Grade ${BAD.grade}`,
        BAD.summary,
        'Not checked: Mail servers (MX) and Return path.',
        'Provider verdicts',
      ]);
      for (const { gain, title, fix } of findings.slice(0, 3))
        assertHolds(words, [formatGain(gain), title, fix!.text.slice(0, 390)]);
      for (const { name } of BAD.providers) assertHolds(words, [`${name}✗Notready`]);
      assert.doesNotMatch(words, /All issues/);
      const titles = findings.slice(0, 16).map(({ title }) => title);
      assertHolds(pdfWords(pdf), titles);
    }
  });

  it('keeps its first page whole and no heading alone for long titles and fixes', async () => {
    const findings = checksToFix(BAD.checks);
    const long = new Set(findings.slice(0, 3));
    const checks = BAD.checks.map((check) =>
      long.has(check)
        ? {
            ...check,
            title: `${check.title} ${'It goes on with more words. '.repeat(8)}`,
            fix: { ...check.fix!, text: `${check.fix!.text} `.repeat(12) },
          }
        : check,
    );
    const pdf = await reportPdf({ ...BAD, checks });
    const words = pdfPageWords(pdf, 1);
    for (const { name } of BAD.providers) assertHolds(words, [`${name}✗Notready`]);
    const pages = pdfPages(pdf);
    assert.ok(pages.length > 8);
    for (const page of pages) {
      const lines = page.split('\n').filter((line) => line.trim() !== '');
      assert.doesNotMatch(lines.at(-2)!, / · (?:Authentication|Content|Compliance|Reputation)$/);
    }
  });

  it('has one line for each passed check', async () => {
    const lines = pdfText(await reportPdf(BAD)).split('\n');
    for (const { status, label, title } of BAD.checks)
      if (status === 'pass')
        assert.ok(
          lines.some((line) => line.includes(`✓ ${label}`) && line.includes(title)),
          label,
        );
  });

  it('follows the page’s order with outline and tags', async () => {
    const pdf = await reportPdf(await newsletterReport());
    const titles = [
      'Fix these first',
      'Provider verdicts',
      'All issues',
      'How the score is calculated',
      'Authentication',
      'Inbox placement',
      'Provider rules',
      'Delivery path',
      'Message',
      'Passed',
      'For your information',
      'Not checked',
    ];
    const lines = pdfText(pdf).split(/[\n\f]/);
    const places = titles.map((title) => lines.indexOf(title));
    assert.deepEqual(
      places,
      [...places].sort((a, b) => a - b),
    );
    assert.ok(places[0]! > 0, 'each title has its own line');
    const headings = [...pdfStructure(pdf).matchAll(/^ +H2 .*\n +"(.*)"$/gm)];
    assert.deepEqual(
      headings.map(([, title]) => title),
      titles,
    );
    for (const title of ['Verdict', ...titles])
      if (/^[\x20-\x7e]*$/.test(title)) assert.ok(raw(pdf).includes(`/Title (${title})`), title);
  });

  it('has title, language, tags and creation date', async () => {
    const pdf = await reportPdf({ ...GOOD, name: 'Tom & <b>Jerry</b>' });
    const info = pdfInfo(pdf);
    assert.match(info, /^Title: +Deliverability report: Tom & <b>Jerry<\/b>$/m);
    assert.match(info, /^Tagged: +yes$/m);
    assert.match(info, /^Page size: +595\.28 x 841\.89 pts \(A4\)$/m);
    assert.match(info, /^CreationDate: +Sat Nov 21 .*2026/m);
    assert.ok(raw(pdf).includes('/Lang (en-GB)'));
    assert.ok(raw(pdf).includes('Tom &#38; &#60;b&#62;Jerry'), 'escaped in the XML metadata');
  });

  it('shows page numbers on every page', async () => {
    const pages = pdfPages(await reportPdf(GOOD));
    assert.ok(pages.length > 3);
    pages.forEach((page, index) => {
      const foot = page.trimEnd().split('\n').at(-1)!;
      assert.match(foot, /^Deliverability report: Order confirmation +Page \d+ of \d+$/);
      assert.ok(foot.endsWith(`Page ${index + 1} of ${pages.length}`));
    });
  });

  it('links rule references but no URLs from the message', async () => {
    const pdf = raw(await reportPdf(BAD));
    const { reference } = checksToFix(BAD.checks)[0]!;
    assert.ok(pdf.includes(`/URI (${reference.url})`));
    const links = BAD.message!.links.map(({ href }) => href);
    assert.ok(links.length > 0);
    for (const href of links) assert.ok(!pdf.includes(`/URI (${href}`), href);
  });

  it('embeds its fonts', async () => {
    const fonts = pdfFonts(await reportPdf(BAD))
      .trim()
      .split('\n')
      .slice(2);
    assert.equal(fonts.length, 3);
    for (const font of fonts) assert.match(font, /^[A-Z]{6}\+DejaVuSans.* yes yes yes +\d+ +0$/);
  });

  it('is identical for the same report', async () => {
    const [first, second] = [await reportPdf(BAD), await reportPdf(BAD)];
    assert.ok(Buffer.from(first).equals(second));
  });

  it('shows score shares that add up', async () => {
    for (const report of [GOOD, BAD, await newsletterReport()]) {
      const text = pdfText(await reportPdf(report));
      const adds = [...text.matchAll(/^[A-Z][a-z ]+? +\d+ ?%.* (\d+\.\d)$/gm)].map(([, n]) => n!);
      assert.equal(adds.length, report.categories.filter(({ points }) => points > 0).length);
      const [, sum] = /^Total +\d+ +(\d+\.\d)$/m.exec(text)!;
      const tenths = adds.reduce((all, each) => all + Math.round(Number(each) * 10), 0);
      assert.equal(tenths, Math.round(Number(sum) * 10));
      if (!report.cap) assert.equal(Math.floor(Number(sum)), report.score);
    }
  });
});

describe('Report PDF with missing parts', { skip }, () => {
  it('without a score says so', async () => {
    const text = pdfText(await reportPdf(await unscoredReport()));
    assertHolds(text, ['This message has no score:', 'No score', 'No score: not enough results']);
    assert.doesNotMatch(text, /Grade|of 100/);
    assertHolds(text, ['This report does not include the message.']);
  });

  it('omits empty sections', async () => {
    const bare: Report = {
      ...GOOD,
      id: null,
      name: null,
      received_at: null,
      completed_at: null,
      subject: null,
      from_address: null,
      envelope: null,
      placement: [],
      providers: [],
      message: null,
      checks: [],
      categories: [],
    };
    const pdf = await reportPdf(bare);
    const text = pdfText(pdf);
    assert.match(text, /No problems found\./);
    assert.doesNotMatch(text, /Inbox placement|Provider rules|Delivery path|Passed/);
    assert.ok(Buffer.from(pdf).equals(await reportPdf(bare)), 'identical without a time');
  });
});

const raw = (pdf: Uint8Array): string => Buffer.from(pdf).toString('latin1');

describe('Report PDF with hostile message content', { skip }, () => {
  const EVIL = 'a\u001b[2J\u0007b\r\nc\u009b31md\u202ee\u0000f\ud800g';

  it('shows control and bidi characters as dots', async () => {
    const text = pdfText(await reportPdf(filledWith(EVIL, BAD)));
    assertHolds(text, ['a·[2J·bc·31md·e·f\ufffdg']);
    // pdftotext ends pages with a form feed and lines with LF.
    assert.doesNotMatch(text, /(?![\n\f])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  });

  it('renders Latin, Greek, Cyrillic, Arabic and Hebrew as text', async () => {
    const words = ['Prüfung', 'Łódź', 'Γειά', 'Привет', 'שלום', 'مرحبا'];
    const text = pdfText(await reportPdf({ ...GOOD, subject: words.join(' ') }));
    // pdftotext inserts bidi controls.
    const plain = text.normalize('NFKC').replace(/[\u202a-\u202e]/g, '');
    for (const word of words) assert.ok(plain.includes(word), word);
  });

  it('survives text on which font layout throws', async () => {
    // Tifinagh with a combining mark on nothing.
    const subject = 'Hello \u2d30\u034f world';
    const text = pdfText(await reportPdf({ ...GOOD, subject }));
    assert.match(text, /Subject +Hello \u2d30.? world/);
  });

  it('repeats table headers across pages', async () => {
    const links = Array.from({ length: 500 }, (_, index) => ({
      href: `https://acme.example/${index}/${'path/'.repeat(20)}`,
      text: `Link ${index}`,
    }));
    const pages = pdfPages(await reportPdf({ ...BAD, message: { ...BAD.message!, links } }));
    const heads = pages.filter((page) => /^URL +Text +Status$/m.test(page));
    assert.ok(heads.length > 2);
    assert.ok(pages.some((page) => page.includes('… and 440 more')));
  });
});
