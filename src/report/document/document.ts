/**
 * Builds report documents: all blocks of a report in order, for each audience and medium. Every sentence
 * of a report is written once, here or in a file of this folder.
 */

import {
  type Block,
  MAX_PAGES,
  nameSpan,
  oneLine,
  type Part,
  paragraph,
  type ReportDocument,
  sanitized,
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
import { fixSection, notChecked, restSections, shortFixes } from './findings.ts';
import { ledgerBars, ledgerSection } from './ledger.ts';
import { messageSection, pathSection } from './message.ts';
import { placementSection, providerLines, providersSection } from './providers.ts';
import type { ReportVariant } from './variant.ts';
import { scoreFigure, shortVerdict, verdictBlock } from './verdict.ts';

const NAVIGATION = { skip: 'Skip to report', contents: 'Report sections' };

/** The report of one test for its team, as a page or for paper. */
export function testDocument(report: Report, medium: 'page' | 'paper'): ReportDocument {
  const name = oneLine(reportName(report), 160);
  return sanitized({
    title: medium === 'page' ? pageTitle(report) : `Deliverability report: ${name}`,
    time: report.completed_at ?? report.received_at,
    blocks: reportBlocks(report, { medium, audience: 'team', isBrief: false }, ABOVE[medium]),
    footer: medium === 'page' ? footOf(report) : [],
    truncationNote: `This PDF is limited to ${MAX_PAGES} pages. For the full report, see the report page or the API.`,
    navigation: NAVIGATION,
  });
}

const ABOVE = { page: null, paper: 'DELIVERABILITY REPORT' };

/** `87 B · Order confirmation`. */
function pageTitle({ score, grade, name, subject, summary }: Report): string {
  const what = name ?? subject ?? verdictOf(summary);
  return `${score === null ? 'No score' : `${score} ${grade}`} · ${oneLine(what, 80)}`;
}

const footOf = ({ ruleset, completed_at }: Report): ReportDocument['footer'] => [
  [`Ruleset ${ruleset}`],
  ...(completed_at ? [['Analyzed ', time(completed_at)]] : []),
];

/** All sections in order. */
function reportBlocks(report: Report, variant: ReportVariant, above: string | null): Block[] {
  const { medium, audience, isBrief: isShort } = variant;
  const isOutline = medium === 'paper' && isShort;
  const sections = [
    fixSection(report, variant),
    ledgerSection(report, variant),
    authenticationSection(report),
    placementSection(report),
    ...(isOutline ? [] : [providersSection(report)]),
    ...(audience === 'team' ? [pathSection(report), messageSection(report, variant)] : []),
    ...(isOutline ? [] : restSections(report, variant)),
  ];
  const shown = medium === 'paper' ? sections.filter(({ isEmpty }) => !isEmpty) : sections;
  return [verdictBlock(report, variant, above), ...shown];
}

/** For a terminal: the verdict, the first fixes, a line for each category, and what was not checked. */
export function terminalDocument(result: ReportedResult, of: string | null): ReportDocument {
  return sanitized({
    title: '',
    time: null,
    blocks: [
      shortVerdict(result, of),
      ...shortFixes(result),
      ledgerBars(result),
      shortAuthentication(result),
      ...providerLines(result),
      ...notChecked(result),
    ],
    footer: [],
    truncationNote: '',
    navigation: NAVIGATION,
  });
}

// Shared links: a single report, or an overview followed by each report.

/** The reports of `share` must be redacted. */
export function sharedDocument(share: Share, medium: 'page' | 'paper'): ReportDocument {
  const [first, ...others] = share.reports;
  const isOne = first !== undefined && others.length === 0;
  const title =
    isOne && medium === 'page' && share.title === null
      ? pageTitle(first)
      : oneLine(shareTitle(share), medium === 'page' ? 200 : 160);
  return sanitized({
    title,
    time: share.created_at,
    blocks: isOne ? blocksOfOne(share, first, medium) : blocksOfMany(share, medium),
    footer: isOne && medium === 'page' ? footOf(first) : [],
    truncationNote:
      'This report is too long for the PDF. For the full report, open the shared link in a browser.',
    navigation: isOne ? NAVIGATION : { skip: 'Skip to overview', contents: TESTS },
  });
}

const TESTS = 'Tests in this report';

function blocksOfOne(share: Share, report: Report, medium: 'page' | 'paper'): Block[] {
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

function blocksOfMany(share: Share, medium: 'page' | 'paper'): Block[] {
  const isShort = medium === 'page' ? isBrief(share) : isBriefPdf(share);
  const variant: ReportVariant = { medium, audience: 'public', isBrief: isShort };
  const { length } = share.reports;
  const parts = share.reports.map((report, index): Part => {
    const above = medium === 'paper' ? `TEST ${index + 1} OF ${length}` : null;
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

function overviewOf(share: Share, medium: 'page' | 'paper', isShort: boolean): Block {
  const scores = scoresSentence(share);
  const chart = scoresChart(share);
  const hasReports = share.reports.length > 0;
  const paperNote = isShort ? SHORT_PAPER_NOTE : PAPER_NOTE;
  const pageNote = isShort ? SHORT_PAGE_NOTE : null;
  const note = medium === 'paper' ? paperNote : pageNote;
  return {
    kind: 'overview',
    id: OVERVIEW,
    title: 'Overview',
    above: medium === 'paper' ? 'SHARED DELIVERABILITY REPORT' : null,
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
const PAPER_NOTE = 'Each test starts on its own page. Select its name to go there.';
const SHORT_PAPER_NOTE = `${PAPER_NOTE} This PDF covers many tests, so it is a short version. For reasons, fixes, provider rules and passed checks, open the shared link in a browser.`;

/** When the link was created, when it expires, and how many tests are missing; on a page also a link to the PDF. */
function shareNotes(share: Share, medium: 'page' | 'paper'): Block[] {
  const missing = deletedTestsSentence(share);
  const pdf: Block = {
    kind: 'paragraph',
    style: 'small',
    screenOnly: true,
    // A relative URL: the token of the shared link is not repeated in the page.
    text: [{ kind: 'form', text: 'Open as PDF', query: '?format=pdf' }],
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

function testsTable({ reports }: Share, medium: 'page' | 'paper'): Table {
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
        { text: [oneLine(verdictOf(report.summary), 300)] },
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
