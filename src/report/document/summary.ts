/** Builds the documents of a scheduled report: the email, with all figures or with a PDF, and that PDF. */

import type { Grade } from '../../analysis/result.ts';
import { INBOX_RATE, LOST } from '../../figures/placement.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { truncate } from '../../lib/format/plain-text.ts';
import { bothForms } from '../../lib/readable-domain.ts';
import {
  type Average,
  type Block,
  MAX_PAGES,
  oneLine,
  paragraph,
  type ReportDocument,
  type ScoreFigure,
  type Section,
  sanitize,
  small,
  state,
  strong,
  type Verdict,
} from '../blocks.ts';
import { extremesOf, valueText } from '../charts.ts';
import {
  basisOf,
  placementState,
  providerName,
  SAMPLE_NOTE,
  TOO_FEW,
  TOO_FEW_NOTE,
} from '../placement-rates.ts';
import {
  attentionText,
  averageOf,
  domainsInWords,
  gradesInWords,
  HEALTH,
  headlineOf,
  incidentTimes,
  incidentTitle,
  MAX_NAME_LENGTH,
  nameOf,
  noScoreReason,
  periodInWords,
  ratesOf,
  type ScheduledReport,
  scoreComparison,
  type TrendChart,
  testsInWords,
  titleOf,
  trendCharts,
  UNKNOWN,
} from '../summary.ts';
import { chartBlock } from './charts.ts';
import { type Medium, row, section, table } from './figures.ts';
import { figuresSections } from './receivers.ts';
import { GRADE_STATES, scoreWords } from './verdict.ts';

/** The content of an email, without its layout. */
export interface MailDocument {
  subject: string;
  /** The heading. */
  title: string;
  /** Mail clients show it next to the subject. */
  preheader: string;
  blocks: Block[];
  /** Null for a reader without an account. */
  button: { label: string; url: string } | null;
  footer: string;
  unsubscribe: { label: string; url: string } | null;
}

export interface ReportMailOptions {
  /** The unsubscribe link of this recipient; null in a preview. */
  unsubscribeUrl: string | null;
  /** Whether a PDF with the figures is attached. */
  hasPdf: boolean;
}

export function summaryMail(
  report: ScheduledReport,
  { unsubscribeUrl, hasPdf }: ReportMailOptions,
): MailDocument {
  const host = new URL(report.appUrl).host;
  const { brand = null, client = null } = report;
  const name = nameOf(report);
  const sender = brand ? truncate(brand.name, MAX_NAME_LENGTH) : `a team at ${host}`;

  return sanitize({
    subject: client
      ? `${truncate(client, MAX_NAME_LENGTH)}: ${headlineOf(report)}`
      : headlineOf(report),
    title: titleOf(report),
    preheader: preheaderOf(report),
    blocks: [
      lines(small(name), small(periodInWords(report))),
      ...averageBlocks(report),
      ...(hasPdf ? pdfReference(report) : mailSections(report)),
    ],
    button: client ? null : { label: 'Open the reports', url: `${report.appUrl}/reports` },
    footer: `You received this email because ${sender} added you to its ${report.frequency} report “${name}”.`,
    unsubscribe:
      unsubscribeUrl === null
        ? null
        : { label: 'Unsubscribe from this report', url: unsubscribeUrl },
  });
}

const lines = (...blocks: Block[]): Block => ({
  kind: 'group',
  name: 'remarks',
  title: null,
  blocks,
});

/** Complements the subject without repeating it. */
function preheaderOf(report: ScheduledReport): string {
  const { total_tests, top_issues } = report.summary;
  if (total_tests === 0)
    return `No tests were completed. ${report.sections.includes('alerts') && attentionText(report) ? domainsInWords(report) : ''}`;
  const [issue] = top_issues;
  const topIssue =
    issue && report.sections.includes('summary') ? ` Top issue: ${truncate(issue.issue, 90)}` : '';
  const noScore = averageOf(report.summary) ? '' : `${noScoreReason(report.summary)} `;
  return `${formatCount(total_tests, 'test')}. ${noScore}${scoreComparison(report)}${topIssue}`;
}

const pdfReference = (report: ScheduledReport): Block[] => [
  ...(report.sections.includes('alerts') ? [paragraph(domainsInWords(report))] : []),
  paragraph('See the attached PDF for the full report.'),
];

function averageBlocks(report: ScheduledReport): Block[] {
  const { summary } = report;
  const average = averageOf(summary);
  if (average === null) {
    const comparison =
      summary.total_tests > 0 ? [testsInWords(report), scoreComparison(report)] : [];
    return [lines(...[noScoreReason(summary), ...comparison].map((text) => paragraph(text)))];
  }
  const { score, grade } = average;
  const block: Average = {
    kind: 'average',
    score: averageFigure(report),
    label: `Score out of 100, grade ${grade}`,
    line: `Score: ${score} out of 100, grade ${grade}`,
    lines: [testsInWords(report), scoreComparison(report)],
  };
  return [block];
}

function averageFigure({ summary }: ScheduledReport): ScoreFigure {
  const { score, grade } = averageOf(summary) ?? { score: null, grade: null };
  return {
    score,
    grade,
    state: grade === null ? 'unknown' : GRADE_STATES[grade],
    uncapped: null,
    ...scoreWords(score, grade),
    alt: score === null ? 'No score.' : `Score ${score} out of 100, grade ${grade}.`,
  };
}

function mailSections(report: ScheduledReport): Block[] {
  const { sections, summary } = report;
  const hasTests = summary.total_tests > 0;
  return [
    ...(hasTests && sections.includes('summary')
      ? [
          ratesTiles(report),
          ...gradesSections(report),
          ...placementSections(report, 'mail'),
          issuesSection(report, 'mail'),
        ]
      : []),
    // Reports of receivers do not need tests.
    ...(sections.includes('summary') ? figuresSections(summary, 'mail') : []),
    ...(hasTests && sections.includes('trends') ? trendSections(report) : []),
    ...(sections.includes('alerts')
      ? [domainsSection(report, 'mail'), alertsSection(report, 'mail')]
      : []),
  ];
}

const ratesTiles = ({ summary }: ScheduledReport): Block => ({
  kind: 'tiles',
  items: ratesOf(summary).map(({ label, share, basis }) => ({
    name: label,
    figure: share ?? '–',
    isKnown: share !== null,
    below: basis,
  })),
});

function gradesSections({ summary }: ScheduledReport): Section[] {
  const words = gradesInWords(summary);
  if (words === '') return [];
  const gradeCounts = Object.entries(summary.grades) as [Grade, number][];
  const items = gradeCounts
    .filter(([, count]) => count > 0)
    .map(([grade, count]) => ({ grade, count, text: formatCount(count) }));
  return [section('grades', 'Grades', [{ kind: 'grades', items, words }])];
}

function issuesSection({ summary: { top_issues } }: ScheduledReport, medium: Medium): Section {
  const toSection = (block: Block) => section('issues', 'Most frequent issues', [block]);
  if (top_issues.length === 0) return toSection(paragraph('No issues found.'));
  if (medium === 'mail')
    return toSection({
      kind: 'rows',
      items: top_issues.map(({ issue, count }) => ({
        title: truncate(issue, 2 * MAX_NAME_LENGTH),
        below: null,
        value: formatCount(count, 'test'),
        state: null,
      })),
    });
  return toSection(
    table(
      [
        { title: 'Issue', share: 80 },
        { title: 'Tests', share: 20, isNumber: true },
      ],
      top_issues.map(({ issue, count }) =>
        row(truncate(issue, 2 * MAX_NAME_LENGTH), formatCount(count)),
      ),
    ),
  );
}

/** The inbox rate of each provider of seed mailboxes; no section without samples. */
function placementSections({ summary }: ScheduledReport, medium: Medium): Section[] {
  const { by_provider } = summary.placement;
  if (by_provider.length === 0) return [];
  const providers = by_provider.slice(0, MAX_PROVIDERS);
  const rateText = (rate: number | null) => (rate === null ? TOO_FEW : formatPercent(rate));
  const rates: Block =
    medium === 'mail'
      ? {
          kind: 'rows',
          items: providers.map((each) => ({
            title: providerName(each.provider),
            below: basisOf(each),
            value: rateText(each[INBOX_RATE.name]),
            state: placementState(each[INBOX_RATE.name]),
          })),
        }
      : table(
          [
            { title: 'Provider', share: 36 },
            { title: INBOX_RATE.title, share: 22, isNumber: true },
            ...['Samples', ...LOST.map(({ title }) => title)].map((title) => ({
              title,
              share: 14,
              isNumber: true,
            })),
          ],
          providers.map(({ provider, samples, [INBOX_RATE.name]: rate, ...counts }) => ({
            cells: [
              { text: [providerName(provider)] },
              { text: [state(placementState(rate), rateText(rate))] },
              ...[samples, ...LOST.map(({ name }) => counts[name])].map((count) => ({
                text: [formatCount(count)],
              })),
            ],
          })),
        );
  const hasTooFew = providers.some((each) => each[INBOX_RATE.name] === null);
  const note = `${hasTooFew ? `${TOO_FEW_NOTE} ` : ''}${SAMPLE_NOTE}`;
  return [
    section('placement', 'Inbox placement', [
      rates,
      ...omittedNote(by_provider.length - providers.length),
      small(note),
    ]),
  ];
}

const MAX_PROVIDERS = 20;

/** For the email, where each chart has its own heading. */
function trendSections(report: ScheduledReport): Section[] {
  return trendCharts(report).map((chart) =>
    section(`trend-${chart.id}`, chart.title, [
      chartBlock(chart, chart.id, { caption: captionOf(chart) }),
    ]),
  );
}

/** An image has no scale of its own. */
function captionOf(chart: TrendChart): string {
  const extremes = extremesOf(chart);
  return `${extremes ? `${extremes}. ` : ''}Scale: 0 to ${chart.format(chart.max)}.`;
}

function domainsSection(report: ScheduledReport, medium: Medium): Section {
  const { domains } = report;
  const list: Block =
    medium === 'mail'
      ? {
          kind: 'rows',
          items: domains.map(({ name, health, score, headline }) => ({
            title: truncate(bothForms(name), MAX_NAME_LENGTH),
            below: headline,
            value: `${HEALTH[health].word}${score === null ? '' : `, ${score}`}`,
            state: HEALTH[health].state,
          })),
        }
      : table(
          [
            { title: 'Domain', share: 60 },
            { title: 'Health', share: 24 },
            { title: 'DNS score', share: 16, isNumber: true },
          ],
          domains.map(({ name, health, score, headline }) => ({
            cells: [
              { text: [truncate(bothForms(name), MAX_NAME_LENGTH)], below: [headline] },
              { text: [state(HEALTH[health].state, HEALTH[health].word)] },
              { text: [score === null ? '–' : String(score)] },
            ],
          })),
        );
  const sentence = domainsInWords(report);
  return section('domains', 'Domains', [
    medium === 'mail' ? small(sentence) : paragraph(sentence),
    ...(domains.length > 0 ? [list] : []),
    ...omittedNote(report.omittedDomainCount),
  ]);
}

const omittedNote = (count: number): Block[] =>
  count > 0 ? [small(`And ${formatCount(count)} more.`)] : [];

function alertsSection(report: ScheduledReport, medium: Medium): Section {
  const { incidents, omittedIncidentCount, timezone } = report;
  const toSection = (...blocks: Block[]) => section('alerts', 'Alerts', blocks);
  const none = 'No incidents in this period.';
  if (incidents.length === 0) return toSection(medium === 'mail' ? small(none) : paragraph(none));
  const list = incidents.map((incident) => ({
    title: incidentTitle(incident),
    below: incidentTimes(incident, timezone),
    ...(incident.resolved_at === null ? OPEN : RESOLVED),
  }));
  const block: Block =
    medium === 'mail'
      ? { kind: 'rows', items: list }
      : table(
          [
            { title: 'Incident', share: 82 },
            { title: 'Status', share: 18 },
          ],
          list.map(({ title, below, value, state: incidentState }) => ({
            cells: [{ text: [title], below: [below] }, { text: [state(incidentState, value)] }],
          })),
        );
  return toSection(block, ...omittedNote(omittedIncidentCount));
}

const OPEN = { value: 'Open', state: 'fail' } as const;
const RESOLVED = { value: 'Resolved', state: 'pass' } as const;

// The PDF.

export function summaryDocument(report: ScheduledReport): ReportDocument {
  const { sections, summary } = report;
  const hasTests = summary.total_tests > 0;
  return sanitize({
    brand: report.brand,
    title: `${titleOf(report)}: ${nameOf(report)}`,
    time: summary.to,
    blocks: [
      summaryVerdict(report),
      ...(hasTests && sections.includes('summary')
        ? [
            figuresSection(report),
            ...placementSections(report, 'pdf'),
            issuesSection(report, 'pdf'),
          ]
        : []),
      ...(sections.includes('summary') ? figuresSections(summary, 'pdf') : []),
      ...(hasTests && sections.includes('trends') ? pdfTrendSections(report) : []),
      ...(sections.includes('alerts')
        ? [domainsSection(report, 'pdf'), alertsSection(report, 'pdf')]
        : []),
    ],
    footer: [],
    truncationNote: `This PDF is limited to ${MAX_PAGES} pages.`,
    navigation: { skip: 'Skip to report', contents: 'Report sections' },
  });
}

/** The mean score with its change, the period, and the URL of the service. */
function summaryVerdict(report: ScheduledReport): Verdict {
  const { summary, appUrl } = report;
  const comparison =
    summary.total_tests > 0 ? [[scoreComparison(report)], [testsInWords(report)]] : [];
  return {
    kind: 'verdict',
    id: 'verdict',
    outline: 'Score',
    above: `${report.frequency.toUpperCase()} DELIVERABILITY REPORT`,
    score: averageFigure(report),
    testedName: null,
    title: [titleOf(report)],
    lines: [
      [strong(nameOf(report))],
      ...(averageOf(summary) === null ? [[noScoreReason(summary)]] : []),
      ...comparison,
    ],
    unknown: null,
    states: null,
    categories: null,
    facts: null,
    remarks: [
      [periodInWords(report)],
      ...(report.client ? [] : [[{ kind: 'link' as const, text: appUrl, url: oneLine(appUrl) }]]),
    ],
    contents: 'Score',
  };
}

function figuresSection({ summary }: ScheduledReport): Section {
  const rates = table(
    [
      { title: 'Metric', share: 40 },
      { title: 'Share', share: 30, isNumber: true },
      { title: 'Based on', share: 30, isNumber: true },
    ],
    ratesOf(summary).map(({ label, share, sampleSize }) =>
      row(label, share ?? UNKNOWN, sampleSize),
    ),
  );
  if (summary.scored === 0) return section('figures', KEY_FIGURES, [rates]);
  const gradeCounts = Object.entries(summary.grades) as [Grade, number][];
  const grades = table(
    [
      { title: 'Grade', share: 40 },
      { title: 'Share', share: 30, isNumber: true },
      { title: 'Tests', share: 30, isNumber: true },
    ],
    gradeCounts.map(([grade, count]) => ({
      state: GRADE_STATES[grade],
      ...row(grade, formatPercent(count / summary.scored), formatCount(count)),
    })),
  );
  return section('figures', KEY_FIGURES, [rates, grades]);
}

const KEY_FIGURES = 'Key figures';

function pdfTrendSections(report: ScheduledReport): Section[] {
  const charts = trendCharts(report);
  const [first] = charts;
  if (!first) return [];
  const values = table(
    [
      { title: first.interval === 'day' ? 'Day' : 'Hour', share: 40 },
      ...charts.map(({ title }) => ({ title, share: 30, isNumber: true })),
    ],
    first.buckets.map(({ name }, index) =>
      row(name, ...charts.map((chart) => valueText(chart, chart.buckets[index]!))),
    ),
  );
  const chartBlocks = charts.map((chart) => chartBlock(chart, chart.id, { title: chart.title }));
  return [section('trends', 'Trends', [...chartBlocks, values])];
}
