/** The report as a PDF: the page's order, nothing folded, for people who print, file or forward it. */

import type { Report } from '../report.ts';
import { authenticationSection } from './authentication.ts';
import { drawFooters, withinPages } from './blocks.ts';
import { pathSection } from './delivery-path.ts';
import { checksSections, fixesSection } from './findings.ts';
import { loadFonts } from './fonts.ts';
import { messageSection } from './message.ts';
import { placementSection, providersSection } from './providers.ts';
import { collect, createSheet, MAX_PAGES, openDocument, type Sheet } from './sheet.ts';
import { shown } from './style.ts';
import { ledgerSection, verdictSection } from './verdict.ts';

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
  withinPages(
    sheet,
    () => {
      for (const draw of SECTIONS) draw(sheet, report);
    },
    `There is more than fits on ${MAX_PAGES} pages: the rest is in the report's page and in the API.`,
  );
  drawFooters(sheet, title);
  doc.end();
  return bytes;
}
