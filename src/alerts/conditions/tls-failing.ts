/** `tls_failing`: servers that deliver to the domain report that TLS fails. */

import { formatCount, formatPercent } from '../../report/summary.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';
import { domainPage, findDomains } from './of-feedback.ts';

interface Value {
  /** In UTC. */
  day: string;
  sessions: number;
  failed: number;
  domain_id: string;
}

const MAX_SHARE = 0.01;
const MIN_FAILED = 10;

export const tlsFailing: Condition<'tls', Value> = {
  observes: ['tls'],
  threshold: null,

  evaluate({ day, succeeded, failed, domainId }) {
    const sessions = succeeded + failed;
    if (sessions === 0) return UNKNOWN;
    if (failed < MIN_FAILED || failed <= sessions * MAX_SHARE) return NO;
    return { answer: 'yes', value: { day, sessions, failed, domain_id: domainId! } };
  },
  findWatched: findDomains,

  choice: {
    text: 'Servers can’t deliver to you with TLS',
    hint: 'Checked on TLS reports: more than 1 % of the sessions of a day fail, at least 10.',
  },
  alertsWhen: () => 'more than 1 % of the TLS sessions of a day fail',
  documentation: 'TLS reports count more than 1 % failed sessions of a day, and at least 10',
  shortText: 'TLS sessions fail',
  openedText: ({ subject, value: { day, sessions, failed } }) => ({
    title: `Servers can’t deliver to ${subject} with TLS`,
    lead: `On ${day}, ${formatCount(failed)} of ${formatCount(sessions)} sessions (${formatPercent(failed / sessions)}) failed, as the sending servers report. With MTA-STS or DANE enforced, mail to you is delayed or lost.`,
  }),
  resolvedTitle: ({ subject }) => `Servers can deliver to ${subject} with TLS again`,
  measurements: ({ value: { day, sessions, failed } }) => [
    ['Failed', `${formatCount(failed)} of ${formatCount(sessions)} sessions on ${day}`],
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
    ...{ day: '2026-11-21', sessions: 4100, failed: 96, domain_id: 'dom_sample' },
  }),
};
