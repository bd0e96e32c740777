/** The sections of a scheduled report as a PDF: figures, frequent issues, trends, domains and alerts. */

import type { Grade } from '../../analysis/result.ts';
import { valueText } from '../chart.ts';
import { cut } from '../mail-text.ts';
import type { ScheduledReport } from '../summary.ts';
import { daysBeginAt, trendCharts } from '../summary-charts.ts';
import {
  countOf,
  domainsInWords,
  HEALTH,
  incidentTimes,
  incidentTitle,
  NAME_LENGTH,
  NOT_KNOWN,
  percent,
  ratesOf,
} from '../summary-words.ts';
import { BODY, paragraph, SMALL, section, subheading } from './blocks.ts';
import { chartFigure } from './chart-figure.ts';
import { GRADE_COLOR } from './look.ts';
import type { Sheet } from './sheet.ts';
import { mark } from './states.ts';
import { table } from './table.ts';

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
