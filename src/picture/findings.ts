/** What sources say, and how a source makes its line of it. Pure. */

import { issueTitle } from '../analysis/declarations.ts';
import { truncate } from '../lib/format/plain-text.ts';
import { type IssueId, issueOf } from './costs.ts';
import type { FirstStep, SourceLine, Statement } from './schema.ts';
import type { SourceId, State, Topic } from './vocabulary.ts';

/** A statement with what the picture needs to order problems. */
export interface Finding extends Statement {
  topic: Topic;
  /** Null unless the state is `fail` or `warn`. */
  problem: { title: string; cost: number; firstStep: FirstStep | null } | null;
}

export interface SourceReport {
  line: SourceLine;
  findings: Finding[];
}

/** The headline is one of the titles. */
export const MAX_TITLE = 90;

type Said = Pick<Statement, 'source' | 'origin' | 'text' | 'at' | 'path'> &
  Partial<Pick<Statement, 'since' | 'basis'>> & { topic: Topic };

const NO_DETAILS = { since: null, basis: null };

/** A problem. The title names no date; without one, the text is the title. */
export function problem(
  issue: IssueId,
  { title, firstStep = null, ...said }: Said & { title?: string; firstStep?: FirstStep | null },
): Finding {
  const { state, cost } = issueOf(issue);
  const shown = truncate(title ?? said.text, MAX_TITLE);
  return { ...NO_DETAILS, ...said, state, problem: { title: shown, cost, firstStep } };
}

export const fine = (said: Said): Finding => ({
  ...NO_DETAILS,
  ...said,
  state: 'pass',
  problem: null,
});

export const notKnown = (said: Said): Finding => ({
  ...NO_DETAILS,
  ...said,
  state: 'unknown',
  problem: null,
});

/** The title of a finding, or the problem that its check finds in a few words. */
export const shortTitle = (title: string, check: string): string =>
  title.length <= MAX_TITLE ? title : `${issueTitle(check)}.`;

/** Worst first; within a state, what costs most. */
const RANK: Record<State, number> = { fail: 0, warn: 1, unknown: 2, pass: 3 };
export const byCost = (a: Finding, b: Finding): number =>
  (b.problem?.cost ?? 0) - (a.problem?.cost ?? 0) || RANK[a.state] - RANK[b.state];

export const SOURCE_NAMES: Record<SourceId, string> = {
  dns: 'DNS',
  tests: 'Tests',
  placement: 'Placement',
  feedback: 'Feedback',
  receivers: 'Receivers',
};

/**
 * The line of a source. Its problems decide; `state` and `text` apply without any. `unknown` or `not_set_up` is never
 * improved by single statements.
 */
export function reportOf(
  line: Pick<SourceLine, 'source' | 'text' | 'at' | 'path'> &
    Partial<Pick<SourceLine, 'basis'>> & { state: 'pass' | 'unknown' | 'not_set_up' },
  findings: Finding[],
): SourceReport {
  const named = { ...line, name: SOURCE_NAMES[line.source], basis: line.basis ?? null };
  const problems = findings.filter((finding) => finding.problem !== null).toSorted(byCost);
  const [worst] = problems;
  if (!worst) return { line: named, findings };
  // As the page counts them: all findings about a topic are one problem.
  const others = new Set(problems.map(({ topic }) => topic)).size - 1;
  const more = others === 0 ? '' : ` ${moreProblems(others)}`;
  const said = { state: worst.state, text: `${worst.text}${more}`, at: worst.at ?? line.at };
  return { line: { ...named, ...said }, findings };
}

const moreProblems = (count: number): string =>
  count === 1 ? 'One more problem.' : `${count} more problems.`;

/** For sources on the page of the domain itself. */
export const sectionOf = (domainId: string, id: string): string => `/domains/${domainId}#${id}`;
