/**
 * Reports as PDF, for people who print, file or forward them. We lay out on pdfkit ourselves: of the
 * libraries that lay out for it none makes tagged pages, breaks hostile text safely, and gives the same
 * bytes for the same report.
 */

import { MAX_PAGES, type Part, type ReportDocument } from '../blocks.ts';
import { sharedDocument, testDocument } from '../document/document.ts';
import { summaryDocument } from '../document/summary.ts';
import type { Report } from '../report.ts';
import type { Share } from '../share.ts';
import type { ScheduledReport } from '../summary.ts';
import { loadFonts } from './fonts.ts';
import { drawFooters, paragraph, withinPages } from './layout.ts';
import { paintBlocks, paintPart } from './paint.ts';
import { collect, createSheet, openDocument } from './sheet.ts';
import { SMALL } from './style.ts';

export const reportPdf = (report: Report): Promise<Uint8Array> =>
  paintPdf(testDocument(report, 'paper'));

/** The reports must have been redacted. */
export const sharedPdf = (share: Share): Promise<Uint8Array> =>
  paintPdf(sharedDocument(share, 'paper'));

export const summaryPdf = (report: ScheduledReport): Promise<Uint8Array> =>
  paintPdf(summaryDocument(report));

/** For all parts together: more is read by nobody, and takes too long to make. */
const PAGES_OF_PARTS = 300;

/** A4, tagged, of at most 40 pages for each part; the same bytes for the same document. */
export async function paintPdf(document: ReportDocument): Promise<Uint8Array> {
  const { title, time, blocks, foot, cutOff } = document;
  const doc = openDocument(title, time);
  const bytes = collect(doc);
  const sheet = createSheet(doc, loadFonts(doc));
  const parts = blocks.filter((block): block is Part => block.kind === 'part');
  sheet.places = new Set(parts.map(({ id }) => id));
  withinPages(
    sheet,
    () => {
      paintBlocks(
        sheet,
        blocks.filter((block) => block.kind !== 'part'),
      );
      for (const text of foot) paragraph(sheet, text, SMALL);
    },
    cutOff,
  );
  const pages = Math.min(MAX_PAGES, Math.floor(PAGES_OF_PARTS / parts.length));
  for (const part of parts) paintPart(sheet, part, pages, cutOff);
  drawFooters(sheet, title);
  doc.end();
  return bytes;
}
