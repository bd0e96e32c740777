/** `tls_failing`: servers that deliver to the domain report that TLS fails. */

import { formatCount, formatPercent } from '../../report/summary.ts';
import { dayInWords } from '../../report/times.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';
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
  /** How many reporters counted them; missing in older incidents. */
  reporters?: number;
  domain_id: string;
}

const MAX_SHARE = 0.01;
const MIN_FAILED = 10;

export const tlsFailing: Condition<'tls', Value> = {
  observes: ['tls'],
  threshold: null,

  evaluate({ day, succeeded, failed, reporters, domainId }) {
    const sessions = succeeded + failed;
    if (day === null || sessions === 0) return UNKNOWN;
    if (failed <= sessions * MAX_SHARE) return NO;
    // A few sessions say neither.
    if (failed < MIN_FAILED) return UNKNOWN;
    return { answer: 'yes', value: { day, sessions, failed, reporters, domain_id: domainId! } };
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
    ...{ day: '2026-11-21', sessions: 4100, failed: 96, reporters: 2, domain_id: 'dom_sample' },
  }),
};
