/** A scheduled report as a PDF: what its e-mail tells, for people who print, file or forward it. */

import type { Grade } from '../../analysis/result.ts';
import { valueText } from '../charts.ts';
import { cut } from '../plain-text.ts';
import {
  averageOf,
  countOf,
  daysBeginAt,
  domainsInWords,
  HEALTH,
  incidentTimes,
  incidentTitle,
  NAME_LENGTH,
  NOT_KNOWN,
  percent,
  periodInWords,
  ratesOf,
  type ScheduledReport,
  scoreComparison,
  testsInWords,
  titleOf,
  trendCharts,
  withoutScore,
} from '../summary.ts';
import {
  BODY,
  drawFooters,
  outlineEntry,
  paragraph,
  SMALL,
  section,
  subheading,
  table,
  withinPages,
} from './blocks.ts';
import { chartFigure, RING, scoreRing } from './figures.ts';
import { loadFonts } from './fonts.ts';
import { collect, createSheet, MAX_PAGES, openDocument, type Sheet } from './sheet.ts';
import { COLOR, GRADE_COLOR, mark, shown, TYPE } from './style.ts';

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

// The sections of a scheduled report as a PDF: figures, frequent issues, trends, domains and alerts.

export function figuresSection(sheet: Sheet, { summary }: ScheduledReport): void {
  section(sheet, 'In figures', () => {
    table(
      sheet,
      [
        { title: 'Passed, or in the inbox', share: 40 },
        { title: 'Share', share: 30, align: 'right' },
        { title: 'Of', share: 30, align: 'right' },
      ],
      ratesOf(summary).map(({ label, share, counted }) => [label, share ?? NOT_KNOWN, counted]),
    );
    if (summary.scored === 0) return;
    sheet.y += 12;
    const given = Object.entries(summary.grades) as [Grade, number][];
    table(
      sheet,
      [
        { title: 'Grade', share: 40 },
        { title: 'Share', share: 30, align: 'right' },
        { title: 'Tests', share: 30, align: 'right' },
      ],
      given.map(([grade, count]) => [
        [{ text: grade, face: 'bold', color: GRADE_COLOR[grade] }],
        percent(count / summary.scored),
        countOf(count),
      ]),
    );
  });
}

export function issuesSection(sheet: Sheet, { summary: { top_issues } }: ScheduledReport): void {
  section(sheet, 'Most frequent issues', () => {
    if (top_issues.length === 0) {
      paragraph(sheet, 'No test found anything to mend.');
      return;
    }
    table(
      sheet,
      [
        { title: 'Issue', share: 80 },
        { title: 'Tests', share: 20, align: 'right' },
      ],
      top_issues.map(({ issue, count }) => [cut(issue, 2 * NAME_LENGTH), countOf(count)]),
    );
  });
}

/** A heading, a chart, and what follows it together. */
const CHART = 150;

export function trendsSection(sheet: Sheet, report: ScheduledReport): void {
  const charts = trendCharts(report);
  const [first] = charts;
  if (!first) return;
  section(
    sheet,
    'Trends',
    () => {
      for (const chart of charts) {
        subheading(sheet, chart.title, CHART);
        chartFigure(sheet, chart);
      }
      const begin = daysBeginAt(report);
      if (begin) paragraph(sheet, begin, { style: SMALL });
      sheet.y += 8;
      table(
        sheet,
        [
          { title: first.by === 'day' ? 'Day' : 'Hour', share: 40 },
          ...charts.map(({ title }) => ({ title, share: 30, align: 'right' as const })),
        ],
        first.buckets.map(({ name }, index) => [
          name,
          ...charts.map((chart) => valueText(chart, chart.buckets[index]!)),
        ]),
      );
    },
    CHART + 20,
  );
}

export function alertsSection(sheet: Sheet, report: ScheduledReport): void {
  section(sheet, 'Domains', () => domains(sheet, report));
  section(sheet, 'Alerts', () => incidents(sheet, report));
}

function domains(sheet: Sheet, report: ScheduledReport): void {
  paragraph(sheet, domainsInWords(report));
  if (report.domains.length > 0) {
    sheet.y += 4;
    table(
      sheet,
      [
        { title: 'Domain', share: 60 },
        { title: 'State', share: 24 },
        { title: 'Score', share: 16, align: 'right' },
      ],
      report.domains.map(({ name, health, score }) => [
        cut(name, NAME_LENGTH),
        mark(HEALTH[health].state, HEALTH[health].word),
        score === null ? '–' : String(score),
      ]),
    );
  }
  leftOut(sheet, report.domainsLeftOut);
}

function incidents(sheet: Sheet, report: ScheduledReport): void {
  if (report.incidents.length === 0) {
    paragraph(sheet, 'No alert rule found anything in this time.');
    return;
  }
  table(
    sheet,
    [
      { title: 'What', share: 82 },
      { title: 'State', share: 18 },
    ],
    report.incidents.map((incident) => [
      {
        parts: [
          { text: incidentTitle(incident), style: BODY },
          { text: incidentTimes(incident, report.timezone), style: SMALL },
        ],
      },
      incident.resolved_at === null ? mark('fail', 'Open') : mark('pass', 'Over'),
    ]),
  );
  leftOut(sheet, report.incidentsLeftOut);
}

function leftOut(sheet: Sheet, count: number): void {
  if (count === 0) return;
  sheet.y += 6;
  paragraph(sheet, `And ${countOf(count)} more.`, { style: SMALL });
}
