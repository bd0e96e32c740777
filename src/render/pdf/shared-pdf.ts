/** A shared report as a PDF: an overview where there are many, then each report from a page of its own. */

import type { Report } from '../report.ts';
import { isBriefPdf, reportName, type Share, shareTitle } from '../share.ts';
import { authenticationSection } from './authentication-section.ts';
import { outlineEntry } from './blocks.ts';
import { checksSections } from './checks-section.ts';
import { collect, openDocument } from './document.ts';
import { findingsTable } from './findings-table.ts';
import { fixesSection } from './fixes-section.ts';
import { loadFonts } from './fonts.ts';
import { drawFooters } from './footer.ts';
import { ledgerSection } from './ledger-section.ts';
import { placementSection } from './placement-section.ts';
import { providersSection } from './providers-section.ts';
import { overview, placeOf, shareFacts } from './shared-overview.ts';
import { createSheet, MAX_PAGES, type Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { verdictSection } from './verdict-section.ts';
import { withinPages } from './within-pages.ts';

type Draw = (sheet: Sheet, report: Report) => void;

const WHOLE: Draw[] = [
  fixesSection,
  ledgerSection,
  authenticationSection,
  placementSection,
  providersSection,
  checksSections,
];
/** Of many, what one can still look through. */
const BRIEF: Draw[] = [findingsTable, ledgerSection, authenticationSection, placementSection];

/** For all reports together: more is read by nobody, and takes too long to make. */
const PAGES_OF_REPORTS = 300;

const LAST_WORD =
  'There is more than fits on these pages: the rest is in the page that the same link opens.';

/** A4, tagged; the reports must have been cut for strangers. The same bytes for the same share. */
export async function sharedPdf(share: Share): Promise<Uint8Array> {
  const title = shown(shareTitle(share), 160);
  const doc = openDocument(title, share.created_at);
  const bytes = collect(doc);
  const sheet = createSheet(doc, loadFonts(doc));
  const [first, ...more] = share.reports;
  if (first && more.length === 0) alone(sheet, share, first);
  else many(sheet, share);
  drawFooters(sheet, title);
  doc.end();
  return bytes;
}

function alone(sheet: Sheet, share: Share, report: Report): void {
  withinPages(
    sheet,
    () => {
      shareFacts(sheet, share);
      verdictSection(sheet, report);
      for (const draw of WHOLE) draw(sheet, report);
    },
    LAST_WORD,
  );
}

function many(sheet: Sheet, share: Share): void {
  withinPages(sheet, () => overview(sheet, share), LAST_WORD);
  const { length } = share.reports;
  const pages = Math.min(MAX_PAGES, Math.floor(PAGES_OF_REPORTS / length));
  sheet.depth = 1;
  share.reports.forEach((report, index) => {
    sheet.begin(pages);
    const { outline } = sheet;
    sheet.outline = outlineEntry(sheet, shown(reportName(report), 100));
    sheet.doc.addNamedDestination(placeOf(index), 'XYZ', sheet.left, 0, null as never);
    sheet.element('Sect', () => {
      const above = `TEST ${index + 1} OF ${length}`;
      withinPages(
        sheet,
        () => {
          verdictSection(sheet, report, above);
          for (const draw of isBriefPdf(share) ? BRIEF : WHOLE) draw(sheet, report);
        },
        LAST_WORD,
      );
    });
    sheet.outline = outline;
  });
}
