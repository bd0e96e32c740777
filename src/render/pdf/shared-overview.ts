/** The first page of a shared report: what it is, until when it can be read, and a row for each test. */

import type { Report } from '../report.ts';
import { verdictOf } from '../report-words.ts';
import {
  fromDomainOf,
  isBriefPdf,
  missingSentence,
  reportName,
  type Share,
  scoresSentence,
  shareTitle,
} from '../share.ts';
import { scoresChart } from '../share-chart.ts';
import { BODY, outlineEntry, paragraph, SMALL } from './blocks.ts';
import { chartFigure } from './chart-figure.ts';
import { COLOR, GRADE_COLOR, TYPE } from './look.ts';
import type { Sheet } from './sheet.ts';
import { shown, shownTime } from './shown-text.ts';
import { type Cell, table } from './table.ts';

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
