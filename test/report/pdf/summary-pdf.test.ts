/** Scheduled reports as PDF: complete, tagged, reproducible, and safe with hostile names. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { summaryPdf } from '../../../src/report/pdf/pdf.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { pdfFonts, pdfInfo, pdfPages, pdfStructure, pdfWords } from '../../helpers/pdf.ts';
import { HOSTILE, MONTH, NOTHING, UNSCORED, WEEK } from '../scheduled-reports.ts';

describe('Summary PDF', { skip: skipUnlessInstalled('pdftotext') }, () => {
  it('contains score, figures, issues, trend, domains and alerts', async () => {
    const words = pdfWords(await summaryPdf(WEEK));
    for (const wanted of [
      'Deliverability last week',
      'Shop and newsletter',
      'Up 4 points from the week before (83).',
      'Mon 16 Nov 2026 to Sun 22 Nov 2026 (Europe/Berlin)',
      'DMARC 93%',
      'Inbox 92% 126 samples',
      'Your DMARC policy is missing or not enforced. 12',
      'Sat 21 Nov 90 2 Sun 22 Nov – 0',
      'Gmail users report 0.34% of your mail as spam. The limit is 0.3%.',
      '✗ Critical 41',
      'On 18 Nov 2026, the highest of 5 days with data; 0.04% on 20 Nov 2026',
      'shop.example: SPF, DKIM or DMARC fails',
    ])
      assert.ok(words.includes(wanted), wanted);
  });

  it('is tagged and has text alternatives for charts', async () => {
    const pdf = await summaryPdf(WEEK);
    const info = pdfInfo(pdf);
    assert.match(info, /^Title: +Deliverability last week: Shop and newsletter$/m);
    assert.match(info, /^Tagged: +yes$/m);
    assert.match(info, /^CreationDate: +Sun Nov 22 23:00:00 2026 UTC$/m);
    const structure = pdfStructure(pdf);
    assert.equal(structure.match(/^ *Figure/gm)!.length, 3);
    const raw = Buffer.from(pdf).toString('latin1');
    assert.ok(raw.includes('/Alt (Average score by day. Mon 16 Nov: 62; Tue 17 Nov: 75;'));
    const titles = [...structure.matchAll(/^ +H2 .*\n +"(.*)"$/gm)].map(([, title]) => title);
    assert.deepEqual(titles, [
      'Key figures',
      'Inbox placement',
      'Most frequent issues',
      'What receivers report',
      'What Google and Microsoft publish',
      'Trends',
      'Domains',
      'Alerts',
    ]);
  });

  it('contains the requested sections and notes when nothing was tested', async () => {
    const titlesOf = async (report: typeof WEEK) =>
      [...pdfStructure(await summaryPdf(report)).matchAll(/^ +H2 .*\n +"(.*)"$/gm)].map(
        ([, title]) => title,
      );
    assert.deepEqual(await titlesOf({ ...WEEK, sections: ['trends'] }), ['Trends']);
    assert.deepEqual(await titlesOf({ ...WEEK, sections: [] }), []);
    const nothing = await summaryPdf(NOTHING);
    assert.equal(pdfPages(nothing).length, 1);
    assert.ok(pdfWords(nothing).includes('No score: no tests were completed in this period.'));
    assert.doesNotMatch(pdfWords(nothing), /NaN|undefined|null/);
  });

  it('without scores says so and shows unknown rates as unknown', async () => {
    const words = pdfWords(await summaryPdf(UNSCORED));
    for (const wanted of [
      'No score: no test in this period has a score.',
      '3 tests (36 the week before).',
      'SPF unknown 0 tests with a result',
    ])
      assert.ok(words.includes(wanted), words);
    assert.doesNotMatch(words, /Average score|(?<!\d)0% 0|NaN|undefined|null/);
  });

  it('is identical for the same report and embeds its fonts', async () => {
    const [once, again] = [await summaryPdf(MONTH), await summaryPdf(MONTH)];
    assert.ok(Buffer.from(once).equals(Buffer.from(again)));
    assert.ok(once.length < 200_000, `${once.length}`);
    for (const font of pdfFonts(once).trim().split('\n').slice(2))
      assert.match(font, / yes +yes +/);
  });

  it('shows hostile names as text and shortens long lists', async () => {
    const pdf = await summaryPdf(HOSTILE);
    const words = pdfWords(pdf);
    assert.ok(words.includes('"><script>alert(1)</script>'));
    assert.ok(words.includes('And 980 more.'));
    assert.ok(pdfPages(pdf).length < 15);
    const raw = Buffer.from(pdf).toString('latin1');
    assert.deepEqual(
      [...new Set(raw.match(/\/URI \([^)]*\)/g))],
      ['/URI (https://app.example.com)'],
    );
  });
});
