/** The report as a PDF: the page's order, nothing folded, for people who print, file or forward it. */

import PDFDocument from 'pdfkit';
import type { Report } from '../report.ts';
import { authenticationSection } from './authentication-section.ts';
import { paragraph, SMALL } from './blocks.ts';
import { checksSections } from './checks-section.ts';
import { fixesSection } from './fixes-section.ts';
import { loadFonts } from './fonts.ts';
import { drawFooters } from './footer.ts';
import { ledgerSection } from './ledger-section.ts';
import { PAGE } from './look.ts';
import { messageSection } from './message-section.ts';
import { pathSection } from './path-section.ts';
import { placementSection } from './placement-section.ts';
import { providersSection } from './providers-section.ts';
import { createSheet, MAX_PAGES, PagesFull, type Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { verdictSection } from './verdict-section.ts';

const SECTIONS: ((sheet: Sheet, report: Report) => void)[] = [
  verdictSection,
  fixesSection,
  ledgerSection,
  authenticationSection,
  placementSection,
  providersSection,
  pathSection,
  messageSection,
  checksSections,
];

/** A4, tagged, at most 40 pages; the same bytes for the same report. */
export async function reportPdf(report: Report): Promise<Uint8Array> {
  const title = `Deliverability report: ${shown(report.name ?? report.subject ?? report.id ?? 'a message', 160)}`;
  const doc = openDocument(title, report.completed_at ?? report.received_at);
  const bytes = collect(doc);
  const sheet = createSheet(doc, loadFonts(doc));
  try {
    for (const draw of SECTIONS) draw(sheet, report);
  } catch (error) {
    if (!(error instanceof PagesFull)) throw error;
    // The last page has kept this room free.
    sheet.need = () => {};
    paragraph(
      sheet,
      `There is more than fits on ${MAX_PAGES} pages: the rest is in the report's page and in the API.`,
      { style: SMALL },
    );
  }
  drawFooters(sheet, title);
  doc.end();
  return bytes;
}

function openDocument(title: string, time: string | null): PDFKit.PDFDocument {
  const { width, height, left, right, top, bottom } = PAGE;
  const options: PDFKit.PDFDocumentOptions = {
    size: [width, height],
    margins: { left, right, top, bottom },
    // None yet, and never one of those that pdfkit would read from files of its own.
    font: null as never,
    pdfVersion: '1.7',
    lang: 'en-GB',
    displayTitle: true,
    tagged: true,
    // The foot of a page says how many there are.
    bufferPages: true,
    info: {
      Title: inXmlToo(title) as string,
      Creator: 'Deliverability',
      // The report's own time, so that the same report is the same file.
      CreationDate: new Date(time === null ? 0 : Date.parse(time)),
    },
  };
  return new PDFDocument(options);
}

/** pdfkit writes the title as a PDF string and, by its text, into XML, where it escapes nothing. */
function inXmlToo(text: string): unknown {
  const xml = text.replace(/[<>&]/g, (char) => `&#${char.charCodeAt(0)};`);
  return Object.assign(new String(text), { toString: () => xml });
}

function collect(doc: PDFKit.PDFDocument): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    doc.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    doc.on('error', reject);
    doc.on('end', () => resolve(new Uint8Array(Buffer.concat(chunks))));
  });
}
