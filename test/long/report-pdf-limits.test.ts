/** A PDF report has at most 40 pages, whatever the message contains. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportPdf } from '../../src/report/pdf/pdf.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfPages } from '../helpers/pdf.ts';
import { badReport, filledWith } from '../report/reports.ts';

const BAD = await badReport();

describe('Report PDF with hostile message content', {
  skip: skipUnlessInstalled('pdftotext'),
}, () => {
  it('truncates megabyte-long text to 40 pages', async () => {
    for (const word of ['x'.repeat(1e6), '漢'.repeat(1e6), 'a '.repeat(5e5), '\n'.repeat(1e6)]) {
      const pages = pdfPages(await reportPdf(filledWith(word, BAD)));
      assert.ok(pages.length <= 40, `${pages.length} pages`);
    }
  });

  it('ends on page 40 with a note for thousands of findings', async () => {
    const many = Array.from({ length: 100 }, () => BAD.checks).flat();
    const pages = pdfPages(await reportPdf({ ...BAD, checks: many }));
    assert.equal(pages.length, 40);
    assert.match(pages[39]!, /This PDF is limited to 40 pages/);
    assert.match(pages[39]!, /Page 40 of 40/);
    assert.doesNotMatch(pages[38]!, /There is more than fits/);
  });
});
