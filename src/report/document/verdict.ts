/** The top of a report: score and grade, the verdict in one sentence, the first fix, and what was tested. */

import type { Grade } from '../../analysis/result.ts';
import { checksToFix } from '../../analysis/summary.ts';
import { formatSize } from '../../lib/durations.ts';
import { printable } from '../../lib/log.ts';
import {
  type Fact,
  figure,
  jump,
  muted,
  nameSpan,
  oneLine,
  type ScoreFigure,
  type State,
  type StateList,
  state,
  type Text,
  time,
  type Verdict,
} from '../blocks.ts';
import { formatPoints, ledgerOf, missingResultsSentence, verdictOf } from '../content.ts';
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

/** `above` is a line over the verdict in small print: the kind of document, or which test of many. */
export function verdictBlock(
  report: Report,
  { medium }: ReportVariant,
  above: string | null,
): Verdict {
  return {
    kind: 'verdict',
    id: 'verdict',
    outline: 'Verdict',
    above,
    score: scoreFigure(report),
    testedName: null,
    title: [oneLine(verdictOf(report.summary), 400)],
    lines: [firstFix(report)],
    unknown: unknownText(report),
    states: authStates(report),
    facts: { kind: 'facts', rows: medium === 'page' ? pageFacts(report) : paperFacts(report) },
    remarks: [],
    contents: 'Verdict',
  };
}

/** For a terminal: what was tested takes one line. What was not checked is a block of its own. */
export function shortVerdict(result: ReportedResult, testedName: string | null): Verdict {
  const { subject, from_address, message_size, ruleset } = result;
  const message = [
    subject === null ? null : `“${printable(subject).slice(0, 80)}”`,
    from_address && `from ${printable(from_address).slice(0, 80)}`,
    formatSize(message_size),
  ].filter(Boolean);
  return {
    kind: 'verdict',
    id: 'verdict',
    outline: 'Verdict',
    above: null,
    score: scoreFigure(result),
    testedName,
    title: [oneLine(verdictOf(result.summary), 400)],
    lines: [],
    unknown: null,
    states: null,
    facts: null,
    remarks: [[`${message.join(' · ')} · ruleset ${ruleset}`]],
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

/** For a result without findings. Without a score, too few checks were completed to speak for all. */
export const nothingToFix = (score: number | null): string =>
  score === null ? NO_KNOWN_PROBLEMS : 'No problems found.';

function firstFix({ checks, score }: ReportedResult): Text {
  const findings = checksToFix(checks);
  const [first] = findings;
  if (!first) return [nothingToFix(score)];
  const others = findings.length - 1;
  const more =
    others === 0 ? '' : ` See ${others} more ${others === 1 ? 'issue' : 'issues'} below.`;
  return [
    'Fix this first: ',
    jump(oneLine(first.title, 300).replace(/\.$/, ''), `check-${first.id}`),
    ...(first.gain > 0 ? [figure(` (+${formatPoints(first.gain)})`)] : []),
    `.${more}`,
  ];
}

function unknownText(report: ReportedResult): Text | null {
  const missed = missingResultsSentence(report);
  if (missed === null) return null;
  const text = ` ${oneLine(missed, 900)} Missing results do not affect the score.`;
  return [state('unknown', 'Some results are missing.'), text];
}

export function authStates({ auth_results }: ReportedResult): StateList {
  const items = Object.entries(auth_results).map(([name, result]) => ({
    name: name.toUpperCase(),
    state: authState(result),
    jump: 'authentication',
  }));
  return { kind: 'states', label: 'Authentication', items };
}

const KINDS = { marketing: 'Marketing mail', transactional: 'Transactional mail' };

const subjectOf = ({ subject }: ReportedResult): Fact => ({
  name: ['Subject'],
  value: [subject ? nameSpan(subject, 300) : muted('none')],
});

const senderOf = ({ from_address }: ReportedResult): Fact => ({
  name: ['From'],
  value: [from_address ? nameSpan(from_address, 320) : muted('no address')],
});

const testAndSender = (report: Report): Fact[] => [
  ...(report.name ? [{ name: ['Test'], value: [oneLine(report.name, 200)] }] : []),
  subjectOf(report),
  senderOf(report),
  ...(report.received_at ? [{ name: ['Received'], value: [time(report.received_at)] }] : []),
];

function pageFacts(report: Report): Fact[] {
  const { message_size, judged_kind, ruleset, id } = report;
  return [
    ...testAndSender(report),
    {
      name: ['Kind'],
      value: [jump(KINDS[judged_kind.kind], 'providers'), `, ${formatSize(message_size)}`],
    },
    {
      name: ['Ruleset'],
      value: [ruleset, ...(id ? [', ', { kind: 'code', text: id } as const] : [])],
    },
  ];
}

/** With the reasons for the kind of mail: paper may omit the section of provider rules, which shows them on a page. */
function paperFacts(report: Report): Fact[] {
  const { message_size, judged_kind, ruleset, id } = report;
  const why = judged_kind.reasons.map((reason) => ` ${oneLine(reason, 300)}`).join('');
  return [
    ...testAndSender(report),
    { name: ['Kind'], value: [`${KINDS[judged_kind.kind]}, ${formatSize(message_size)}.${why}`] },
    { name: ['Ruleset'], value: [ruleset] },
    ...(id ? [{ name: ['ID'], value: [id] }] : []),
  ];
}
