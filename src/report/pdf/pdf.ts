/**
 * Reports as PDF files. We lay out pages ourselves: no layout library for pdfkit produces tagged pages,
 * breaks hostile text safely and returns the same bytes for the same report.
 */

import type { Part, ReportDocument } from '../blocks.ts';
import { CHECKED_WITH } from '../brand.ts';
import { sharedDocument, testDocument } from '../document/document.ts';
import { summaryDocument } from '../document/summary.ts';
import type { Report } from '../report.ts';
import type { Share } from '../share.ts';
import type { ScheduledReport } from '../summary.ts';
import { drawBrand } from './brand.ts';
import { type Fonts, loadFonts, type SystemFonts } from './fonts.ts';
import { drawFooters, drawParagraph, drawWithinPageLimit } from './layout.ts';
import { renderBlocks, renderPart } from './paint.ts';
import { collect, createSheet, openDocument } from './sheet.ts';
import { SMALL } from './style.ts';

export const reportPdf = (report: Report, systemFonts?: SystemFonts): Promise<Uint8Array> =>
  renderPdf(testDocument(report, 'pdf'), systemFonts);

/** The reports must be redacted already. */
export const sharedPdf = (share: Share, systemFonts?: SystemFonts): Promise<Uint8Array> =>
  renderPdf(sharedDocument(share, 'pdf'), systemFonts);

export const summaryPdf = (
  report: ScheduledReport,
  systemFonts?: SystemFonts,
): Promise<Uint8Array> => renderPdf(summaryDocument(report), systemFonts);

/** A part is a brief report. */
const MAX_PART_PAGES = 2;

/** A tagged A4 document with at most 40 pages, and two more for each part. The same document gives the same bytes. */
export async function renderPdf(
  document: ReportDocument,
  systemFonts?: SystemFonts,
): Promise<Uint8Array> {
  const doc = openDocument(document.title, document.time);
  const fonts = loadFonts(doc, systemFonts);
  try {
    return await paintDocument(doc, fonts, document);
  } catch (error) {
    // A damaged font of the system costs its text, never the PDF.
    if (!fonts.usesSystemFonts) throw error;
    return renderPdf(document);
  }
}

async function paintDocument(
  doc: PDFKit.PDFDocument,
  fonts: Fonts,
  { title, blocks, footer, truncationNote, brand = null }: ReportDocument,
): Promise<Uint8Array> {
  const bytes = collect(doc);
  const sheet = createSheet(doc, fonts);
  const parts = blocks.filter((block): block is Part => block.kind === 'part');
  if (brand) drawBrand(sheet, brand);
  sheet.destinations = new Set(parts.map(({ id }) => id));
  drawWithinPageLimit(
    sheet,
    () => {
      renderBlocks(
        sheet,
        blocks.filter((block) => block.kind !== 'part'),
      );
      sheet.skip(8);
      for (const text of [...footer, ...(brand ? [[CHECKED_WITH]] : [])])
        drawParagraph(sheet, text, SMALL);
    },
    truncationNote,
  );
  for (const part of parts) renderPart(sheet, part, MAX_PART_PAGES, truncationNote);
  drawFooters(sheet, title);
  doc.end();
  return bytes;
}
