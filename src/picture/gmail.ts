/** What Google Postmaster Tools publishes about the mail of a domain to Gmail, by day. */

import { RECEIVER_NAMES } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { noDataReason } from '../receivers/no-data.ts';
import { type GoogleDay, googleDays } from '../receivers/queries.ts';
import { ERROR_LIMITS, explainError } from '../report/delivery-errors.ts';
import { rateInWords, SPAM_GOAL, SPAM_LIMIT } from '../report/spam-rate.ts';
import { type Finding, fine, notKnown, problem, sectionOf } from './findings.ts';
import { CURRENT_DAYS, RECENT_DAYS, type Reading } from './reading.ts';
import type { Topic } from './vocabulary.ts';

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

type Metric = `${'spam' | 'reject' | 'temp_fail' | 'spf' | 'dkim' | 'dmarc' | 'tls'}_rate`;

interface Rate extends Pick<GoogleDay, 'day' | 'errors'> {
  rate: number;
}

/** The days with this figure, if one of them is current. */
function ratesOf({ days, current }: Gmail, metric: Metric): [Rate, ...Rate[]] | null {
  const [latest, ...others] = days.flatMap(({ day, [metric]: rate, errors }) =>
    rate === null ? [] : [{ day, rate, errors }],
  );
  return latest && latest.day >= current ? [latest, ...others] : null;
}

/** The first of the latest days in a row on which it was so. Days without data do not end a row. */
function rowSince(rates: Rate[], isBad: (rate: number) => boolean): string {
  const end = rates.findIndex(({ rate }) => !isBad(rate));
  return rates.slice(0, end < 0 ? undefined : end).at(-1)!.day;
}

function spamFindings(gmail: Gmail): Finding[] {
  const { path, current } = gmail;
  const said = { ...SAID, topic: 'spam_reports' as const, path };
  const rates = ratesOf(gmail, 'spam_rate');
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
    basis: 'Google’s limits: below 0.1%, and never 0.3% or more',
  };
  if (rate >= SPAM_LIMIT)
    return [
      problem('spam_rate_high', {
        ...found,
        since: rowSince(rates, (one) => one >= SPAM_LIMIT),
        title: `Gmail users report ${rateInWords(rate)} of your mail as spam. The limit is 0.3%.`,
      }),
    ];
  if (rate >= SPAM_GOAL)
    return [
      problem('spam_rate_rising', {
        ...found,
        since: rowSince(rates, (one) => one >= SPAM_GOAL),
        title: `Gmail users report ${rateInWords(rate)} of your mail as spam. Stay below 0.1%.`,
      }),
    ];
  const peak = rates
    .filter((one) => one.day >= current)
    .reduce((highest, one) => (one.rate > highest.rate ? one : highest));
  if (peak.rate < SPAM_LIMIT) return [fine(found)];
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

const ERRORS = [
  { metric: 'reject_rate', type: 'reject', verb: 'rejects', past: 'rejected' },
  { metric: 'temp_fail_rate', type: 'temp_fail', verb: 'defers', past: 'deferred' },
] as const;

function errorFindings(gmail: Gmail): Finding[] {
  return ERRORS.flatMap(({ metric, type, verb, past }) => {
    const { some, much } = ERROR_LIMITS[type];
    const rates = ratesOf(gmail, metric);
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
    const text = `Gmail ${past} ${rateInWords(rate)} of the mail`;
    if (rate < some) return [fine({ ...found, text: `${text}.` })];
    const isMuch = much !== null && rate >= much;
    return [
      problem(isMuch ? 'mail_rejected' : 'some_mail_rejected', {
        ...found,
        text: `${text}${because}.`,
        title: `Gmail ${verb} ${rateInWords(rate)} of your mail.`,
        since: rowSince(rates, (one) => one >= (isMuch ? much : some)),
        firstStep: { text: fix, record: null, path: gmail.path },
      }),
    ];
  });
}

/** The most frequent reason of a day. */
function causeOf({ errors }: Rate, type: 'reject' | 'temp_fail') {
  const size = (one: { rate: number | null; count: number | null }) => one.rate ?? one.count ?? 0;
  const [most] = (errors ?? [])
    .filter((one) => one.type === type && size(one) > 0)
    .toSorted((a, b) => size(b) - size(a));
  const { name, fix } = explainError(type, most?.reason ?? 'other');
  return { because: name === null ? '' : `, mostly because of ${name}`, fix };
}

const AUTHENTICATION = [
  { metric: 'spf_rate', topic: 'spf', said: 'passed SPF', says: 'passes SPF' },
  { metric: 'dkim_rate', topic: 'dkim', said: 'passed DKIM', says: 'passes DKIM' },
  { metric: 'dmarc_rate', topic: 'dmarc', said: 'passed DMARC', says: 'passes DMARC' },
  { metric: 'tls_rate', topic: 'tls', said: 'arrived with TLS', says: 'arrives with TLS' },
] as const satisfies { metric: Metric; topic: Topic; said: string; says: string }[];
const WEAK_RATE = 0.95;

function authenticationFindings(gmail: Gmail): Finding[] {
  return AUTHENTICATION.flatMap(({ metric, topic, said, says }) => {
    const rates = ratesOf(gmail, metric);
    if (rates === null) return [];
    const [{ day, rate }] = rates;
    const found = {
      ...SAID,
      topic,
      path: gmail.path,
      at: day,
      text: `${rateInWords(rate)} of the mail to Gmail ${said}.`,
    };
    if (rate >= WEAK_RATE) return [fine(found)];
    return [
      problem(topic === 'tls' ? 'setup_weak' : 'authentication_weak', {
        ...found,
        title: `Only ${rateInWords(rate)} of your mail to Gmail ${says}.`,
        since: rowSince(rates, (one) => one < WEAK_RATE),
      }),
    ];
  });
}
