/** The PDF of a shared report: overview, each report on a new page, outline and tags. */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { checksToFix } from '../../src/analysis/summary.ts';
import { verdictOf } from '../../src/report/content.ts';
import { sharedPdf } from '../../src/report/pdf/pdf.ts';
import type { Share } from '../../src/report/share.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfInfo, pdfPages, pdfStructure, pdfText, pdfWords } from '../helpers/pdf.ts';
import { badReport, campaignShare, largeShare, shareOf } from '../report/reports.ts';

/** The text without white space, because line breaks do not matter. */
const withoutSpaces = (text: string): string => text.replace(/\s+/g, '');
const raw = (pdf: Uint8Array): string => Buffer.from(pdf).toString('latin1');

function assertContains(text: string, expected: string[]): void {
  const all = withoutSpaces(text);
  for (const part of expected) assert.ok(all.includes(withoutSpaces(part)), part);
}

const headings = (pdf: Uint8Array, rank: number): string[] =>
  [...pdfStructure(pdf).matchAll(new RegExp(`^ +H${rank} .*\\n +"(.*)"$`, 'gm'))].map(
    ([, title]) => title!,
  );

const SECTIONS = [
  'Fix these first',
  'Provider verdicts',
  'All issues',
  'How the score is calculated',
  'Authentication',
  'Inbox placement',
  'Provider rules',
  'Passed',
  'For your information',
  'Not checked',
];

describe('Shared report PDF of one test', { skip: skipUnlessInstalled('pdftotext') }, () => {
  let pdf: Uint8Array;
  before(async () => {
    pdf = await sharedPdf(
      shareOf([await badReport()], { title: 'For the agency', deletedTests: 1 }),
    );
  });

  it('is the report without message content', () => {
    assert.deepEqual(headings(pdf, 2), SECTIONS);
    const text = pdfText(pdf);
    assert.match(text, /^For the agency\n/);
    assert.match(text, /This link expires on 28 Nov 2026, 10:05:00 UTC\./);
    assert.match(text, /1 test in this report has been deleted\./);
    assert.doesNotMatch(
      text,
      /does not include the message|Delivery path|Dear \{\{first_name\}\},/,
    );
  });
});

describe('Shared report PDF of many tests', { skip: skipUnlessInstalled('pdftotext') }, () => {
  let share: Share;
  let pdf: Uint8Array;
  let pages: string[];
  before(async () => {
    share = await campaignShare();
    pdf = await sharedPdf(share);
    pages = pdfPages(pdf);
  });

  it('starts with an overview row per test', () => {
    assertContains(pages[0]!, [
      share.title!,
      '1 test in this report has been deleted.',
      'Scores from 40 to 100, 76 on average; 1 test has no score.',
    ]);
    const [, rows] = pdfStructure(pdf).split(/\n {2}Table /);
    share.reports.forEach(({ name, summary, score, grade }, index) => {
      assertContains([...rows!.matchAll(/"(.*)"$/gm)].map(([, line]) => line).join(''), [
        `${score ?? '–'}${grade === null ? 'No score' : `Grade ${grade}`}${index + 1}. ${name}`,
        verdictOf(summary),
      ]);
      assert.ok(raw(pdf).includes(`/D (test-${index + 1})`), 'a way there');
      assert.ok(raw(pdf).includes(`(test-${index + 1}) [`), 'link target');
    });
  });

  it('shows the first findings of each report, with the fix of the first three', () => {
    assert.equal(pages.join('\n').match(/^ *TEST \d OF 4$/gm)?.length, 4);
    const words = withoutSpaces(pdfWords(pdf));
    for (const { checks } of share.reports) {
      const ranked = ['fail', 'warn'].flatMap((status) =>
        checksToFix(checks).filter((check) => check.status === status),
      );
      for (const { title } of ranked.slice(0, 10)) assertContains(words, [title.slice(0, 150)]);
      for (const { fix } of ranked.slice(0, 3)) assertContains(words, [fix!.text.slice(0, 300)]);
      if (ranked.length > 10) assertContains(words, [`And ${ranked.length - 10} more`]);
    }
    assert.ok(pages.length <= 9, `${pages.length} pages`);
    assert.match(pages.at(-1)!, new RegExp(`Page ${pages.length} of ${pages.length}`));
  });

  it('has one title and a heading per test', () => {
    assert.deepEqual(headings(pdf, 1), [share.title]);
    assert.equal(headings(pdf, 2).length, 4);
    assert.equal(headings(pdf, 3).filter((title) => title === 'Fix these first').length, 4);
    assert.match(pdfInfo(pdf), /^Tagged: +yes$/m);
  });

  it('has an outline with the sections of each test', () => {
    const text = raw(pdf);
    for (const { name } of share.reports) assert.ok(text.includes(`/Title (${name})`), name!);
    assert.equal(text.match(/\/Title \(Authentication\)/g)?.length, 4);
    assert.equal(text.match(/\/Title \(Overview\)/g)?.length, 1);
    // The top level of the outline has the overview and the tests.
    const parents = [...text.matchAll(/\/Parent (\d+ 0 R)\n\/Title/g)].map(([, parent]) => parent);
    assert.equal(new Set(parents).size, 5);
  });

  it('is identical for the same share', async () => {
    assert.ok(Buffer.from(pdf).equals(await sharedPdf(share)));
  });

  it('without tests says they were deleted', async () => {
    const text = pdfText(await sharedPdf(shareOf([], { deletedTests: 2 })));
    assert.match(text, /All tests in this report have been deleted\./);
  });

  it('has at most two pages per test for a hundred tests', async () => {
    const large = await sharedPdf(await largeShare());
    const all = pdfPages(large);
    assert.ok(all.length <= 204, `${all.length} pages`);
    assert.equal(all.join('\n').match(/^ *TEST \d+ OF 100$/gm)?.length, 100);
    assertContains(all[0]!, ['Select the name of a test', 'a short version']);
  });

  it('is complete for one test only', async () => {
    const one = pdfPages(await sharedPdf(shareOf([await badReport()])));
    assert.doesNotMatch(one[0]!, /short\s+version/);
    assert.ok(one.length > 5);
  });

  it('shows scores as bars with a text alternative', () => {
    assertContains(pages[0]!, ['Score of each test', '100', '50', '40', '89']);
    assertContains(raw(pdf), ['/S /Figure']);
    const altText =
      'Score of each test. Test 1, Order confirmation: 100; Test 2, Autumn campaign, second try: 40; Test 3, November newsletter: 89; Test 4, saved.eml: no score.';
    assert.ok(withoutSpaces(raw(pdf)).includes(withoutSpaces(`/Alt (${altText})`)));
  });

  it('notes when a report exceeds its page limit and continues with the next report', async () => {
    const long = await badReport();
    long.auth_results.dkim = 'fail';
    const dkim = long.checks.find(({ id }) => id === 'dkim')!;
    const [signature] = dkim.evidence.signatures as object[];
    dkim.evidence = { ...dkim.evidence, signatures: Array(60).fill(signature) };
    const text = pdfPages(await sharedPdf(shareOf([long, await badReport()]))).join('\n');
    const note = text.indexOf('This report is too long for the PDF');
    assert.ok(note > 0 && note < text.indexOf('TEST 2 OF 2'));
    assert.equal(text.lastIndexOf('This report is too long for the PDF'), note);
  });
});
