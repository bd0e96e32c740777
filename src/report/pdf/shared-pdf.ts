/** A shared report as a PDF: an overview where there are many, then each report from a page of its own. */

import { verdictOf } from '../content.ts';
import type { Report } from '../report.ts';
import {
  fromDomainOf,
  isBriefPdf,
  missingSentence,
  reportName,
  type Share,
  scoresChart,
  scoresSentence,
  shareTitle,
} from '../share.ts';
import { authenticationSection } from './authentication.ts';
import {
  BODY,
  type Cell,
  drawFooters,
  outlineEntry,
  paragraph,
  SMALL,
  table,
  withinPages,
} from './blocks.ts';
import { chartFigure } from './figures.ts';
import { checksSections, findingsTable, fixesSection } from './findings.ts';
import { loadFonts } from './fonts.ts';
import { placementSection, providersSection } from './providers.ts';
import { collect, createSheet, MAX_PAGES, openDocument, type Sheet } from './sheet.ts';
import { COLOR, GRADE_COLOR, shown, shownTime, TYPE } from './style.ts';
import { ledgerSection, verdictSection } from './verdict.ts';

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

// The first page of a shared report: what it is, until when it can be read, and a row for each test.

/** The name of the place in the document where a report begins, by its index. */
export const placeOf = (index: number): string => `test-${index + 1}`;

export function overview(sheet: Sheet, share: Share): void {
  outlineEntry(sheet, 'Overview');
  const brand = { ...SMALL, face: 'bold', color: COLOR.accent } as const;
  paragraph(sheet, 'SHARED DELIVERABILITY REPORT', { style: brand });
  sheet.y += 8;
  shareFacts(sheet, share);
  if (share.reports.length === 0) return;
  paragraph(sheet, isBriefPdf(share) ? BRIEFNESS : WHERE, { style: SMALL });
  sheet.y += 8;
  const chart = scoresChart(share);
  if (chart) {
    paragraph(sheet, chart.title, { style: { ...BODY, face: 'bold' } });
    chartFigure(sheet, chart);
    sheet.y += 8;
  }
  table(
    sheet,
    [
      { title: 'Score', share: 11 },
      { title: 'Test', share: 34 },
      { title: 'Verdict', share: 39 },
      { title: 'Completed', share: 16, style: SMALL },
    ],
    share.reports.map(row),
  );
}

const WHERE = 'Each test begins on a page of its own, to which its name leads.';
const BRIEFNESS =
  'With so many tests each begins on a page of its own, to which its name leads, and is told in short: reasons, remedies, the providers’ rules and what passed are in the page that the same link opens.';

/** Title, times, and what is missing. */
export function shareFacts(sheet: Sheet, share: Share): void {
  // Of a report alone the verdict is the title.
  const isTitle = share.reports.length !== 1;
  const style = { ...(isTitle ? TYPE.title : TYPE.sub), face: 'bold', color: COLOR.ink } as const;
  paragraph(sheet, shown(shareTitle(share), 200), { style, tag: isTitle ? 'H1' : 'P' });
  sheet.y += 2;
  const times = `Shared ${shownTime(share.created_at)}. It can be read until ${shownTime(share.expires_at)}.`;
  paragraph(sheet, times, { style: SMALL });
  sheet.y += 3;
  const sentences = [missingSentence(share), isTitle ? scoresSentence(share) : null];
  for (const sentence of sentences) if (sentence !== null) paragraph(sheet, sentence);
  sheet.y += 14;
}

function row(report: Report, index: number): Cell[] {
  const { score, grade, completed_at } = report;
  const color = grade === null ? COLOR.unknown : GRADE_COLOR[grade];
  const bold = { size: 14, leading: 18, face: 'bold', color } as const;
  const name = {
    text: `${index + 1}. ${shown(reportName(report), 200)}`,
    face: 'bold',
    color: COLOR.accent,
    link: `#${placeOf(index)}`,
  } as const;
  return [
    {
      parts: [
        { text: score === null ? '–' : String(score), style: bold },
        { text: grade === null ? 'No score' : `Grade ${grade}`, style: SMALL },
      ],
    },
    {
      parts: [
        { text: [name], style: BODY },
        { text: shown(fromDomainOf(report) ?? 'From names no domain', 255), style: SMALL },
      ],
    },
    shown(verdictOf(report.summary), 300),
    completed_at === null ? '–' : shownTime(completed_at),
  ];
}
