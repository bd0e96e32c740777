/** A scheduled report as a PDF: what its e-mail tells, for people who print, file or forward it. */

import type { ScheduledReport } from '../summary.ts';
import {
  averageOf,
  NAME_LENGTH,
  periodInWords,
  scoreComparison,
  testsInWords,
  titleOf,
  withoutScore,
} from '../summary-words.ts';
import { BODY, outlineEntry, paragraph, SMALL } from './blocks.ts';
import { collect, openDocument } from './document.ts';
import { loadFonts } from './fonts.ts';
import { drawFooters } from './footer.ts';
import { COLOR, TYPE } from './look.ts';
import { RING, scoreRing } from './ring.ts';
import { createSheet, MAX_PAGES, type Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { alertsSection, figuresSection, issuesSection, trendsSection } from './summary-sections.ts';
import { withinPages } from './within-pages.ts';

const GAP = 26;

/** A4, tagged; the same bytes for the same report. */
export async function summaryPdf(report: ScheduledReport): Promise<Uint8Array> {
  const title = `${titleOf(report)}: ${shown(report.name, NAME_LENGTH)}`;
  const doc = openDocument(title, report.summary.to);
  const bytes = collect(doc);
  const sheet = createSheet(doc, loadFonts(doc));
  const { sections, summary } = report;
  const tested = summary.total_tests > 0;
  withinPages(
    sheet,
    () => {
      head(sheet, report);
      if (tested && sections.includes('summary')) {
        figuresSection(sheet, report);
        issuesSection(sheet, report);
      }
      if (tested && sections.includes('trends')) trendsSection(sheet, report);
      if (sections.includes('alerts')) alertsSection(sheet, report);
    },
    `There is more than fits on ${MAX_PAGES} pages.`,
  );
  drawFooters(sheet, title);
  doc.end();
  return bytes;
}

/** The mean score and how it compares, of which time, made where. */
function head(sheet: Sheet, report: ScheduledReport): void {
  outlineEntry(sheet, 'Score');
  const brand = { ...SMALL, face: 'bold', color: COLOR.accent } as const;
  paragraph(sheet, `${report.frequency.toUpperCase()} DELIVERABILITY REPORT`, { style: brand });
  sheet.y += 12;
  const indent = RING + GAP;
  const top = sheet.y;
  const average = averageOf(report.summary);
  scoreRing(sheet, average ?? { score: null, grade: null }, sheet.left, top);
  const style = { ...TYPE.title, face: 'bold', color: COLOR.ink } as const;
  paragraph(sheet, titleOf(report), { indent, tag: 'H1', style });
  sheet.y += 2;
  paragraph(sheet, shown(report.name, NAME_LENGTH), { indent, style: { ...BODY, face: 'bold' } });
  sheet.y += 6;
  if (average === null) paragraph(sheet, withoutScore(report.summary), { indent });
  if (report.summary.total_tests > 0) {
    paragraph(sheet, scoreComparison(report), { indent });
    paragraph(sheet, testsInWords(report), { indent });
  }
  sheet.y += 6;
  paragraph(sheet, periodInWords(report), { indent, style: SMALL });
  paragraph(sheet, [{ text: report.appUrl, link: report.appUrl, color: COLOR.accent }], {
    indent,
    style: SMALL,
  });
  sheet.y = Math.max(sheet.y, top + RING);
}
