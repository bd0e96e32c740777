/** The report as a PDF: the page's order, nothing folded, for people who print, file or forward it. */

import type { Report } from '../report.ts';
import { authenticationSection } from './authentication-section.ts';
import { checksSections } from './checks-section.ts';
import { collect, openDocument } from './document.ts';
import { fixesSection } from './fixes-section.ts';
import { loadFonts } from './fonts.ts';
import { drawFooters } from './footer.ts';
import { ledgerSection } from './ledger-section.ts';
import { messageSection } from './message-section.ts';
import { pathSection } from './path-section.ts';
import { placementSection } from './placement-section.ts';
import { providersSection } from './providers-section.ts';
import { createSheet, MAX_PAGES, type Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { verdictSection } from './verdict-section.ts';
import { withinPages } from './within-pages.ts';

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
