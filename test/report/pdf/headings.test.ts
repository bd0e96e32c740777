/** Headings in PDFs stay with what follows them, wherever on a page they are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block, ReportDocument } from '../../../src/report/blocks.ts';
import { loadFonts } from '../../../src/report/pdf/fonts.ts';
import { renderBlocks } from '../../../src/report/pdf/paint.ts';
import { createSheet, openDocument, PageLimitError } from '../../../src/report/pdf/sheet.ts';
import { PAGE } from '../../../src/report/pdf/style.ts';
import { isFullSize } from '../../helpers/full-size.ts';
import { seededRandom } from '../../helpers/random.ts';
import { allDocuments } from '../documents.ts';

interface Drawn {
  isHeading: boolean;
  page: number;
}

/** What is drawn of `blocks` if they begin at `offset` points below the top of a page. */
function draw(blocks: Block[], offset: number): Drawn[] {
  const doc = openDocument('Headings', null);
  doc.on('data', () => {});
  const sheet = createSheet(doc, loadFonts(doc));
  sheet.y = PAGE.top + offset;
  const drawn: Drawn[] = [];
  const types: string[] = [];
  const { element, content } = sheet;
  sheet.element = (type, paint, options) =>
    element(
      type,
      () => {
        types.push(type);
        paint();
        types.pop();
      },
      options,
    );
  sheet.content = (paint) => {
    const isHeading = types.some((type) => /^H\d$/.test(type));
    drawn.push({ isHeading, page: doc.bufferedPageRange().count });
    content(paint);
  };
  try {
    renderBlocks(sheet, blocks);
  } catch (error) {
    // The end of the document, which a note follows.
    if (!(error instanceof PageLimitError)) throw error;
    while (drawn.at(-1)?.isHeading) drawn.pop();
  }
  return drawn;
}

/** The bodies of a document that a PDF shows one after another. */
const bodiesOf = ({ blocks }: ReportDocument): Block[][] => [
  blocks.filter(({ kind }) => kind !== 'part'),
  ...blocks.flatMap((block) => (block.kind === 'part' ? [block.blocks] : [])),
];

/** Points between two positions: other seeds find other positions. */
const STEP = isFullSize ? 20 : 90;
const LAST_OFFSET = PAGE.height - PAGE.top - PAGE.bottom;

test('A heading never ends a page of a PDF', async () => {
  const documents = (await allDocuments()).filter(
    ([name]) => /pdf|summary/.test(name) && !/^(?:six|campaign)/.test(name),
  );
  assert.ok(documents.length >= 10, `${documents.length}`);
  const random = seededRandom(11);
  let headings = 0;
  for (const [name, document] of documents)
    for (const blocks of bodiesOf(document))
      for (let offset = 0; offset < LAST_OFFSET; offset += STEP + random.below(STEP)) {
        const drawn = draw(blocks, offset);
        drawn.forEach(({ isHeading, page }, index) => {
          if (!isHeading) return;
          headings += 1;
          const next = drawn[index + 1];
          assert.equal(next?.page, page, `${name}, ${offset} points down, page ${page}`);
        });
      }
  assert.ok(headings > 1_000, `${headings}`);
});
