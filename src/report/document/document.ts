/**
 * What a report says: the whole of it as blocks, in its order, for whoever reads it and wherever. Every
 * sentence of a report is written here or in a file beside this one, once.
 */

import {
  type Block,
  cleaned,
  MAX_PAGES,
  named,
  oneLine,
  type Part,
  paragraph,
  type ReportDocument,
  small,
  type Table,
  time,
} from '../blocks.ts';
import { verdictOf } from '../content.ts';
import type { Report, Reported } from '../report.ts';
import {
  fromDomainOf,
  isBrief,
  isBriefPdf,
  missingSentence,
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
import type { Form } from './form.ts';
import { ledgerBars, ledgerSection } from './ledger.ts';
import { messageSection, pathSection } from './message.ts';
import { placementSection, providerLines, providersSection } from './providers.ts';
import { scoreFigure, shortVerdict, verdictBlock } from './verdict.ts';

const WAYS = { skip: 'Skip to the report', contents: 'Sections of the report' };

/** The report on one test for the team, as a page or on paper. */
export function testDocument(report: Report, medium: 'page' | 'paper'): ReportDocument {
  const name = oneLine(report.name ?? report.subject ?? report.id ?? 'a message', 160);
  return cleaned({
    title: medium === 'page' ? pageTitle(report) : `Deliverability report: ${name}`,
    time: report.completed_at ?? report.received_at,
    blocks: reportBlocks(report, { medium, audience: 'team', isBrief: false }, ABOVE[medium]),
    foot: medium === 'page' ? footOf(report) : [],
    cutOff: `There is more than fits on ${MAX_PAGES} pages: the rest is in the report's page and in the API.`,
    ways: WAYS,
  });
}

const ABOVE = { page: null, paper: 'DELIVERABILITY REPORT' };

/** `87 B · Order confirmation`. */
function pageTitle({ score, grade, name, subject, summary }: Report): string {
  const what = name ?? subject ?? verdictOf(summary);
  return `${score === null ? 'No score' : `${score} ${grade}`} · ${oneLine(what, 80)}`;
}

const footOf = ({ ruleset, completed_at }: Report): ReportDocument['foot'] => [
  [`Rules ${ruleset}`],
  ...(completed_at ? [['Analysed ', time(completed_at)]] : []),
];

/** All sections in their order. */
function reportBlocks(report: Report, form: Form, above: string | null): Block[] {
  const { medium, audience, isBrief: isShort } = form;
  const isOutline = medium === 'paper' && isShort;
  const sections = [
    fixSection(report, form),
    ledgerSection(report, form),
    authenticationSection(report),
    placementSection(report),
    ...(isOutline ? [] : [providersSection(report)]),
    ...(audience === 'team' ? [pathSection(report), messageSection(report, form)] : []),
    ...(isOutline ? [] : restSections(report, form)),
  ];
  const shown = medium === 'paper' ? sections.filter(({ isEmpty }) => !isEmpty) : sections;
  return [verdictBlock(report, form, above), ...shown];
}

/** For a terminal: verdict, what to fix first, a line a category, what could not be checked. */
export function terminalDocument(result: Reported, of: string | null): ReportDocument {
  return cleaned({
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
    foot: [],
    cutOff: '',
    ways: WAYS,
  });
}

// Reports behind a shared link: one of them, or an overview of many and then each of them.

/** Its reports must have been redacted. */
export function sharedDocument(share: Share, medium: 'page' | 'paper'): ReportDocument {
  const [first, ...others] = share.reports;
  const isOne = first !== undefined && others.length === 0;
  const page =
    isOne && medium === 'page' && share.title === null
      ? pageTitle(first)
      : oneLine(shareTitle(share), medium === 'page' ? 200 : 160);
  return cleaned({
    title: page,
    time: share.created_at,
    blocks: isOne ? blocksOfOne(share, first, medium) : blocksOfMany(share, medium),
    foot: isOne && medium === 'page' ? footOf(first) : [],
    cutOff:
      'There is more than fits on these pages: the rest is in the page that the same link opens.',
    ways: isOne ? WAYS : { skip: 'Skip to the overview', contents: 'Tests of this report' },
  });
}

function blocksOfOne(share: Share, report: Report, medium: 'page' | 'paper'): Block[] {
  const form: Form = { medium, audience: 'public', isBrief: false };
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
    ...reportBlocks(report, form, ABOVE[medium]),
  ];
}

function blocksOfMany(share: Share, medium: 'page' | 'paper'): Block[] {
  const isShort = medium === 'page' ? isBrief(share) : isBriefPdf(share);
  const form: Form = { medium, audience: 'public', isBrief: isShort };
  const { length } = share.reports;
  const parts = share.reports.map((report, index): Part => {
    const above = medium === 'paper' ? `TEST ${index + 1} OF ${length}` : null;
    const domain = fromDomainOf(report);
    return {
      kind: 'part',
      id: partId(index),
      title: [named(reportName(report), 200)],
      beside: domain === null ? null : oneLine(domain, 255),
      score: scoreFigure(report),
      blocks: reportBlocks(report, form, above),
      back: { text: 'Back to the overview', to: OVERVIEW },
    };
  });
  return [overviewOf(share, medium, isShort), ...parts];
}

const OVERVIEW = 'overview';

/** The anchor of the report at this place of the list. */
const partId = (index: number): string => `test-${index + 1}`;

function overviewOf(share: Share, medium: 'page' | 'paper', isShort: boolean): Block {
  const scores = scoresSentence(share);
  const chart = scoresChart(share);
  const hasReports = share.reports.length > 0;
  const how = medium === 'paper' ? (isShort ? SHORT_ON_PAPER : ON_PAPER) : isShort ? SHORT : null;
  return {
    kind: 'overview',
    id: OVERVIEW,
    title: 'Overview',
    above: medium === 'paper' ? 'SHARED DELIVERABILITY REPORT' : null,
    blocks: [
      { kind: 'heading', rank: 1, text: [oneLine(shareTitle(share), 200)] },
      ...shareNotes(share, medium),
      ...(scores ? [paragraph(scores)] : []),
      ...(hasReports && how ? [small(how)] : []),
      ...(chart ? [chartBlock(chart, 'scores', { title: chart.title })] : []),
      ...(hasReports ? [testsTable(share, medium)] : []),
    ],
  };
}

const SHORT =
  'With so many tests, the evidence of what passed and the points of each check are left out here.';
const ON_PAPER = 'Each test begins on a page of its own, to which its name leads.';
const SHORT_ON_PAPER =
  'With so many tests each begins on a page of its own, to which its name leads, and is told in short: reasons, remedies, the providers’ rules and what passed are in the page that the same link opens.';

/** When it was made, until when it can be read, what is missing; on a page the way to its PDF. */
function shareNotes(share: Share, medium: 'page' | 'paper'): Block[] {
  const missing = missingSentence(share);
  const pdf: Block = {
    kind: 'paragraph',
    style: 'small',
    screenOnly: true,
    // An address without the token of the link.
    text: [{ kind: 'form', text: 'Open it as a PDF', query: '?format=pdf' }],
  };
  return [
    small(
      'Shared ',
      time(share.created_at),
      '. It can be read until ',
      time(share.expires_at),
      '.',
    ),
    ...(missing ? [paragraph(missing)] : []),
    ...(medium === 'page' ? [pdf] : []),
  ];
}

function testsTable({ reports }: Share, medium: 'page' | 'paper'): Table {
  const rows = reports.map((report, index) => {
    const domain = oneLine(fromDomainOf(report) ?? 'From names no domain', 255);
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
    label: 'Tests of this report',
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
