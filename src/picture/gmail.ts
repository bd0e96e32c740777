/** What Google Postmaster Tools says about the mail of a domain to Gmail. */

import { RECEIVER_NAMES } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { type GoogleDay, googleDays, requirementsOf } from '../receivers/queries.ts';
import { requirementName } from '../receivers/requirements.ts';
import { dayInWords } from '../report/times.ts';
import type { ReceiverRequirementRow } from '../store/tables.generated.ts';
import { explainError } from './delivery-errors.ts';
import { type Finding, fine, notKnown, problem, sectionOf } from './findings.ts';
import type { Reading } from './reading.ts';
import { rateInWords } from './texts.ts';
import type { Topic } from './types.ts';

/** Google’s own limits for the share of mail that recipients report as spam. */
export const SPAM_LIMIT = 0.003;
export const SPAM_GOAL = 0.001;

const SAID = { source: 'receivers', origin: RECEIVER_NAMES.google_postmaster } as const;

interface GmailReading extends Reading {
  from: string;
  to: string;
}

export async function gmailFindings(reading: GmailReading): Promise<Finding[]> {
  const { db, domain, from, to } = reading;
  const path = sectionOf(domain.id, 'gmail');
  const days = (await googleDays(db, domain.name, { from, to })).reverse();
  const requirements = await requirementsOf(db, domain.name);
  return [
    ...spamFindings(days, path),
    ...errorFindings(days, path),
    ...authenticationFindings(days, path),
    ...requirements.flatMap((row) => requirementFinding(row, path)),
  ];
}

type Metric =
  | 'spam_rate'
  | 'reject_rate'
  | 'temp_fail_rate'
  | 'spf_rate'
  | 'dkim_rate'
  | 'dmarc_rate'
  | 'tls_rate';

/** The newest first. */
const published = (days: GoogleDay[], metric: Metric) =>
  days.flatMap(({ day, [metric]: rate, errors }) => (rate === null ? [] : [{ day, rate, errors }]));

/** The first of the latest days in a row on which it was so. Days without data do not end a row. */
function rowSince(days: { day: string; rate: number }[], isBad: (rate: number) => boolean): string {
  const end = days.findIndex(({ rate }) => !isBad(rate));
  return days.slice(0, end < 0 ? undefined : end).at(-1)!.day;
}

function spamFindings(days: GoogleDay[], path: string): Finding[] {
  const rates = published(days, 'spam_rate');
  const [latest] = rates;
  if (!latest) return [];
  const { day, rate } = latest;
  const said = {
    ...{ ...SAID, topic: 'spam_reports' as const, path, at: day },
    text: `Recipients reported ${rateInWords(rate)} of the mail in Gmail inboxes as spam on ${dayInWords(day)}.`,
    basis: 'Google’s limits: below 0.1%, and never 0.3% or more',
  };
  const firstStep = {
    text: 'Stop sending to recipients who did not ask for the mail or no longer open it, and make unsubscribing easy.',
    ...{ record: null, path },
  };
  if (rate >= SPAM_LIMIT)
    return [
      problem('spam_rate_high', {
        ...{ ...said, firstStep, since: rowSince(rates, (one) => one >= SPAM_LIMIT) },
        title: `Gmail users report ${rateInWords(rate)} of your mail as spam. The limit is 0.3%.`,
      }),
    ];
  const week = rates.filter((one) => one.day >= dayBefore(day, 6));
  const peak = week.reduce((a, b) => (b.rate > a.rate ? b : a));
  if (rate >= SPAM_GOAL || peak.rate >= SPAM_LIMIT)
    return [
      problem('spam_rate_rising', {
        ...{ ...said, firstStep },
        since: rate >= SPAM_GOAL ? rowSince(rates, (one) => one >= SPAM_GOAL) : peak.day,
        title:
          rate >= SPAM_GOAL
            ? `Gmail users report ${rateInWords(rate)} of your mail as spam. Stay below 0.1%.`
            : `Gmail users reported up to ${rateInWords(peak.rate)} of your mail as spam last week.`,
      }),
    ];
  return [fine(said)];
}

const MUCH_REJECTED = 0.05;
const SOME_REJECTED = 0.01;
const MUCH_DELAYED = 0.1;

function errorFindings(days: GoogleDay[], path: string): Finding[] {
  const rejects = published(days, 'reject_rate');
  const delays = published(days, 'temp_fail_rate');
  const said = { ...SAID, topic: 'rejections' as const, path };
  const [rejected] = rejects;
  const [delayed] = delays;
  const findings: Finding[] = [];
  if (rejected) {
    const { day, rate } = rejected;
    const cause = causeOf(rejected, 'reject');
    const shared = {
      ...said,
      at: day,
      text: `Gmail rejected ${rateInWords(rate)} of the mail on ${dayInWords(day)}${cause.text}.`,
    };
    const isMuch = rate >= MUCH_REJECTED;
    findings.push(
      rate < SOME_REJECTED
        ? fine(shared)
        : problem(isMuch ? 'mail_rejected' : 'some_mail_rejected', {
            ...shared,
            title: `Gmail rejects ${rateInWords(rate)} of your mail.`,
            since: rowSince(rejects, (one) => one >= (isMuch ? MUCH_REJECTED : SOME_REJECTED)),
            firstStep: { text: cause.fix, record: null, path },
          }),
    );
  }
  if (delayed && delayed.rate >= MUCH_DELAYED) {
    const { day, rate } = delayed;
    const cause = causeOf(delayed, 'temp_fail');
    findings.push(
      problem('some_mail_rejected', {
        ...{ ...said, at: day },
        text: `Gmail delayed ${rateInWords(rate)} of the mail on ${dayInWords(day)}${cause.text}.`,
        title: `Gmail delays ${rateInWords(rate)} of your mail.`,
        since: rowSince(delays, (one) => one >= MUCH_DELAYED),
        firstStep: { text: cause.fix, record: null, path },
      }),
    );
  }
  return findings;
}

/** The most frequent reason of a day. */
function causeOf({ errors }: Pick<GoogleDay, 'errors'>, type: 'reject' | 'temp_fail') {
  const size = (one: { rate: number | null; count: number | null }) => one.rate ?? one.count ?? 0;
  const [most] = (errors ?? [])
    .filter((one) => one.type === type && size(one) > 0)
    .toSorted((a, b) => size(b) - size(a));
  const { name, fix } = explainError(type, most?.reason ?? 'other');
  return { text: most && name ? `, mostly because of ${name}` : '', fix };
}

const AUTHENTICATION = [
  { metric: 'spf_rate', topic: 'spf', name: 'SPF' },
  { metric: 'dkim_rate', topic: 'dkim', name: 'DKIM' },
  { metric: 'dmarc_rate', topic: 'dmarc', name: 'DMARC' },
  { metric: 'tls_rate', topic: 'tls', name: 'TLS' },
] as const satisfies { metric: Metric; topic: Topic; name: string }[];
const WEAK_RATE = 0.95;

function authenticationFindings(days: GoogleDay[], path: string): Finding[] {
  return AUTHENTICATION.flatMap(({ metric, topic, name }) => {
    const rates = published(days, metric);
    const [latest] = rates;
    if (!latest) return [];
    const { day, rate } = latest;
    const what = topic === 'tls' ? 'arrived with TLS' : `passed ${name}`;
    const said = {
      ...{ ...SAID, topic, path, at: day },
      text: `${rateInWords(rate)} of the mail to Gmail ${what} on ${dayInWords(day)}.`,
    };
    if (rate >= WEAK_RATE) return [fine(said)];
    return [
      problem(topic === 'tls' ? 'setup_weak' : 'authentication_weak', {
        ...said,
        title: `Only ${rateInWords(rate)} of your mail to Gmail ${what.replace('arrived', 'arrives').replace('passed', 'passes')}.`,
        since: rowSince(rates, (one) => one < WEAK_RATE),
      }),
    ];
  });
}

const TOPIC_OF: Record<string, Topic> = {
  SPF: 'spf',
  DKIM: 'dkim',
  SPF_AND_DKIM: 'dkim',
  DMARC_POLICY: 'dmarc_policy',
  DMARC_ALIGNMENT: 'dmarc',
  DNS_RECORDS: 'reverse_dns',
  ENCRYPTION: 'tls',
  USER_REPORTED_SPAM_RATE: 'spam_reports',
  ONE_CLICK_UNSUBSCRIBE: 'unsubscribe',
  HONOR_UNSUBSCRIBE: 'unsubscribe',
};

function requirementFinding(row: ReceiverRequirementRow, path: string): Finding[] {
  const { requirement, status, reason, since, previous, checked_at } = row;
  const name = requirementName(requirement);
  const said = {
    ...SAID,
    topic: Object.hasOwn(TOPIC_OF, requirement) ? TOPIC_OF[requirement]! : ('content' as const),
    ...{ path, at: checked_at },
  };
  if (status === 'COMPLIANT') return [fine({ ...said, text: `Google: requirement met: ${name}.` })];
  if (status !== 'NEEDS_WORK')
    return [notKnown({ ...said, text: `Google says “${status}” about ${name}.` })];
  return [
    problem('requirement_unmet', {
      ...said,
      text: reason ? `Google: ${name} needs work: ${reason}` : `Google: ${name} needs work.`,
      title: `Google says that ${name} needs work.`,
      // The first answer says nothing about when it began.
      since: previous === null ? null : since,
    }),
  ];
}
