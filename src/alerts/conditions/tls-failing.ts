/** `tls_failing`: servers that deliver to the domain report that TLS fails. */

import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { type Condition, NO, type ObservationOf, UNKNOWN, type Verdict } from './condition.ts';
import { firstDay, MAX_PAST_ROWS, timesOf } from './history.ts';
import {
  countedBy,
  domainPage,
  endsWithoutReports,
  findDomains,
  noReports,
} from './of-feedback.ts';

interface Value {
  /** In UTC. */
  day: string;
  sessions: number;
  failed: number;
  /** How many reporters counted them. */
  reporters: number;
  domain_id: string;
}

const MAX_SHARE = 0.01;
const MIN_FAILED = 10;

function answerOf({
  succeeded,
  failed,
}: Pick<ObservationOf<'tls'>, 'succeeded' | 'failed'>): Verdict['answer'] {
  const sessions = succeeded + failed;
  if (sessions === 0) return 'unknown';
  if (failed <= sessions * MAX_SHARE) return 'no';
  // A few sessions are inconclusive.
  return failed < MIN_FAILED ? 'unknown' : 'yes';
}

export const tlsFailing: Condition<'tls', Value> = {
  observes: ['tls'],
  threshold: null,

  evaluate({ day, succeeded, failed, reporters, domainId }) {
    const answer = answerOf({ succeeded, failed });
    if (day === null || answer === 'unknown') return UNKNOWN;
    if (answer === 'no') return NO;
    const sessions = succeeded + failed;
    return { answer, value: { day, sessions, failed, reporters, domain_id: domainId! } };
  },
  history: {
    missing: 'no TLS report',
    async timesSince(reading) {
      const rows = await reading.db
        .selectFrom('domains')
        // In this order, so that the days of each domain are looked up.
        .crossJoin('tls_days')
        .select(['domains.id', 'day', 'succeeded', 'failed'])
        .whereRef('tls_days.domain_id', '=', 'domains.id')
        .where('day', '>=', firstDay(reading))
        .orderBy('day', 'desc')
        .limit(MAX_PAST_ROWS)
        .execute();
      const answers = rows.map(({ id, day, ...sessions }) => ({
        at: day,
        subject: id,
        answer: answerOf(sessions),
      }));
      return timesOf(answers, reading);
    },
  },
  resolutionOf: endsWithoutReports,
  findWatched: findDomains,

  choice: {
    text: 'TLS fails for mail to your domain',
    hint: 'Checked on TLS reports: more than 1% of the TLS sessions in a day, and at least 10, fail.',
  },
  alertsWhen: () => 'more than 1% of the TLS sessions in a day, and at least 10, fail',
  documentation: 'more than 1% of the TLS sessions in a day, and at least 10, fail',
  shortText: 'TLS sessions fail',
  openedText: ({ subject, value: { day, sessions, failed, reporters } }) => ({
    title: `TLS fails for some mail to ${subject}`,
    lead: `On ${dayInWords(day)}, ${formatCount(failed)} of ${formatCount(sessions)} sessions (${formatPercent(failed / sessions)}) failed${countedBy(reporters)}. Where MTA-STS or DANE is enforced, senders delay or bounce this mail.`,
  }),
  resolvedTitle: ({ subject }) => `TLS works again for mail to ${subject}`,
  unwatchedText: noReports('TLS'),
  measurements: ({ value: { day, sessions, failed, reporters } }) => [
    [
      'Failed',
      `${formatCount(failed)} of ${formatCount(sessions)} sessions on ${dayInWords(day)}${countedBy(reporters)}`,
    ],
  ],
  isRelevantFix: () => false,
  fixes: () => [
    {
      title: '',
      text: 'Open the TLS page of the domain: it shows each kind of failure with its fix, such as an expired certificate.',
      record: null,
    },
  ],
  subjectLabel: 'Domain',
  page({ value }) {
    const { path } = domainPage({ value });
    return { label: 'View TLS reports', path: `${path}#tls` };
  },
  sampleValue: () => ({
    day: '2026-11-21',
    sessions: 4100,
    failed: 96,
    reporters: 2,
    domain_id: 'dom_sample',
  }),
};
