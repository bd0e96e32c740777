/** From what all sources say to the picture. Pure. */

import { byCost, type Finding, type SourceReport } from './findings.ts';
import type { Picture, Problem, SourceLine, Statement } from './schema.ts';
import { type State, TOPICS, type Topic } from './vocabulary.ts';

/** One report for each source, in the order of `SOURCES`. */
export function assemble(
  domain: Pick<Picture, 'domain_id' | 'name'>,
  reports: SourceReport[],
): Picture {
  const named = { object: 'domain_picture' as const, ...domain };
  const sources = reports.map(({ line }) => line);
  const problems = problemsOf(reports.flatMap(({ findings }) => findings));
  const [first] = problems;
  if (first)
    return {
      ...named,
      state: first.state,
      headline: first.title,
      since: first.since,
      first_step: first.first_step,
      problems,
      sources,
    };
  const { state, headline } = withoutProblems(sources);
  return { ...named, state, headline, since: null, first_step: null, problems, sources };
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
  const [step] = about.flatMap(({ problem }) => problem?.firstStep ?? []);
  return [
    {
      topic: worst.topic,
      state,
      title,
      cost,
      since: worst.since ?? sinceOfOthers(worst, about),
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

/** A date must belong to what the title says: only other sources with the same kind of problem may know it. */
function sinceOfOthers({ source, problem }: Finding, about: Finding[]): string | null {
  const times = about.flatMap((one) =>
    one.source !== source && one.problem?.cost === problem?.cost ? (one.since ?? []) : [],
  );
  // Days and times compare as texts.
  return times.toSorted()[0] ?? null;
}

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

// What to do first about a topic if no source knows better.

const TEST_ALL =
  'Send a test from each of your senders. Receivers judge all mail of the domain, and one sender may fail.';

const STEPS: Record<Topic, string> = {
  spf: TEST_ALL,
  dkim: TEST_ALL,
  dmarc: TEST_ALL,
  dmarc_policy: 'Publish a valid DMARC record.',
  tls: 'Configure your mail server to use TLS whenever the receiver offers it.',
  incoming_tls: 'Renew or correct the certificates of your mail servers.',
  reverse_dns: 'Give each sending address a PTR record whose name resolves back to the address.',
  mail_servers: 'Correct the MX records of the domain.',
  blocklists: 'Fix the cause of the listing, then request removal.',
  rejections: 'Check the log of your mail server: the replies of receivers name the cause.',
  reputation: 'Send less, and only to recipients who open your mail, until the ratings recover.',
  spam_reports:
    'Stop sending to recipients who did not ask for the mail or no longer open it, and make unsubscribing easy.',
  placement: 'Open the latest placement test, and fix the problems in its report.',
  unsubscribe:
    'Offer one-click unsubscribe, and stop sending within two days to recipients who use it.',
  content: 'Test a typical message, and fix the problems in its report.',
  bimi: 'Correct the BIMI record, or remove it.',
  verification: 'Publish the TXT record for verification.',
  reports: 'Open the refused report to see why it was refused.',
};

const stepAbout = (topic: Topic): string => STEPS[topic];
