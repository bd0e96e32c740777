/** What receivers report about the mail of a domain: DMARC and TLS reports, complaints and bounces. */

import { type FeedbackState, feedbackOf } from '../domains/feedback/state.ts';
import { mailShares } from '../feedback/mail-shares.ts';
import { messageCounts, trustedRejections } from '../feedback/messages/counts.ts';
import { refusedReports } from '../feedback/refused.ts';
import { isOwnFailing } from '../feedback/sources/kind.ts';
import { type SourceSums, sourcesOf } from '../feedback/sources/queries.ts';
import { setupSteps } from '../feedback/sources/steps.ts';
import { type Days, dayBefore, reporterCount } from '../feedback/sums.ts';
import { failedOf, MIN_FAILING_MESSAGES, STOPPED_TEXT, stoppedOf } from '../figures/dmarc.ts';
import { SPAM_LIMITS } from '../figures/gmail.ts';
import { sharesInWords } from '../figures/mail-shares.ts';
import { isoTime } from '../lib/clock.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { truncate } from '../lib/format/plain-text.ts';
import type { Db, Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { type Finding, fine, notKnown, problem, reportOf, type SourceReport } from './findings.ts';
import type { Reading } from './reading.ts';
import type { FirstStep } from './schema.ts';

/** Two weeks: reports arrive a day or two late, and what was fixed should not count for long. */
const DAYS = 14;

interface FeedbackReading extends Reading, Days {
  path: string;
}

/** The days whose reports count. */
export function recentDays({ clock }: Pick<Reading, 'clock'>): Days {
  const to = isoTime(clock.now()).slice(0, 10);
  return { from: dayBefore(to, DAYS - 1), to };
}

interface Sums {
  messages: number;
  passed: number;
  lastDay: string | null;
}

const REPORTS = 'DMARC reports';

export async function feedbackReport(reading: Reading): Promise<SourceReport> {
  const { db, domain } = reading;
  const path = `/feedback/domains/${domain.id}`;
  const period = { ...reading, path, ...recentDays(reading) };
  const { state } = await feedbackOf(reading, db, domain);
  const sums = await dmarcSums(period);
  const findings = [
    ...(await senderFindings(period, sums)),
    ...(await complaintFindings(period, sums)),
    ...(await bounceFindings(period, sums)),
    ...(await tlsFindings(period)),
    ...(await refusedFindings(period)),
  ];
  const section = { source: 'feedback' as const, path };
  if (sums.messages === 0)
    return reportOf({ ...section, ...withoutReports(state), at: null }, findings);
  const reporters = await reporterCount(db, period);
  return reportOf(
    {
      ...section,
      state: state === 'stopped' || sums.passed === 0 ? 'unknown' : 'pass',
      text:
        state === 'stopped'
          ? 'Reports have stopped: none has arrived for 3 days.'
          : await passedText(period, sums),
      at: sums.lastDay,
      basis: `${formatCount(reporters, 'reporter')}, last ${DAYS} days`,
    },
    findings,
  );
}

/** What others send in the name of the domain fails, which is no problem of its own senders. */
async function passedText(
  { db, domain, from, to }: FeedbackReading,
  { messages, passed }: Sums,
): Promise<string> {
  if (passed === 0) return `None of ${formatCount(messages, 'message')} passed DMARC.`;
  if (passed === messages) return `All of ${formatCount(messages, 'message')} passed DMARC.`;
  const shares = (await mailShares(db, { ids: [domain.id], from, to })).get(domain.id)!;
  return sharesInWords(shares)!;
}

function withoutReports(state: FeedbackState): { state: 'unknown' | 'not_set_up'; text: string } {
  switch (state) {
    case 'not_published':
      return {
        state: 'not_set_up',
        text: 'No reports: your DMARC record does not name the feedback address.',
      };
    case 'waiting':
      return {
        state: 'unknown',
        text: 'Waiting for the first reports. Most receivers send them after 24 to 48 hours.',
      };
    default:
      return { state: 'unknown', text: `No reports about the last ${DAYS} days.` };
  }
}

/** What DMARC reports count. */
export async function dmarcSums({
  db,
  domain,
  from,
  to,
}: Days & { db: Db | Tx; domain: Pick<DomainRow, 'id'> }): Promise<Sums> {
  const row = await db
    .selectFrom('dmarc_days')
    .select(({ fn }) => [fn.sum('messages').as('messages'), fn.sum('passed').as('passed')])
    .select(({ fn }) => fn.max('day').as('lastDay'))
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .where('messages', '>', 0)
    .executeTakeFirstOrThrow();
  const { messages, passed, lastDay } = row;
  return { messages: Number(messages ?? 0), passed: Number(passed ?? 0), lastDay: lastDay ?? null };
}

// Own senders. What others send in the name of the domain is a number, not a problem.

async function senderFindings(period: FeedbackReading, sums: Sums): Promise<Finding[]> {
  if (sums.messages === 0) return [];
  const found = await sourcesOf(period.db, period, { withFailures: true });
  const failing = found.filter(isOwnFailing).toSorted((a, b) => failedOf(b) - failedOf(a));
  if (failing.length > 0)
    return failing.slice(0, MAX_SENDERS).map((one) => failure(one, period, sums));
  const said = {
    source: 'feedback' as const,
    origin: REPORTS,
    topic: 'dmarc' as const,
    path: period.path,
    at: sums.lastDay,
    basis: `${formatCount(sums.messages, 'message')}, last ${DAYS} days`,
  };
  return sums.passed === 0
    ? [
        notKnown({
          ...said,
          text: 'No reported message passed DMARC, so none is known to be yours.',
        }),
      ]
    : [fine({ ...said, text: 'All of your known senders pass DMARC.' })];
}

const MAX_SENDERS = 5;
const MAX_NAME = 40;

/** A sender whose mail receivers stop, one that passed before, or one that was never set up correctly. */
function failure(source: SourceSums, { domain }: FeedbackReading, { lastDay: at }: Sums): Finding {
  const { row, messages } = source;
  const name = truncate(row.label ?? row.name, MAX_NAME);
  const stopped = stoppedOf(source);
  const path = `/feedback/sources/${row.id}`;
  const said = {
    source: 'feedback' as const,
    origin: REPORTS,
    topic: 'dmarc' as const,
    path,
    at,
    text: `${formatCount(failedOf(source))} of ${formatCount(messages, 'message')} from ${name} failed DMARC${stopped > 0 ? `, and receivers ${STOPPED_TEXT} ${formatCount(stopped)}` : ''}.`,
    since: row.failing_since,
    basis: `Last ${DAYS} days`,
    firstStep: stepFor(source, domain.name, path),
  };
  if (stopped >= MIN_FAILING_MESSAGES)
    return problem('own_mail_stopped', {
      ...said,
      title: `Receivers stop your own mail from ${name}: it fails DMARC.`,
    });
  return problem(row.failing_since === null ? 'senders_misconfigured' : 'dmarc_fails', {
    ...said,
    title: `Mail from ${name} fails DMARC.`,
  });
}

function stepFor(source: SourceSums, domain: string, path: string): FirstStep {
  const [step] = setupSteps(source.row, source, domain);
  const text =
    step?.text ??
    'Set up DKIM for this sender with your domain, or send its bounces to your domain and add it to your SPF record.';
  return { text, record: null, path };
}

// Complaints and bounces.

const MIN_COMPLAINTS = 5;

async function complaintFindings(period: FeedbackReading, { messages }: Sums): Promise<Finding[]> {
  const { db, domain, from, to, path } = period;
  const counts = await messageCounts(db, { domains: [domain.id], from, to }, 'complaint provider');
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return [];
  const said = {
    source: 'feedback' as const,
    origin: 'Complaints',
    topic: 'spam_reports' as const,
    text: `Receivers forwarded ${formatCount(total, 'complaint')}.`,
    at: to,
    path: `${path}/complaints`,
    basis:
      messages === 0
        ? `Last ${DAYS} days`
        : `${formatCount(messages, 'message')} in DMARC reports, last ${DAYS} days`,
  };
  // A few complaints, or complaints without a number of messages, say little about the rate.
  if (messages === 0 || (total < MIN_COMPLAINTS && total >= messages * SPAM_LIMITS.warn))
    return [notKnown(said)];
  if (total < messages * SPAM_LIMITS.warn) return [fine(said)];
  const firstStep = {
    text: 'Find the mailing that caused the complaints, and send it only to people who asked for it.',
    record: null,
    path: said.path,
  };
  return total >= messages * SPAM_LIMITS.fail
    ? [
        problem('spam_rate_high', {
          ...said,
          firstStep,
          title: 'Too many recipients report your mail as spam.',
        }),
      ]
    : [
        problem('spam_rate_rising', {
          ...said,
          firstStep,
          title: 'Recipients report some of your mail as spam.',
        }),
      ];
}

const MIN_REJECTED = 10;
const MUCH_REJECTED = 0.05;

async function bounceFindings(period: FeedbackReading, { messages }: Sums): Promise<Finding[]> {
  const { to, path } = period;
  const rejected = await trustedRejections(period.db, period);
  if (rejected < MIN_REJECTED) return [];
  const isMuch = messages > 0 && rejected >= messages * MUCH_REJECTED;
  return [
    problem(isMuch ? 'mail_rejected' : 'some_mail_rejected', {
      source: 'feedback',
      origin: 'Bounces',
      topic: 'rejections',
      at: to,
      text: `Receivers rejected ${formatCount(rejected, 'message')} because of their policy.`,
      title: isMuch ? 'Receivers reject much of your mail.' : 'Receivers reject some of your mail.',
      path: `${path}/bounces`,
      basis: `Last ${DAYS} days`,
      firstStep: {
        text: 'Read what the receivers replied, and fix the most frequent cause first.',
        record: null,
        path: `${path}/bounces`,
      },
    }),
  ];
}

// Mail to the domain.

const MIN_SESSIONS = 10;
const FAILING_SESSIONS = 0.05;

async function tlsFindings({ db, domain, from, to, path }: FeedbackReading): Promise<Finding[]> {
  const row = await db
    .selectFrom('tls_days')
    .select(({ fn }) => [fn.sum('succeeded').as('succeeded'), fn.sum('failed').as('failed')])
    .select(({ fn }) => fn.max('day').as('lastDay'))
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow();
  const failed = Number(row.failed ?? 0);
  const sessions = failed + Number(row.succeeded ?? 0);
  if (sessions === 0) return [];
  const said = {
    source: 'feedback' as const,
    origin: 'TLS reports',
    topic: 'incoming_tls' as const,
    text: `TLS failed in ${formatCount(failed)} of ${formatCount(sessions, 'connection')} to your mail servers.`,
    at: row.lastDay,
    path: `${path}/tls`,
    basis: `Last ${DAYS} days`,
  };
  if (failed <= sessions * FAILING_SESSIONS) return [fine(said)];
  if (failed < MIN_SESSIONS) return [notKnown(said)];
  return [
    problem('setup_weak', {
      ...said,
      title: 'TLS fails when others send mail to this domain.',
    }),
  ];
}

// Refused reports.

async function refusedFindings(reading: FeedbackReading): Promise<Finding[]> {
  const refused = await refusedReports(reading, reading.domain.id);
  return refused.slice(0, MAX_REFUSED).map(({ id, reporter, text, received_at }) =>
    problem('report_refused', {
      source: 'feedback',
      origin: 'Reports',
      topic: 'reports',
      at: received_at,
      text,
      title: `A report from ${reporter} was refused.`,
      path: `/feedback/reports/${id}`,
    }),
  );
}

const MAX_REFUSED = 5;
