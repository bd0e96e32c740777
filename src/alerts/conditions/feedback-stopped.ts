/** `feedback_stopped`: receivers no longer report about a domain. */

import { timeInWords } from '../../lib/format/times.ts';
import { type Condition, NO } from './condition.ts';
import { countedByEvents, domainPage, domainRemoved, findDomains } from './of-feedback.ts';

interface Value {
  last_report_at: string;
  domain_id: string;
}

export const feedbackStopped: Condition<'feedback', Value> = {
  observes: ['feedback'],
  threshold: null,
  history: countedByEvents('feedback.stopped'),

  evaluate: ({ isStopped, lastReportAt, domainId }) =>
    isStopped
      ? { answer: 'yes', value: { last_report_at: lastReportAt, domain_id: domainId! } }
      : NO,
  findWatched: findDomains,

  choice: {
    text: 'Receivers no longer report',
    hint: 'No DMARC or TLS report has arrived for 3 days, after at least 7 days of reports.',
  },
  alertsWhen: () =>
    'no DMARC or TLS report has arrived for 3 days, after at least 7 days of reports',
  documentation:
    'no DMARC or TLS report about a domain has arrived for 3 days, after at least 7 days of reports',
  shortText: 'no reports arrive',
  openedText: ({ subject, value: { last_report_at } }) => ({
    title: `Receivers no longer report about ${subject}`,
    lead: `The last DMARC or TLS report arrived on ${timeInWords(last_report_at)}. Mail is not affected, but you no longer see who sends mail as ${subject}.`,
  }),
  resolvedTitle: ({ subject }) => `Receivers report about ${subject} again`,
  unwatchedText: domainRemoved,
  measurements: ({ value: { last_report_at } }) => [['Last report', timeInWords(last_report_at)]],
  isRelevantFix: () => false,
  fixes: () => [
    {
      title: '',
      text: 'Check that the DMARC record still has the feedback address in rua, and that the authorization record is there. Check that port 25 of this service can be reached. A domain that sends no mail gets no reports.',
      record: null,
    },
  ],
  subjectLabel: 'Domain',
  page: domainPage,
  sampleValue: () => ({ last_report_at: '2026-11-18T04:00:00.000Z', domain_id: 'dom_sample' }),
};
