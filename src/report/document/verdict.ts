/** The top of a report: score and grade, the verdict in one sentence, the first fix, and what was tested. */

import type { Grade } from '../../analysis/result.ts';
import { checksToFix, scoreAfterFix, unknownResults } from '../../analysis/summary.ts';
import { formatSize } from '../../lib/durations.ts';
import type { State } from '../../ui/components.tsx';
import {
  type CategoryScores,
  type Fact,
  figure,
  jump,
  muted,
  nameSpan,
  oneLine,
  type ScoreFigure,
  type StateList,
  state,
  type Text,
  time,
  type Verdict,
} from '../blocks.ts';
import {
  categoryName,
  coveragePercent,
  kindInWords,
  ledgerOf,
  meterState,
  verdictOf,
} from '../content.ts';
import type { Report, ReportedResult } from '../report.ts';
import { authState } from './evidence.ts';
import type { ReportVariant } from './variant.ts';

export const GRADE_STATES: Record<Grade, State> = {
  A: 'pass',
  B: 'pass',
  C: 'warn',
  D: 'warn',
  F: 'fail',
};

/** `above` is small print above the verdict: the kind of document, or the number of the test. */
export function verdictBlock(
  report: Report,
  { medium, isBrief }: ReportVariant,
  above: string | null,
): Verdict {
  return {
    kind: 'verdict',
    id: 'verdict',
    outline: 'Verdict',
    above,
    score: scoreFigure(report),
    testedName: null,
    title: [verdictOf(report.summary)],
    lines: medium === 'page' ? pageLines(report) : [firstFix(report)],
    unknown: unknownText(report),
    states: report.is_template ? null : authStates(report),
    categories: categoryScores(report),
    facts: {
      kind: 'facts',
      rows: medium === 'page' ? pageFacts(report) : pdfFacts(report, isBrief),
    },
    remarks: [],
    contents: 'Verdict',
  };
}

/** For a terminal: one line shows what was tested. Missing results are in a separate block. */
export function shortVerdict(result: ReportedResult, testedName: string | null): Verdict {
  const { subject, from_address, message_size, ruleset } = result;
  const message = [
    subject === null ? null : `“${oneLine(subject, 300)}”`,
    from_address && `from ${oneLine(from_address, 320)}`,
    formatSize(message_size),
  ].filter(Boolean);
  return {
    kind: 'verdict',
    id: 'verdict',
    outline: 'Verdict',
    above: null,
    score: scoreFigure(result),
    testedName,
    title: [verdictOf(result.summary)],
    lines: [],
    unknown: unknownText(result),
    states: null,
    categories: null,
    facts: null,
    remarks: [
      [`${message.join(' · ')} · ruleset ${ruleset}`],
      [`Evaluated as ${kindInWords(result)}.${kindReasons(result)}`],
    ],
  };
}

export function scoreFigure(report: ReportedResult): ScoreFigure {
  const { score, grade, cap } = report;
  const isCapped = cap !== null && score !== null;
  return {
    score,
    grade,
    state: grade === null ? 'unknown' : GRADE_STATES[grade],
    uncapped: isCapped ? (ledgerOf(report).sum ?? score) : null,
    ...scoreWords(score, grade),
    alt:
      score === null
        ? 'No score'
        : `Score ${score} out of 100, grade ${grade}${cap ? `, capped at ${cap.limit}` : ''}`,
  };
}

/** The words in or beside the score ring. */
export function scoreWords(
  score: number | null,
  grade: Grade | null,
): Pick<ScoreFigure, 'number' | 'letter' | 'line' | 'badge'> {
  if (score === null || grade === null)
    return { number: 'No score', letter: null, line: 'No score', badge: '–' };
  return {
    number: String(score),
    letter: `Grade ${grade}`,
    line: `${score}/100  ${grade}`,
    badge: grade,
  };
}

export const NO_KNOWN_PROBLEMS = 'No problems found in the completed checks.';

/** For a result without findings. Without a score, too few checks were completed to rule out problems. */
export const nothingToFix = (score: number | null): string =>
  score === null ? NO_KNOWN_PROBLEMS : 'No problems found.';

function firstFix(report: ReportedResult): Text {
  const { checks, score } = report;
  const findings = checksToFix(checks);
  const [first] = findings;
  if (!first) return [nothingToFix(score)];
  const after = scoreAfterFix({ ...report, uncapped: ledgerOf(report).sum }, first);
  const others = findings.length - 1;
  const capNote =
    report.cap !== null && after === null && first.gain === 0
      ? ' Several issues cause the cap on the score, so no single fix raises it.'
      : '';
  const moreNote =
    others === 0 ? '' : ` See ${others} more ${others === 1 ? 'issue' : 'issues'} below.`;
  return [
    'Fix this first: ',
    jump(oneLine(first.title, 200).replace(/\.$/, ''), `check-${first.id}`),
    ...(after === null ? [] : [figure(` (${score} → ${after})`)]),
    `.${capNote}${moreNote}`,
  ];
}

/** The first fixes follow the verdict of a page, so that it has nothing to say about them. */
const pageLines = ({ checks, score }: ReportedResult): Text[] =>
  checksToFix(checks).length === 0 ? [[nothingToFix(score)]] : [];

/** The section of unchecked checks gives the reasons. */
function unknownText(report: ReportedResult): Text | null {
  const text = unknownResults(report);
  if (text === null) return null;
  const coverage = coveragePercent(report.coverage);
  const coverageNote = coverage < 100 ? ` Coverage: ${coverage}%.` : '';
  return [state('unknown', 'Not everything is known.'), ` ${oneLine(text, 600)}${coverageNote}`];
}

function categoryScores({ categories }: ReportedResult): CategoryScores {
  const items = categories.map(({ name, score }) => ({
    name: categoryName(name),
    share: score === null ? null : score / 100,
    state: score === null ? ('unknown' as const) : meterState(score),
    value: score === null ? 'not checked' : String(score),
  }));
  return { label: 'Score by category', jump: 'score', items };
}

export function authStates({ auth_results }: ReportedResult): StateList {
  const items = Object.entries(auth_results).map(([name, result]) => ({
    name: name.toUpperCase(),
    state: authState(result),
    jump: 'authentication',
  }));
  return { kind: 'states', label: 'Authentication', items };
}

const capitalized = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;

const kindReasons = ({ judged_kind }: ReportedResult): string =>
  judged_kind.reasons.map((reason) => ` ${oneLine(reason, 300)}`).join('');

const subjectOf = ({ subject }: ReportedResult): Fact => ({
  name: ['Subject'],
  value: [subject ? nameSpan(subject, 300) : muted('none')],
});

const senderOf = ({ from_address }: ReportedResult): Fact => ({
  name: ['From'],
  value: [from_address ? nameSpan(from_address, 320) : muted('no address')],
});

const sizeOf = ({ message_size }: ReportedResult): Fact => ({
  name: ['Size'],
  value: [formatSize(message_size)],
});

const commonFacts = (report: Report): Fact[] => [
  ...(report.name ? [{ name: ['Test'], value: [oneLine(report.name, 200)] }] : []),
  // The HTML of a template alone has neither.
  ...(report.is_template && report.subject === null ? [] : [subjectOf(report)]),
  ...(report.is_template && report.from_address === null ? [] : [senderOf(report)]),
  ...receivedFact(report),
];

function receivedFact({ received_at, envelope, is_template }: Report): Fact[] {
  if (is_template) return [];
  if (received_at) return [{ name: ['Received'], value: [time(received_at)] }];
  return envelope?.file
    ? [{ name: ['Received'], value: [muted('not known: this is a file')] }]
    : [];
}

function pageFacts(report: Report): Fact[] {
  const { ruleset, id } = report;
  return [
    ...commonFacts(report),
    { name: ['Kind'], value: [jump(capitalized(kindInWords(report)), 'providers')] },
    sizeOf(report),
    { name: ['Ruleset'], value: [ruleset] },
    ...(id ? [{ name: ['Test ID'], value: [{ kind: 'code', text: id } as const] }] : []),
  ];
}

/** A brief PDF has the reasons for the kind of mail, because it omits the provider rules that show them. */
function pdfFacts(report: Report, isBrief: boolean): Fact[] {
  const { ruleset, id } = report;
  const reasons = isBrief ? `.${kindReasons(report)}` : '';
  return [
    ...commonFacts(report),
    { name: ['Kind'], value: [`${capitalized(kindInWords(report))}${reasons}`] },
    sizeOf(report),
    { name: ['Ruleset'], value: [ruleset] },
    ...(id ? [{ name: ['Test ID'], value: [id] }] : []),
  ];
}
