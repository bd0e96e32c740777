/** Pages of PDFs: none is nearly empty, and no heading is alone at the foot of a page. */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { reportPdf, sharedPdf } from '../../src/report/pdf/pdf.ts';
import type { Report } from '../../src/report/report.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { type PdfPage, pdfHeadings, pdfLayout } from '../helpers/pdf.ts';
import {
  badReport,
  campaignShare,
  goodReport,
  largeShare,
  newsletterReport,
  shareOf,
  unscoredReport,
} from '../report/reports.ts';

const skip = skipUnlessInstalled('pdftotext');

/** Results of different lengths: with fewer findings, longer reasons, other sections. */
async function reportsOfEveryLength(): Promise<[name: string, report: Report][]> {
  const [good, bad, newsletter, unscored] = await Promise.all([
    goodReport(),
    badReport(),
    newsletterReport(),
    unscoredReport(),
  ]);
  const failing = bad.checks.filter(({ status }) => status === 'fail' || status === 'warn');
  const withFindings = (count: number): Report => {
    const kept = new Set(failing.slice(0, count));
    const checks = bad.checks.filter((check) => !failing.includes(check) || kept.has(check));
    return { ...bad, checks };
  };
  const withDetail = (words: number): Report => ({
    ...newsletter,
    checks: newsletter.checks.map((check, index) => ({
      ...check,
      detail: `${check.detail}${' More about it follows here.'.repeat((index * words) % 23)}`,
    })),
  });
  return [
    ['good', good],
    ['bad', bad],
    ['newsletter', newsletter],
    ['unscored', unscored],
    ...[1, 3, 5, 8, 12].map((count): [string, Report] => [
      `${count} findings`,
      withFindings(count),
    ]),
    ...[3, 7, 11].map((words): [string, Report] => [`details of ${words}`, withDetail(words)]),
    ['without placement', { ...good, placement: [] }],
    ['without a message', { ...bad, message: null, envelope: null }],
  ];
}

const TEXT_HEIGHT = 9.5;
const MIN_HEADING_HEIGHT = 10.2;

/** The last line of a page belongs to no heading. */
function assertNoLonelyHeading(name: string, pages: PdfPage[], headings: string[]): void {
  pages.forEach(({ lastLine, lastLineHeight }, index) => {
    // Small print may repeat a heading. The smallest headings have the size of the text.
    const isHeading = (heading: string) =>
      lastLineHeight >= MIN_HEADING_HEIGHT
        ? heading.endsWith(lastLine)
        : lastLineHeight >= TEXT_HEIGHT && heading === lastLine;
    const lonely = headings.filter(isHeading);
    assert.deepEqual(lonely, [], `${name}, page ${index + 1}: “${lastLine}”`);
  });
}

function assertFilled(name: string, pages: PdfPage[], minimum: number): void {
  const empty = pages
    .slice(0, -1)
    .flatMap(({ filled }, index) =>
      filled < minimum ? [`page ${index + 1}: ${filled.toFixed(2)}`] : [],
    );
  assert.deepEqual(empty, [], name);
}

describe('Pages of a report PDF', { skip }, () => {
  let reports: [string, Report][];
  before(async () => {
    reports = await reportsOfEveryLength();
  });

  it('are at least a third full except the last, without a heading at the foot', async () => {
    assert.ok(reports.length >= 12);
    for (const [name, report] of reports) {
      const pdf = await reportPdf(report);
      const pages = pdfLayout(pdf);
      assert.ok(pages.length >= 3, name);
      assertFilled(name, pages, 1 / 3);
      assertNoLonelyHeading(name, pages, pdfHeadings(pdf));
    }
  });

  it('are at most two for each test of a shared PDF, and more than half full', async () => {
    const shares = [
      ['campaign', await campaignShare()],
      ['two', shareOf(reports.slice(1, 3).map(([, report]) => report))],
      ['all', shareOf(reports.map(([, report]) => report))],
      ['eight', await largeShare(8)],
    ] as const;
    for (const [name, share] of shares) {
      const pdf = await sharedPdf(share);
      const pages = pdfLayout(pdf);
      assert.ok(pages.length <= 1 + 2 * share.reports.length, `${name}: ${pages.length} pages`);
      assertFilled(name, pages, 1 / 2);
      assertNoLonelyHeading(name, pages, pdfHeadings(pdf));
      const text = pages.map(({ text: pageText }) => pageText).join('\n');
      assert.doesNotMatch(text, /too long for the PDF/, name);
    }
  });
});
