/** From what all sources say to the picture. Pure. */

import { byCost, type Finding, type SourceReport } from './findings.ts';
import { stepAbout } from './steps.ts';
import {
  type Picture,
  type Problem,
  type SourceLine,
  type State,
  type Statement,
  TOPICS,
} from './types.ts';

/** One report for each source, in the order of `SOURCES`. */
export function assemble(domain: Picture['domain'], reports: SourceReport[]): Picture {
  const sources = reports.map(({ line }) => line);
  const problems = problemsOf(reports.flatMap(({ findings }) => findings));
  const [first] = problems;
  if (first)
    return {
      ...{ domain, state: first.state, headline: first.title, since: first.since },
      ...{ first_step: first.first_step, problems, sources },
    };
  const { state, headline } = withoutProblems(sources);
  return { domain, state, headline, since: null, first_step: null, problems, sources };
}

/** One for each topic with a problem, what costs most first; of equal ones in the order of topics. */
function problemsOf(findings: Finding[]): Problem[] {
  return [...Map.groupBy(findings, ({ topic }) => topic).values()]
    .flatMap((about) => problemOf(about.toSorted(byCost)))
    .toSorted((a, b) => b.cost - a.cost || TOPICS.indexOf(a.topic) - TOPICS.indexOf(b.topic));
}

function problemOf(about: Finding[]): Problem[] {
  const [worst] = about;
  if (!worst || worst.problem === null) return [];
  const { title, cost } = worst.problem;
  const state = worst.state as Problem['state'];
  const { source } = worst;
  // What else the same source says has begun at another time: an address is blocked later than it is rated red.
  const same = about.filter(
    (one) => one.state === state && (one.source !== source || one.problem?.cost === cost),
  );
  const [step] = about.flatMap(({ problem }) => problem?.firstStep ?? []);
  return [
    {
      ...{ topic: worst.topic, state, title, cost },
      since: earliest(same.map(({ since }) => since)),
      first_step: step ?? { text: stepAbout(worst.topic), record: null, path: worst.path },
      statements: about.map(statementOf),
      is_disputed: isDisputed(about),
    },
  ];
}

/**
 * One source can say several things that do not contradict each other, such as about different addresses. So can all
 * sources about the content, which many checks examine.
 */
const isDisputed = (about: Finding[]): boolean =>
  about.some(
    (one) =>
      one.state === 'pass' &&
      one.topic !== 'content' &&
      about.some((other) => other.problem !== null && other.source !== one.source),
  );

const statementOf = ({ topic: _topic, problem: _problem, ...statement }: Finding): Statement =>
  statement;

/** Days and times compare as texts. */
const earliest = (times: (string | null)[]): string | null =>
  times.filter((time) => time !== null).toSorted()[0] ?? null;

/** In the middle of a sentence. */
const SHORT_NAMES: Record<SourceLine['source'], string> = {
  dns: 'DNS',
  tests: 'tests',
  placement: 'placement',
  feedback: 'feedback',
  receivers: 'receivers',
};
const LIST = new Intl.ListFormat('en-GB');
const listOf = (lines: SourceLine[]): string =>
  LIST.format(lines.map(({ source }) => SHORT_NAMES[source]));

/** Fine only if all sources that are set up know that it is. */
function withoutProblems(sources: SourceLine[]): { state: State; headline: string } {
  const known = sources.filter(({ state }) => state === 'pass');
  const open = sources.filter(({ state }) => state === 'unknown');
  if (known.length === 0)
    return { state: 'unknown', headline: 'Nothing is known about this domain yet.' };
  const found = `No problems found in ${listOf(known)}`;
  if (open.length === 0) return { state: 'pass', headline: `${found}.` };
  return { state: 'unknown', headline: `${found}. Unknown: ${listOf(open)}.` };
}
