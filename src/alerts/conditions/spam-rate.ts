/** Too many Gmail users report messages of the domain as spam. */

import { SPAM_GOAL_TEXT, SPAM_LIMIT_TEXT, SPAM_LIMITS, SPAM_RATE } from '../../figures/gmail.ts';
import { rateInWords } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';
import { firstDay, MAX_PAST_ROWS, timesOf } from './history.ts';
import { endsWithoutReports } from './of-feedback.ts';
import { accountsAt, findDomainsAtGoogle, gmailPage } from './of-receivers.ts';

interface Value {
  /** As Google counts days. */
  day: string;
  /** From 0 to 1. */
  [SPAM_RATE.name]: number;
  threshold: number;
  domain_id: string;
}

/** In reports per 1,000 messages that reached inboxes: the unit of `complaint_rate`, in which 1 is 0.1%. */
const THRESHOLD = {
  min: 1,
  max: 100,
  default: SPAM_LIMITS.warn * 1000,
  unit: 'spam reports per 1,000 messages',
  text: 'At least this many spam reports per 1,000 messages in Gmail inboxes in a day trigger the alert: 1 is 0.1%.',
};

const LIMITS = `Google asks senders to stay below ${SPAM_GOAL_TEXT}, and never to reach ${SPAM_LIMIT_TEXT}.`;

const RATE = `days.${SPAM_RATE.column}` as const;

const reaches = (rate: number, threshold: number): boolean => rate >= threshold / 1000;

export const spamRate: Condition<typeof SPAM_RATE.name, Value> = {
  observes: [SPAM_RATE.name],
  threshold: THRESHOLD,

  evaluate({ day, spamRate: rate, domainId }, threshold) {
    if (day === null || rate === null) return UNKNOWN;
    if (!reaches(rate, threshold)) return NO;
    return {
      answer: 'yes',
      value: { day, [SPAM_RATE.name]: rate, threshold, domain_id: domainId },
    };
  },
  history: {
    missing: 'no spam rate from Google Postmaster Tools',
    async timesSince(reading) {
      const accounts = accountsAt(reading.config, 'google_postmaster');
      if (accounts.length === 0) return null;
      const rows = await reading.db
        .selectFrom('domains')
        // In this order, so that the days of each domain are looked up.
        .crossJoin('receiver_days as days')
        .select(({ fn }) => ['days.name', 'days.day', fn.max(RATE).as('rate')])
        .whereRef('days.name', '=', 'domains.name')
        .where('days.day', '>=', firstDay(reading))
        .where('days.receiver_id', 'in', accounts)
        .where(RATE, 'is not', null)
        .groupBy(['days.name', 'days.day'])
        .orderBy('days.day', 'desc')
        .limit(MAX_PAST_ROWS)
        .execute();
      const answers = rows.map(({ name, day, rate }) => ({
        at: day,
        subject: name,
        answer: reaches(rate!, THRESHOLD.default) ? ('yes' as const) : ('no' as const),
      }));
      return timesOf(answers, reading);
    },
  },
  // Without a rate for a week, nobody knows whether the condition is still met.
  resolutionOf: endsWithoutReports,
  findWatched: findDomainsAtGoogle,

  choice: {
    text: 'Gmail users report your mail as spam',
    hint: `The spam rate of a day in Google Postmaster Tools reaches the threshold. ${LIMITS}`,
  },
  alertsWhen: (threshold) =>
    `Gmail users report at least ${threshold} per 1,000 messages of a day as spam`,
  documentation: `Gmail users report at least \`threshold\` (${THRESHOLD.min}–${THRESHOLD.max}, default ${THRESHOLD.default}) per 1,000 messages of a day as spam, among those that reached their inboxes`,
  shortText: 'too many Gmail users report spam',
  openedText: ({ subject, value: { day, [SPAM_RATE.name]: rate } }) => ({
    title: `Gmail users report mail from ${subject} as spam`,
    lead: `On ${dayInWords(day)}, they reported ${rateInWords(rate)} of the messages that reached their inboxes, according to Google Postmaster Tools. ${LIMITS}`,
  }),
  resolvedTitle: ({ subject }) => `The Gmail spam rate of ${subject} is below the threshold`,
  unwatchedText: ({ subject }) => ({
    title: `Google no longer publishes a spam rate for ${subject}`,
    lead: 'The incident is resolved because Google has published no spam rate for a week, or because the domain or the account was removed. The problem may persist.',
  }),
  measurements: ({ value: { day, [SPAM_RATE.name]: rate, threshold } }) => [
    [SPAM_RATE.title, `${rateInWords(rate)} on ${dayInWords(day)}`],
    ['Alerts at', rateInWords(threshold / 1000)],
  ],
  isRelevantFix: () => false,
  fixes: () => [
    {
      title: '',
      text: 'Find out which mailing of that day caused it. Stop sending to recipients who have not asked for it or no longer open it, and make unsubscribing easy. Send less until the rate falls.',
      record: null,
    },
  ],
  subjectLabel: 'Domain',
  page: gmailPage,
  sampleValue: (threshold) => ({
    day: '2026-11-21',
    [SPAM_RATE.name]: Math.max(0.0034, threshold / 1000),
    threshold,
    domain_id: 'dom_sample',
  }),
};
