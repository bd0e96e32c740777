/** `placement_problem`: a placement monitor found spam, a lower inbox rate, or missing messages. */

import { adviceFor } from '../../monitors/findings.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';

interface Value {
  /** The name of the monitor. */
  monitor: string;
  problems: { problem: string; provider: string | null; title: string }[];
}

const MAX_SHOWN = 3;

export const placementProblem: Condition<'run', Value> = {
  observes: ['run'],
  threshold: null,
  isOfNoDomain: true,

  evaluate({ subject, findings, monitor: { name }, changes: { placement, targets } }) {
    if (placement === undefined) return UNKNOWN;
    const problems = findings
      .filter((finding) => 'problem' in finding)
      .map(({ problem, provider, title }) => ({ problem, provider, title }));
    if (problems.length > 0) return { answer: 'yes', value: { monitor: name, problems } };
    const hasResults = targets.find(({ target }) => target === subject)?.known === true;
    return hasResults ? NO : UNKNOWN;
  },

  choice: {
    text: 'A placement monitor finds a problem',
    hint: 'Checked on each run: mail in spam, mail that did not arrive, a lower inbox rate, or no message in time.',
  },
  alertsWhen: () => 'a placement monitor finds a problem',
  documentation:
    'a [placement monitor](seed-mailboxes.md#placement-monitors) has a finding, such as mail in spam, a lower inbox rate, or no message in time',
  shortText: 'a placement problem',
  openedText({ value: { monitor, problems } }) {
    const [first, ...others] = problems;
    const more =
      others.length === 0
        ? ''
        : `, and ${others.length} more ${others.length === 1 ? 'problem' : 'problems'}`;
    const titles = problems.slice(0, MAX_SHOWN).map(({ title }) => title);
    return {
      title: `${monitor}: ${(first?.title ?? 'a placement problem').replace(/[.?]$/, '')}${more}`,
      lead: `${titles.join(' ')} Seed mailboxes are a sample, so check your other figures too.`,
    };
  },
  resolvedTitle: ({ value: { monitor } }) => `${monitor}: no placement problems found`,
  measurements: ({ value: { problems } }) => [['Findings', String(problems.length)]],
  isRelevantFix: () => false,
  fixes: ({ value: { problems } }) =>
    problems.slice(0, MAX_SHOWN).map(({ problem, title }) => ({
      title,
      text: adviceFor(problem).advice,
      record: null,
    })),
  subjectLabel: 'Monitor address',
  sampleValue: () => ({
    monitor: 'Newsletter of example.com',
    problems: [
      {
        problem: 'spam',
        provider: 'gmail',
        title: 'Gmail sent the message to spam in 2 of 2 seed mailboxes.',
      },
    ],
  }),
};
