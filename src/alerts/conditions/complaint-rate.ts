/** `complaint_rate`: too many recipients mark messages of the domain as spam. */

import { providerName } from '../../feedback/bounces/explain.ts';
import { SPAM_LIMITS } from '../../figures/gmail.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { type Condition, NO, UNKNOWN, type Verdict } from './condition.ts';
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
  complaints: number;
  /** Who passed on the complaints. */
  receivers: string[];
  /** Messages of the day that DMARC reports count, and how many reporters do. */
  messages: number;
  reporters: number;
  threshold: number;
  domain_id: string;
}

/** In complaints per 1,000 messages. */
const THRESHOLD = {
  min: 1,
  max: 100,
  default: 1,
  unit: 'complaints per 1,000 messages',
  text: 'At least this many complaints per 1,000 messages in a day trigger the alert.',
};
const MIN_COMPLAINTS = 5;

function answerOf(
  { complaints, messages }: Pick<Value, 'complaints' | 'messages'>,
  threshold: number,
): Verdict['answer'] {
  if (messages === 0) return 'unknown';
  if (complaints * 1000 < messages * threshold) return 'no';
  // A few complaints are inconclusive.
  return complaints < MIN_COMPLAINTS ? 'unknown' : 'yes';
}

export const complaintRate: Condition<'receiver_day', Value> = {
  observes: ['receiver_day'],
  threshold: THRESHOLD,

  evaluate({ day, complaints, receivers, messages, reporters, domainId }, threshold) {
    const answer = answerOf({ complaints, messages }, threshold);
    if (day === null || answer === 'unknown') return UNKNOWN;
    if (answer === 'no') return NO;
    const counts = { day, complaints, receivers, messages, reporters };
    return { answer, value: { ...counts, threshold, domain_id: domainId! } };
  },
  history: {
    missing: 'no DMARC report',
    async timesSince(reading) {
      const rows = await reading.db
        .selectFrom('domains')
        // In this order, so that the days of each domain are looked up.
        .crossJoin('dmarc_days')
        .leftJoin('feedback_message_sums as sums', (join) =>
          join
            .onRef('sums.domain_id', '=', 'domains.id')
            .onRef('sums.period', '=', 'dmarc_days.day')
            .on('sums.subject', '=', 'complaint kind')
            .on('sums.value', '=', 'abuse'),
        )
        .select(['domains.id', 'dmarc_days.day', 'dmarc_days.messages', 'sums.count'])
        .whereRef('dmarc_days.domain_id', '=', 'domains.id')
        .where('dmarc_days.day', '>=', firstDay(reading))
        .orderBy('dmarc_days.day', 'desc')
        .limit(MAX_PAST_ROWS)
        .execute();
      const answers = rows.map(({ id, day, messages, count }) => ({
        at: day,
        subject: id,
        answer: answerOf({ complaints: count ?? 0, messages }, THRESHOLD.default),
      }));
      return timesOf(answers, reading);
    },
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
  openedText: ({ subject, value: { day, complaints, receivers, messages, reporters } }) => ({
    title: `Recipients complain about mail from ${subject}`,
    lead: `On ${dayInWords(day)}, ${namesOf(receivers)} reported ${formatCount(complaints, 'complaint')}. ${reportsOf(reporters)} count ${formatCount(messages, 'message')}, so the rate is about ${rate(complaints, messages)} per 1,000. Gmail and Yahoo require less than ${SPAM_LIMITS.fail * 1000}.`,
  }),
  resolvedTitle: ({ subject }) => `Complaints about mail from ${subject} are below the threshold`,
  unwatchedText: noReports('DMARC'),
  measurements: ({ value: { day, complaints, messages, reporters, threshold } }) => [
    [
      'Complaints',
      `${formatCount(complaints)} on ${dayInWords(day)}, or ${rate(complaints, messages)} per 1,000 messages${countedBy(reporters)}`,
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
    day: '2026-11-21',
    complaints: 9,
    receivers: ['yahoo.com'],
    messages: 4000,
    reporters: 6,
    threshold,
    domain_id: 'dom_sample',
  }),
};

const rate = (complaints: number, messages: number): string =>
  ((complaints * 1000) / messages).toFixed(1);

const MAX_NAMED = 3;

/** The providers with the most complaints. */
function namesOf(receivers: string[]): string {
  if (receivers.length === 0) return 'providers';
  const others = receivers.length - MAX_NAMED;
  const names = receivers.slice(0, MAX_NAMED).map((domain) => providerName(domain) ?? domain);
  const rest = others > 0 ? [formatCount(others, 'other')] : [];
  return new Intl.ListFormat('en-GB').format([...names, ...rest]);
}

const reportsOf = (reporters: number): string =>
  reporters ? `DMARC reports from ${formatCount(reporters, 'reporter')}` : 'DMARC reports';
