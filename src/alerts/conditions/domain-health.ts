/** `domain_health`: the health of a verified domain is critical, or has warnings. */

import { worstFirst } from '../../analysis/domain/dangers.ts';
import type { DomainCheck } from '../../analysis/domain/health.ts';
import type { HealthObservation } from '../../domains/observe.ts';
import { idAt } from '../../lib/ids.ts';
import { type Condition, NO, type Step, UNKNOWN } from './condition.ts';
import { type History, keptSince, type PastAnswer, timesOf } from './history.ts';
import { findVerified, healthPage, noLongerVerified } from './of-domains.ts';

interface Value {
  status: 'warning' | 'critical';
  score: number | null;
  summary: string;
  /** Those that matter most, worst first. */
  problems: Problem[];
  domain_id: string;
}

interface Problem extends Step {
  /** The ID of the check. */
  id: string;
  severity: DomainCheck['severity'];
}

/** By threshold. */
const STATUSES = { 1: ['critical'], 2: ['critical', 'warning'] } as const;
const THRESHOLD = {
  min: 1,
  max: 2,
  default: 1,
  unit: 'problems',
  options: [
    [1, 'Critical problems'],
    [2, 'Critical problems and warnings'],
  ] as [number, string][],
  text: 'At 1, critical problems trigger the alert. At 2, warnings do too.',
};

const MAX_PROBLEMS = 10;
const MAX_STEPS = 3;

/** Each has the whole domain as JSON. */
const MAX_EVENTS = 1000;

const ANSWERS = { critical: 'yes', warning: 'no', healthy: 'no', unknown: 'unknown' } as const;

/** How often the health of domains became critical, from their events. */
export const criticalHealth: History = {
  missing: 'no health check of a verified domain',
  async timesSince({ since: asked, ...source }) {
    const reading = { ...source, since: keptSince({ ...source, since: asked }) };
    const checked = await reading.db
      .selectFrom('domains')
      .select('id')
      .where('status', '=', 'verified')
      .where('health_status', '!=', 'unknown')
      .limit(1)
      .executeTakeFirst();
    if (!checked) return null;
    const rows = await reading.db
      .selectFrom('events')
      .select(['created_at', 'data'])
      .where('type', '=', 'domain.health_changed')
      .where('id', '>=', idAt('evt', Date.parse(reading.since)))
      .orderBy('id', 'desc')
      .limit(MAX_EVENTS)
      .execute();
    const answers = rows.map(({ created_at: at, data }): PastAnswer => {
      const { id: subject, health } = JSON.parse(data);
      return { at, subject, answer: ANSWERS[health.status as keyof typeof ANSWERS] };
    });
    // Without a change of health, all domains stayed as they were.
    if (answers.length === 0) return { times: 0, since: reading.since };
    return timesOf(answers, reading, rows.length === MAX_EVENTS);
  },
};

export const domainHealth: Condition<'health', Value> = {
  observes: ['health'],
  threshold: THRESHOLD,

  evaluate({ health, domainId: domain_id }, threshold) {
    const { status, score, summary } = health;
    if (status === 'unknown') return UNKNOWN;
    const isMet = STATUSES[threshold === 1 ? 1 : 2].some((counted) => counted === status);
    if (status === 'healthy' || !isMet) return NO;
    return {
      answer: 'yes',
      value: { status, score, summary, problems: problemsOf(health), domain_id },
    };
  },
  /** A critical problem that was not there before must not hide behind an open incident. */
  isSignificantChange: (before, { problems }) => {
    const known = new Set(criticalIds(before.problems));
    return criticalIds(problems).some((id) => !known.has(id));
  },
  findWatched: findVerified,
  history: criticalHealth,

  choice: {
    text: 'Your domain has a health problem',
    hint: 'Evaluated at each health check of a verified domain: every day, and within an hour after one of its records changes.',
  },
  alertsWhen: (threshold) =>
    threshold === 1
      ? 'a verified domain has a critical problem'
      : 'a verified domain has a critical problem or a warning',
  documentation:
    'the health of a verified domain is `critical`, or with a `threshold` of 2 (1 or 2, default 1), `warning`',
  shortText: 'the domain has a health problem',
  openedText({ subject, value: { summary, problems } }) {
    const problem = problems[0]?.title.replace(/\.$/, '') ?? 'it has a health problem';
    return { title: problem.includes(subject) ? problem : `${subject}: ${problem}`, lead: summary };
  },
  resolvedTitle: ({ subject, value: { status } }, { threshold }) =>
    threshold === 1 || status === 'warning'
      ? `${subject} has no ${status === 'critical' ? 'critical problem' : 'warning'} anymore`
      : `${subject} is healthy again`,
  unwatchedText: noLongerVerified,
  measurements: ({ value: { status, score, problems } }) => [
    ['Health', score === null ? status : `${status}, ${score} of 100`],
    ...problems.slice(1, MAX_STEPS).map(({ title }): [string, string] => ['Also', title]),
  ],
  isRelevantFix: () => false,
  fixes: ({ value: { problems } }) =>
    problems
      .filter(({ text }) => text !== '')
      .slice(0, MAX_STEPS)
      .map(({ title, text, record }, index) => ({ title: index === 0 ? '' : title, text, record })),
  subjectLabel: 'Domain',
  page: healthPage,
  sampleValue: () => ({
    status: 'critical',
    score: 49,
    summary: 'example.com needs attention: 1 critical problem.',
    problems: [],
    domain_id: 'dom_sample',
  }),
};

const problemsOf = ({ checks }: HealthObservation['health']): Problem[] =>
  worstFirst(checks)
    .slice(0, MAX_PROBLEMS)
    .map(({ id, severity, title, fix }) => ({
      id,
      severity,
      title,
      text: fix?.text ?? '',
      record: fix?.record ?? null,
    }));

const criticalIds = (problems: Problem[]): string[] =>
  problems.flatMap(({ id, severity }) => (severity === 'critical' ? [id] : []));
