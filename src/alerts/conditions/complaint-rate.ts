/** `complaint_rate`: too many recipients mark messages of the domain as spam. */

import { formatCount } from '../../report/summary.ts';
import { dayInWords } from '../../report/times.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';
import { domainPage, endsWithoutReports, findDomains, noReports } from './of-feedback.ts';

interface Value {
  /** In UTC. */
  day: string;
  complaints: number;
  /** Messages of the day that DMARC reports count. */
  messages: number;
  threshold: number;
  domain_id: string;
}

/** In complaints per 1,000 messages. Gmail and Yahoo require less than 3. */
const THRESHOLD = {
  ...{ min: 1, max: 100, default: 1 },
  text: 'At least this many complaints per 1,000 messages in a day trigger the alert.',
};
const MIN_COMPLAINTS = 5;

export const complaintRate: Condition<'complaints', Value> = {
  observes: ['complaints'],
  threshold: THRESHOLD,

  evaluate({ day, complaints, messages, domainId }, threshold) {
    if (day === null || messages === 0) return UNKNOWN;
    if (complaints * 1000 < messages * threshold) return NO;
    // A few complaints say neither.
    if (complaints < MIN_COMPLAINTS) return UNKNOWN;
    return { answer: 'yes', value: { day, complaints, messages, threshold, domain_id: domainId! } };
  },
  resolutionOf: endsWithoutReports,
  findWatched: findDomains,

  choice: {
    text: 'Too many recipients complain',
    hint: 'At least 5 complaints in a day that also reach the threshold per 1,000 messages. Checked 2 days later, when DMARC reports have counted the messages.',
  },
  alertsWhen: (threshold) =>
    `at least ${MIN_COMPLAINTS} spam complaints arrive in a day, and at least ${threshold} per 1,000 messages`,
  documentation: `at least ${MIN_COMPLAINTS} spam complaints arrive in a day, and at least \`threshold\` (${THRESHOLD.min}–${THRESHOLD.max}, default ${THRESHOLD.default}) per 1,000 messages that DMARC reports count`,
  shortText: 'too many complaints',
  openedText: ({ subject, value: { day, complaints, messages } }) => ({
    title: `Recipients complain about mail from ${subject}`,
    lead: `On ${dayInWords(day)}, providers reported ${formatCount(complaints, 'complaint')}. DMARC reports count ${formatCount(messages, 'message')}, so the rate is about ${rate(complaints, messages)} per 1,000. Gmail and Yahoo require less than 3.`,
  }),
  resolvedTitle: ({ subject }) => `Complaints about mail from ${subject} are below the threshold`,
  unwatchedText: noReports('DMARC'),
  measurements: ({ value: { day, complaints, messages, threshold } }) => [
    [
      'Complaints',
      `${formatCount(complaints)} on ${dayInWords(day)}, or ${rate(complaints, messages)} per 1,000 messages`,
    ],
    ['Alerts at', `${threshold} per 1,000`],
  ],
  isRelevantFix: () => false,
  fixes: () => [
    {
      title: '',
      text: 'Find out which mailing caused them: the complaints show its subject. Stop sending to recipients who have not asked for it or no longer open it, and make unsubscribing easy.',
      record: null,
    },
  ],
  subjectLabel: 'Domain',
  page({ value }) {
    const { path } = domainPage({ value });
    return { label: 'View complaints', path: `${path}/complaints` };
  },
  sampleValue: (threshold) => ({
    ...{ day: '2026-11-21', complaints: 9, messages: 4000, threshold, domain_id: 'dom_sample' },
  }),
};

const rate = (complaints: number, messages: number): string =>
  ((complaints * 1000) / messages).toFixed(1);
