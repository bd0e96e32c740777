/** Every PDF contains every word of its document. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPdf } from '../../src/report/pdf/pdf.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfWords } from '../helpers/pdf.ts';
import { allDocuments } from '../report/documents.ts';
import { asReadOnPaper, leavesOf } from '../report/leaves.ts';

test('Report renderer (PDF) shows every word of every document', {
  skip: skipUnlessInstalled('pdftotext'),
}, async () => {
  for (const [which, document] of await allDocuments()) {
    if (/ (?:as page|in a terminal)$/.test(which)) continue;
    const painted = asReadOnPaper(pdfWords(await renderPdf(document)));
    const leaves = leavesOf(document.blocks);
    assert.ok(leaves.length > 1, which);
    for (const leaf of leaves)
      assert.ok(painted.includes(asReadOnPaper(leaf)), `${which}: ${leaf}`);
  }
});
