/**
 * Builds report documents: all blocks of a report in order, for each audience and medium. Every sentence
 * of a report occurs once in the source, in this folder.
 */

import { checksToFix } from '../../analysis/summary.ts';
import {
  type Block,
  MAX_PAGES,
  nameSpan,
  oneLine,
  type Part,
  paragraph,
  type ReportDocument,
  sanitize,
  small,
  type Table,
  time,
} from '../blocks.ts';
import { verdictOf } from '../content.ts';
import type { Report, ReportedResult } from '../report.ts';
import {
  deletedTestsSentence,
  fromDomainOf,
  isBrief,
  isBriefPdf,
  reportName,
  type Share,
  scoresChart,
  scoresSentence,
  shareTitle,
  testNumber,
} from '../share.ts';
import { authenticationSection, shortAuthentication } from './authentication.ts';
import { chartBlock } from './charts.ts';
import {
  allFixesSection,
  frontFixes,
  moreFixes,
  otherCheckSections,
  shortFixes,
  uncheckedNotes,
} from './findings.ts';
import { briefFixesSection, firstFixesSection } from './findings-table.ts';
import { ledgerBars, ledgerSection } from './ledger.ts';
import { messageSection, pathSection } from './message.ts';
import { placementSections } from './placement.ts';
import { glanceOf, previewSections } from './preview.ts';
import { acceptanceSection, kindChoice, providerLines, providersSection } from './providers.ts';
import { receiptSections } from './receipt.ts';
import { sourceSections } from './receivers.ts';
import { statusDocument } from './status.ts';
import { unsubscribeSections } from './unsubscribe.ts';
import type { ReportVariant } from './variant.ts';
import { scoreFigure, shortVerdict, verdictBlock } from './verdict.ts';

const NAVIGATION = { skip: 'Skip to report', contents: 'Report sections' };

/** The report of one test for its team, as a page or PDF. */
export function testDocument(report: Report, medium: 'page' | 'pdf'): ReportDocument {
  const name = oneLine(reportName(report), 160);
  return sanitize({
    title: medium === 'page' ? pageTitle(report) : `Deliverability report: ${name}`,
    time: report.completed_at ?? report.received_at,
    blocks: reportBlocks(report, { medium, audience: 'team', isBrief: false }, ABOVE[medium]),
    footer: medium === 'page' ? footerOf(report) : [],
    truncationNote: `This PDF is limited to ${MAX_PAGES} pages. For the full report, see the report page or the API.`,
    navigation: NAVIGATION,
  });
}

const ABOVE = { page: null, pdf: 'DELIVERABILITY REPORT' };

/** `87 B · Order confirmation`. */
function pageTitle({ score, grade, name, subject, summary }: Report): string {
  const label = name ?? subject ?? verdictOf(summary);
  return `${score === null ? 'No score' : `${score} ${grade}`} · ${oneLine(label, 80)}`;
}

const footerOf = ({ ruleset, completed_at }: Report): ReportDocument['footer'] => [
  [`Ruleset ${ruleset}`],
  ...(completed_at ? [['Analyzed ', time(completed_at)]] : []),
];

/** All sections in order. */
function reportBlocks(report: Report, variant: ReportVariant, above: string | null): Block[] {
  const { medium, audience } = variant;
  const isShortPdf = medium === 'pdf' && variant.isBrief;
  const isFullPdf = medium === 'pdf' && !variant.isBrief;
  const hasFindings = checksToFix(report.checks).length > 0;
  const sections = [
    // The first page of a PDF is the whole story: verdict, first fixes, and who accepts the message.
    ...(isFullPdf ? [firstFixesSection(report), acceptanceSection(report)] : []),
    ...(isShortPdf ? [briefFixesSection(report)] : []),
    ...(isFullPdf && hasFindings ? [allFixesSection(report, variant)] : []),
    ...(medium === 'page' ? moreFixes(report, variant) : []),
    // The verdict shows the scores of the categories.
    ...(isShortPdf ? [] : [ledgerSection(report, variant)]),
    ...(report.is_template ? [] : [authenticationSection(report, !isShortPdf)]),
    ...(audience === 'team' ? sourceSections(report) : []),
    ...placementSections(report, isShortPdf),
    ...(isShortPdf || report.is_template ? [] : [providersSection(report, variant)]),
    ...(audience === 'team' && !report.is_template ? [pathSection(report)] : []),
    ...previewSections(report, variant),
    ...(audience === 'team' ? unsubscribeSections(report) : []),
    ...(audience === 'team' ? [messageSection(report, variant)] : []),
    ...(isShortPdf ? [] : otherCheckSections(report, variant)),
  ];
  const verdict = verdictBlock(report, variant, above);
  if (medium === 'pdf') return [verdict, ...sections.filter(({ isEmpty }) => !isEmpty)];
  const isUncertain = report.judged_kind.confidence === 'uncertain';
  const choice = isUncertain ? kindChoice(report) : [];
  const blocks = [...choice, ...frontFixes(report, variant)];
  return [{ kind: 'front', verdict, blocks, glance: glanceOf(report) }, ...sections];
}

/** For a terminal: the verdict, the first fixes, a line for each category, and what was not checked. */
export function terminalDocument(
  result: ReportedResult & Partial<Pick<Report, 'envelope'>>,
  testedName: string | null,
  more: Block[] = [],
): ReportDocument {
  return sanitize({
    title: '',
    time: null,
    blocks: [
      shortVerdict(result, testedName),
      ...shortFixes(result),
      ledgerBars(result),
      ...(result.is_template ? [] : [shortAuthentication(result)]),
      ...receiptSections(result.envelope),
      ...more,
      ...providerLines(result),
      ...uncheckedNotes(result),
    ],
    footer: [],
    truncationNote: '',
    navigation: NAVIGATION,
  });
}

// Shared links: a single report, or an overview followed by each report.

/** The reports of `share` must be redacted. */
export function sharedDocument(share: Share, medium: 'page' | 'pdf'): ReportDocument {
  const { brand, status } = share;
  if (status) {
    const title = share.title ?? 'Email status';
    const notes = shareNotes(share, medium);
    return { brand, ...statusDocument(status, medium, { title, time: share.created_at, notes }) };
  }
  const [first, ...others] = share.reports;
  const isSingle = first !== undefined && others.length === 0;
  const title =
    isSingle && medium === 'page' && share.title === null
      ? pageTitle(first)
      : oneLine(shareTitle(share), medium === 'page' ? 200 : 160);
  return sanitize({
    brand,
    title,
    time: share.created_at,
    blocks: isSingle
      ? singleReportBlocks(share, first, medium)
      : multipleReportBlocks(share, medium),
    footer: isSingle && medium === 'page' ? footerOf(first) : [],
    truncationNote:
      'This report is too long for the PDF. For the full report, open the shared link in a browser.',
    navigation: isSingle ? NAVIGATION : { skip: 'Skip to overview', contents: TESTS },
  });
}

const TESTS = 'Tests in this report';

function singleReportBlocks(share: Share, report: Report, medium: 'page' | 'pdf'): Block[] {
  const variant: ReportVariant = { medium, audience: 'public', isBrief: false };
  const title: Block = {
    kind: 'paragraph',
    style: 'lead',
    text: [oneLine(shareTitle(share), 200)],
  };
  return [
    {
      kind: 'overview',
      id: 'share',
      title: null,
      above: null,
      blocks: [title, ...shareNotes(share, medium)],
    },
    ...reportBlocks(report, variant, ABOVE[medium]),
  ];
}

function multipleReportBlocks(share: Share, medium: 'page' | 'pdf'): Block[] {
  const isShort = medium === 'page' ? isBrief(share) : isBriefPdf(share);
  const variant: ReportVariant = { medium, audience: 'public', isBrief: isShort };
  const count = share.reports.length;
  const parts = share.reports.map((report, index): Part => {
    const above = medium === 'pdf' ? `TEST ${index + 1} OF ${count}` : null;
    const domain = fromDomainOf(report);
    return {
      kind: 'part',
      id: partId(index),
      title: [nameSpan(reportName(report), 200)],
      subtitle: domain === null ? null : oneLine(domain, 255),
      score: scoreFigure(report),
      blocks: reportBlocks(report, variant, above),
      back: { text: 'Back to overview', to: OVERVIEW },
    };
  });
  return [overviewOf(share, medium, isShort), ...parts];
}

const OVERVIEW = 'overview';

const partId = (index: number): string => `test-${index + 1}`;

function overviewOf(share: Share, medium: 'page' | 'pdf', isShort: boolean): Block {
  const scores = scoresSentence(share);
  const chart = scoresChart(share);
  const hasReports = share.reports.length > 0;
  const pageNote = isShort ? SHORT_PAGE_NOTE : null;
  const note = medium === 'pdf' ? SHORT_PDF_NOTE : pageNote;
  return {
    kind: 'overview',
    id: OVERVIEW,
    title: 'Overview',
    above: medium === 'pdf' ? 'SHARED DELIVERABILITY REPORT' : null,
    blocks: [
      { kind: 'heading', rank: 1, text: [oneLine(shareTitle(share), 200)] },
      ...shareNotes(share, medium),
      ...(scores ? [paragraph(scores)] : []),
      ...(hasReports && note ? [small(note)] : []),
      ...(chart ? [chartBlock(chart, 'scores', { title: chart.title })] : []),
      ...(hasReports ? [testsTable(share, medium)] : []),
    ],
  };
}

const SHORT_PAGE_NOTE =
  'This report covers many tests, so it omits the evidence of passed checks and the points by check.';
const SHORT_PDF_NOTE =
  'Select the name of a test to go to it. This PDF covers several tests, so it is a short version. For evidence, reasons, all fixes, provider rules and passed checks, open the shared link in a browser.';

/** When the link was created, when it expires, and how many tests are missing; on a page also links to the PDF and, for public tests, to their deletion. */
function shareNotes(share: Share, medium: 'page' | 'pdf'): Block[] {
  const missing = deletedTestsSentence(share);
  const pdf: Block = {
    kind: 'paragraph',
    style: 'small',
    screenOnly: true,
    // A relative URL: the token of the shared link is not repeated in the page.
    text: [
      { kind: 'form', text: 'Open as PDF', query: '?format=pdf' },
      ...(share.canDelete
        ? [' · ', { kind: 'form', text: 'Delete this test', query: '?delete=ask' } as const]
        : []),
    ],
  };
  return [
    small(
      'Shared ',
      time(share.created_at),
      '. This link expires on ',
      time(share.expires_at),
      '.',
    ),
    ...(missing ? [paragraph(missing)] : []),
    ...(medium === 'page' ? [pdf] : []),
  ];
}

function testsTable({ reports }: Share, medium: 'page' | 'pdf'): Table {
  const rows = reports.map((report, index) => {
    const domain = oneLine(fromDomainOf(report) ?? 'No From domain', 255);
    const name = oneLine(reportName(report), 200);
    const { completed_at } = report;
    const isPage = medium === 'page';
    return {
      cells: [
        { text: [], score: scoreFigure(report) },
        {
          text: [
            { kind: 'jump', text: isPage ? name : `${index + 1}. ${name}`, to: partId(index) },
          ],
          below: [isPage ? `${testNumber(index)} · ${domain}` : domain],
        },
        { text: [verdictOf(report.summary)] },
        { text: completed_at ? [time(completed_at)] : ['–'] },
      ],
    } as Table['groups'][number]['rows'][number];
  });
  return {
    kind: 'table',
    name: 'tests',
    label: TESTS,
    columns: [
      { title: 'Score', share: 11 },
      { title: 'Test', share: 34 },
      { title: 'Verdict', share: 39 },
      { title: 'Completed', share: 16, style: 'small' },
    ],
    groups: [{ title: null, rows }],
    foot: [],
  };
}
