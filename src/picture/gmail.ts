/** What Google Postmaster Tools publishes about the mail of a domain to Gmail, by day. */

import { RECEIVER_NAMES } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { type Limits, stateOf } from '../figures/figure.ts';
import {
  ERROR_RATES,
  type ErrorRate,
  type GmailValues,
  PASS_LIMITS,
  PASS_RATES,
  SPAM_GOAL_TEXT,
  SPAM_LIMIT_TEXT,
  SPAM_LIMITS,
  SPAM_RATE,
} from '../figures/gmail.ts';
import { rateInWords } from '../lib/format/numbers.ts';
import { noDataReason } from '../receivers/no-data.ts';
import { type GoogleDay, googleDays } from '../receivers/queries.ts';
import { explainError } from '../report/delivery-errors.ts';
import { type Finding, fine, notKnown, problem, sectionOf } from './findings.ts';
import { CURRENT_DAYS, RECENT_DAYS, type Reading } from './reading.ts';

const SAID = { source: 'receivers', origin: RECEIVER_NAMES.google_postmaster } as const;

/** `today` is a day such as `2026-11-21`. */
export async function gmailFindings(reading: Reading, today: string): Promise<Finding[]> {
  const { db, domain } = reading;
  const path = sectionOf(domain.id, 'gmail');
  const from = dayBefore(today, RECENT_DAYS - 1);
  const current = dayBefore(today, CURRENT_DAYS);
  const days = await googleDays(db, domain.name, { from, to: today });
  const gmail = { days: days.reverse(), current, path };
  const reason = await noDataReason(reading, domain.name, { from: current, to: today });
  if (reason !== null)
    return [notKnown({ ...SAID, topic: 'spam_reports', text: reason.message, at: null, path })];
  return [...spamFindings(gmail), ...errorFindings(gmail), ...authenticationFindings(gmail)];
}

interface Gmail {
  /** The newest first. */
  days: GoogleDay[];
  /** The first day that says how it is now. */
  current: string;
  path: string;
}

interface Rate extends Pick<GoogleDay, 'day' | 'errors'> {
  rate: number;
}

/** The days with this figure, if one of them is current. */
function ratesOf({ days, current }: Gmail, column: keyof GmailValues): [Rate, ...Rate[]] | null {
  const [latest, ...others] = days.flatMap(({ day, [column]: rate, errors }) =>
    rate === null ? [] : [{ day, rate, errors }],
  );
  return latest && latest.day >= current ? [latest, ...others] : null;
}

/** The first of the latest days in a row with this state or a worse one. Days without data do not end a row. */
function rowSince(rates: Rate[], limits: Limits, state: 'warn' | 'fail'): string {
  const end = rates.findIndex(({ rate }) => !['fail', state].includes(stateOf(rate, limits)));
  return rates.slice(0, end < 0 ? undefined : end).at(-1)!.day;
}

function spamFindings(gmail: Gmail): Finding[] {
  const { path, current } = gmail;
  const said = { ...SAID, topic: 'spam_reports' as const, path };
  const rates = ratesOf(gmail, SPAM_RATE.column);
  if (rates === null)
    return [
      notKnown({
        ...said,
        at: null,
        text: `Google has published no spam rate for ${CURRENT_DAYS} days: too little mail.`,
      }),
    ];
  const [{ day, rate }] = rates;
  const found = {
    ...said,
    at: day,
    text: `Recipients reported ${rateInWords(rate)} of the mail in Gmail inboxes as spam.`,
    basis: `Google’s limits: below ${SPAM_GOAL_TEXT}, and never ${SPAM_LIMIT_TEXT} or more`,
  };
  const state = stateOf(rate, SPAM_LIMITS);
  if (state === 'fail')
    return [
      problem('spam_rate_high', {
        ...found,
        since: rowSince(rates, SPAM_LIMITS, state),
        title: `Gmail users report ${rateInWords(rate)} of your mail as spam. The limit is ${SPAM_LIMIT_TEXT}.`,
      }),
    ];
  if (state === 'warn')
    return [
      problem('spam_rate_rising', {
        ...found,
        since: rowSince(rates, SPAM_LIMITS, state),
        title: `Gmail users report ${rateInWords(rate)} of your mail as spam. Stay below ${SPAM_GOAL_TEXT}.`,
      }),
    ];
  const peak = rates
    .filter((one) => one.day >= current)
    .reduce((highest, one) => (one.rate > highest.rate ? one : highest));
  if (stateOf(peak.rate, SPAM_LIMITS) !== 'fail') return [fine(found)];
  return [
    problem('spam_rate_rising', {
      ...found,
      at: peak.day,
      since: peak.day,
      text: `Recipients reported ${rateInWords(peak.rate)} of the mail in Gmail inboxes as spam, and ${rateInWords(rate)} on the latest day.`,
      title: `Gmail users reported up to ${rateInWords(peak.rate)} of your mail as spam last week.`,
    }),
  ];
}

function errorFindings(gmail: Gmail): Finding[] {
  return ERROR_RATES.flatMap(({ column, type, present, ofPeriod, limits }) => {
    const rates = ratesOf(gmail, column);
    if (rates === null) return [];
    const [latest] = rates;
    const { day, rate } = latest;
    const { because, fix } = causeOf(latest, type);
    const found = {
      ...SAID,
      topic: 'rejections' as const,
      path: gmail.path,
      at: day,
    };
    const text = `Gmail ${ofPeriod} ${rateInWords(rate)} of the mail`;
    const state = stateOf(rate, limits);
    if (state === 'pass') return [fine({ ...found, text: `${text}.` })];
    return [
      problem(state === 'fail' ? 'mail_rejected' : 'some_mail_rejected', {
        ...found,
        text: `${text}${because}.`,
        title: `Gmail ${present} ${rateInWords(rate)} of your mail.`,
        since: rowSince(rates, limits, state),
        firstStep: { text: fix, record: null, path: gmail.path },
      }),
    ];
  });
}

/** The most frequent reason of a day. */
function causeOf({ errors }: Rate, type: ErrorRate['type']) {
  const size = (one: { rate: number | null; count: number | null }) => one.rate ?? one.count ?? 0;
  const [most] = (errors ?? [])
    .filter((one) => one.type === type && size(one) > 0)
    .toSorted((a, b) => size(b) - size(a));
  const { name, fix } = explainError(type, most?.reason ?? 'other');
  return { because: name === null ? '' : `, mostly because of ${name}`, fix };
}

function authenticationFindings(gmail: Gmail): Finding[] {
  return PASS_RATES.flatMap(({ name: topic, column, past, present }) => {
    const rates = ratesOf(gmail, column);
    if (rates === null) return [];
    const [{ day, rate }] = rates;
    const found = {
      ...SAID,
      topic,
      path: gmail.path,
      at: day,
      text: `${rateInWords(rate)} of the mail to Gmail ${past}.`,
    };
    if (stateOf(rate, PASS_LIMITS) === 'pass') return [fine(found)];
    return [
      problem(topic === 'tls' ? 'setup_weak' : 'authentication_weak', {
        ...found,
        title: `Only ${rateInWords(rate)} of your mail to Gmail ${present}.`,
        since: rowSince(rates, PASS_LIMITS, 'warn'),
      }),
    ];
  });
}
