/** Summaries and scheduled reports. The API response, the email and the PDF all show the same data. */

import { gradeOf } from '../analysis/grade.ts';
import type { Grade } from '../analysis/result.ts';
import { wholeScore } from '../analysis/score.ts';
import type { ErrorRate, SPAM_RATE } from '../figures/gmail.ts';
import type { MailShares } from '../figures/mail-shares.ts';
import { INBOX_RATE } from '../figures/placement.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { formatCount, formatPercent } from '../lib/format/numbers.ts';
import { truncate } from '../lib/format/plain-text.ts';
import { dateIn, instantIn, zonedParts } from '../lib/format/times.ts';
import type { Brand } from './brand.ts';
import { type Bucket, type Chart, roundUp } from './charts.ts';
import { MIN_PLACEMENT_SAMPLES, type ProviderPlacement, TOO_FEW } from './placement-rates.ts';

/** Means over some tests, with their sample sizes. Scores are 0–100; rates are 0–1. */
interface Means {
  /** How many of the tests have a score; with 0, `avg_score` is 0 and has no meaning. */
  scored: number;
  avg_score: number;
  [INBOX_RATE.name]: number;
  /** How many samples the inbox rate is based on; with 0 it is 0 and has no meaning. */
  placement_samples: number;
}

type Authentication = Record<'spf' | 'dkim' | 'dmarc', number>;

/** Figures over the tests that were completed in a period. Times are ISO 8601. */
export interface Summary extends Means {
  from: string;
  to: string;
  total_tests: number;
  grades: Record<Grade, number>;
  /** The share of tests with a result that passed; 0 without results. */
  auth_rates: Authentication;
  /** How many tests have a result. */
  auth_samples: Authentication;
  top_issues: { check: string; issue: string; count: number }[];
  /** The previous period of the same length. */
  previous: Means & { total_tests: number };
  /** The period in slices, oldest first. */
  trend: (Means & { from: string; tests: number })[];
  /** How many seed mailboxes are configured, and the providers with samples, by ID. */
  placement: { seeds: number; by_provider: ProviderPlacement[] };
  /** null if receivers reported nothing, and in test mode. */
  feedback: FeedbackFigures | null;
  /** null if Google and Microsoft published nothing, and in test mode. */
  receivers: ReceiverFigures | null;
}

/** A sender with its messages in the period. */
export interface FigureSource {
  id: string;
  domain_id: string;
  /** The name of the domain in From. */
  domain: string;
  name: string;
  messages: number;
  passed: number;
}

/** Sources, those with the most failing or new messages first. */
export interface FigureSources {
  total: number;
  /** The first of them. */
  sources: FigureSource[];
}

/** Plain data, which also goes to render threads. */
export interface FeedbackFigures {
  /** Days in UTC, both included. */
  from: string;
  to: string;
  /** Who sent DMARC reports. */
  reporters: number;
  messages: number;
  passed: number;
  /** 0–1; null without messages. */
  pass_rate: number | null;
  shares: MailShares;
  /** Messages of senders that never pass and are not known: how many, and how many of them the policy stopped. */
  spoofed: { messages: number; stopped: number };
  failing_sources: FigureSources;
  new_sources: FigureSources;
  /** null without TLS reports. */
  tls: { reporters: number; sessions: number; failed: number } | null;
  /** null without complaints. */
  complaints: { providers: number; total: number } | null;
}

/** A rate from 0 to 1 on a day. */
export interface DayRate {
  day: string;
  rate: number;
}

/** The mail that Gmail rejected or deferred, on the day with the highest rate. */
export interface DeliveryErrors extends DayRate {
  /** The most frequent reason of that day, as Google names it; null if none was published. */
  reason: string | null;
}

/** What Google publishes about a domain in the period. Errors: null if none were published, or if there were none on each day. */
export interface GmailFigures extends Record<ErrorRate['ofPeriod'], DeliveryErrors | null> {
  domain_id: string;
  domain: string;
  /** null without a spam rate; `days` have one. */
  [SPAM_RATE.name]: { days: number; latest: DayRate; highest: DayRate } | null;
  /** null if they were not read in the period or later. */
  requirements: {
    checked_at: string;
    /** `since`: a time; null if Google has said nothing else so far. */
    needs_work: { requirement: string; name: string; since: string | null }[];
  } | null;
}

/** What Microsoft publishes about addresses. */
export interface OutlookFigures {
  /** Days and addresses with data. */
  days: number;
  addresses: number;
  /** Addresses whose mail is over 90% spam to Outlook, on `red_days` of `days`. Most of these days first. */
  spam: { total: number; addresses: { address: string; days: number; red_days: number }[] };
  /** null if this was not read in the period or later. A range is written `first-last`. */
  blocked: {
    checked_at: string;
    total: number;
    /** `since`: when it was first seen. */
    addresses: { address: string; since: string; details: string }[];
  } | null;
}

/** What Google and Microsoft publish. Plain data, which also goes to render threads. */
export interface ReceiverFigures {
  /** Days, both included. */
  from: string;
  to: string;
  /** Worst first. */
  gmail: { total: number; domains: GmailFigures[] };
  /** null without data about addresses. */
  outlook: OutlookFigures | null;
}

/** The content of a scheduled report. */
export interface ScheduledReport {
  /** Name of the schedule. */
  name: string;
  frequency: 'daily' | 'weekly' | 'monthly';
  /** The IANA time zone in which times are shown. */
  timezone: string;
  sections: ('summary' | 'trends' | 'alerts')[];
  /** Required even without the section `summary`: the subject line and the totals use it. */
  summary: Summary;
  /** Worst first, at most 20. */
  domains: {
    name: string;
    /** The worst of what any source says, such as tests or receivers. */
    health: 'healthy' | 'warning' | 'critical' | 'unknown';
    /** Of the checks of its DNS. */
    score: number | null;
    /** What is wrong, in one sentence. */
    headline: string;
  }[];
  omittedDomainCount: number;
  /** Null or absent for ours. */
  brand?: Brand | null;
  /** The client who gets the report, if it is about the domains of one. Clients have no account here. */
  client?: string | null;
  /** Open ones first, at most 20; times are ISO 8601. */
  incidents: {
    /** The name of the rule; null if recipients do not see it. */
    rule: string | null;
    subject: string;
    /** As text: "the score is too low". */
    condition: string;
    opened_at: string;
    resolved_at: string | null;
  }[];
  omittedIncidentCount: number;
  appUrl: string;
}

// Sentences that the email and the PDF of a scheduled report share.

type Frequency = ScheduledReport['frequency'];

const PERIOD: Record<Frequency, string> = {
  daily: 'yesterday',
  weekly: 'last week',
  monthly: 'last month',
};

const PREVIOUS_PERIOD: Record<Frequency, string> = {
  daily: 'the day before',
  weekly: 'the week before',
  monthly: 'the month before',
};

/** `Deliverability last week`. */
export const titleOf = ({ frequency }: ScheduledReport): string =>
  `Deliverability ${PERIOD[frequency]}`;

/** `Mon 16 Nov 2026 to Sun 22 Nov 2026 (Europe/Berlin)`: the first and the last day. */
export function periodInWords({ timezone, summary: { from, to } }: ScheduledReport): string {
  const last = isoTime(Date.parse(to) - 1);
  const days = [...new Set([dateIn(from, timezone), dateIn(last, timezone)])];
  return `${days.join(' to ')} (${timezone})`;
}

/** The mean score, rounded down so that its grade matches the number; null without scores. */
export function averageOf({ scored, avg_score }: Pick<Summary, 'scored' | 'avg_score'>): {
  score: number;
  grade: Grade;
} | null {
  if (scored === 0) return null;
  const score = wholeScore(avg_score);
  return { score, grade: gradeOf(score) };
}

/** The difference of the rounded means, so that the displayed figures add up; null if either is missing. */
function scoreChange(summary: Summary): number | null {
  const [current, previous] = [averageOf(summary), averageOf(summary.previous)];
  return current && previous && current.score - previous.score;
}

/** The subject line: `Deliverability last week: 87 (+4), 2 domains need attention`. */
export function headlineOf(report: ScheduledReport): string {
  const average = averageOf(report.summary);
  const change = scoreChange(report.summary);
  const comparison =
    change === null ? '' : ` (${change > 0 ? '+' : ''}${change === 0 ? 'unchanged' : change})`;
  const noScore = report.summary.total_tests === 0 ? 'no tests' : 'no score';
  const score = average ? `${average.score}${comparison}` : noScore;
  const attention = report.sections.includes('alerts') ? attentionText(report) : null;
  return `${titleOf(report)}: ${[score, ...(attention ? [attention] : [])].join(', ')}`;
}

/** `2 domains need attention`, else `1 open incident`; null without either. */
export function attentionText(report: ScheduledReport): string | null {
  const { count, orMore } = attentionOf(report);
  if (count > 0)
    return `${count}${orMore ? ' or more' : ''} ${count === 1 && !orMore ? 'domain needs' : 'domains need'} attention`;
  const open = report.incidents.filter(({ resolved_at }) => resolved_at === null).length;
  if (open === 0) return null;
  const mayBeMore = open === report.incidents.length && report.omittedIncidentCount > 0;
  return `${open}${mayBeMore ? ' or more' : ''} open ${open === 1 && !mayBeMore ? 'incident' : 'incidents'}`;
}

const needsAttention = ({ health }: ScheduledReport['domains'][number]): boolean =>
  health === 'warning' || health === 'critical';

/** How many of the listed domains need attention; `orMore` if unlisted ones may need it too. */
function attentionOf({ domains, omittedDomainCount }: ScheduledReport) {
  const count = domains.filter(needsAttention).length;
  return { count, orMore: omittedDomainCount > 0 && count > 0 };
}

/** `Up 4 points from the week before (83).` */
export function scoreComparison({ summary, frequency }: ScheduledReport): string {
  const [current, previous] = [averageOf(summary), averageOf(summary.previous)];
  const period = PREVIOUS_PERIOD[frequency];
  if (summary.previous.total_tests === 0) return `No tests ${period}.`;
  if (previous === null) return `No score ${period}.`;
  if (current === null) return `The score was ${previous.score} ${period}.`;
  const change = current.score - previous.score;
  if (change === 0) return `Unchanged from ${period}.`;
  const points = Math.abs(change) === 1 ? 'point' : 'points';
  return `${change > 0 ? 'Up' : 'Down'} ${Math.abs(change)} ${points} from ${period} (${previous.score}).`;
}

/**
 * `Average of 42 tests (36 the week before).`, or `Average of 40 of 42 tests` if some have no score.
 * `scoreComparison` says when there were none before.
 */
export function testsInWords({ summary, frequency }: ScheduledReport): string {
  const { total_tests, scored, previous } = summary;
  const before = previous.total_tests;
  const previousTests = before > 0 ? ` (${formatCount(before)} ${PREVIOUS_PERIOD[frequency]})` : '';
  if (scored === 0) return `${formatCount(total_tests, 'test')}${previousTests}.`;
  const scoredOf = scored < total_tests ? `${formatCount(scored)} of ` : '';
  return `Average of ${scoredOf}${formatCount(total_tests, 'test')}${previousTests}.`;
}

interface Rate {
  label: string;
  /** null if unknown. */
  share: string | null;
  /** Below the share: `of 42 tests passed`. */
  basis: string;
  /** The sample size alone. */
  sampleSize: string;
}

export const UNKNOWN = 'unknown';

/** SPF, DKIM and DMARC; the inbox rate only with samples. */
export function ratesOf(summary: Summary): Rate[] {
  const { auth_rates, auth_samples, placement_samples } = summary;
  const authentication = (['spf', 'dkim', 'dmarc'] as const).map((name): Rate => {
    const label = name.toUpperCase();
    const tests = formatCount(auth_samples[name], 'test');
    const sampleSize = `${tests} with a result`;
    if (auth_samples[name] === 0) return { label, share: null, basis: UNKNOWN, sampleSize };
    const share = formatPercent(auth_rates[name]);
    return { label, share, basis: `of ${tests} passed`, sampleSize };
  });
  if (placement_samples === 0) return authentication;
  const samples = formatCount(placement_samples, 'sample');
  const isEnough = hasInboxRate(summary);
  const inbox = {
    label: 'Inbox',
    share: isEnough ? formatPercent(summary[INBOX_RATE.name]) : null,
    basis: isEnough ? `of ${samples}` : `${TOO_FEW}: ${samplesInWords(summary)}`,
  };
  return [...authentication, { ...inbox, sampleSize: samples }];
}

/** Whether the overall inbox rate is based on enough seed mailboxes and samples. */
export const hasInboxRate = ({
  placement,
  placement_samples,
}: Pick<Summary, 'placement' | 'placement_samples'>): boolean =>
  Math.min(placement.seeds, placement_samples) >= MIN_PLACEMENT_SAMPLES;

/** `12 samples of 2 seed mailboxes`. */
export const samplesInWords = ({
  placement: { seeds },
  placement_samples,
}: Pick<Summary, 'placement' | 'placement_samples'>): string =>
  `${formatCount(placement_samples, 'sample')} of ${formatCount(seeds)} seed ${seeds === 1 ? 'mailbox' : 'mailboxes'}`;

/** `A 20, B 12`: the grades that occur. */
export function gradesInWords({ grades }: Summary): string {
  const gradeCounts = Object.entries(grades).filter(([, count]) => count > 0);
  return gradeCounts.map(([grade, count]) => `${grade} ${formatCount(count)}`).join(', ');
}

/** Longer user-defined names are truncated. */
export const MAX_NAME_LENGTH = 120;

/** `Every Monday`, or `Every Monday · acme` for a client. */
export const nameOf = ({ name, client }: ScheduledReport): string =>
  [name, ...(client ? [client] : [])].map((part) => truncate(part, MAX_NAME_LENGTH)).join(' · ');

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `shop.example: SPF, DKIM or DMARC fails`. */
export function incidentTitle({
  subject,
  condition,
}: ScheduledReport['incidents'][number]): string {
  return `${truncate(subject, MAX_NAME_LENGTH)}: ${truncate(condition, MAX_NAME_LENGTH)}`;
}

/** `Alert “Score of the shop”: open since Fri 20 Nov 2026, 14:00`. */
export function incidentTimes(
  { rule, opened_at, resolved_at }: ScheduledReport['incidents'][number],
  timezone: string,
): string {
  const opened = instantIn(opened_at, timezone);
  const times = resolved_at
    ? `opened ${opened}, resolved ${instantIn(resolved_at, timezone)}`
    : `open since ${opened}`;
  return rule === null
    ? capitalized(times)
    : `Alert “${truncate(rule, MAX_NAME_LENGTH)}”: ${times}`;
}

export const HEALTH = {
  healthy: { word: 'Healthy', state: 'pass', icon: '✓' },
  warning: { word: 'Warning', state: 'warn', icon: '!' },
  critical: { word: 'Critical', state: 'fail', icon: '✗' },
  unknown: { word: 'Unknown', state: 'unknown', icon: '?' },
} as const;

/** Why there is no mean score. */
export const noScoreReason = ({ total_tests }: Summary): string =>
  total_tests === 0
    ? 'No score: no tests were completed in this period.'
    : 'No score: no test in this period has a score.';

/** The health of the domains in one sentence. */
export function domainsInWords(report: ScheduledReport): string {
  const { domains, omittedDomainCount } = report;
  if (domains.length === 0) return 'No domains to report.';
  const { count, orMore } = attentionOf(report);
  const total = domains.length + omittedDomainCount;
  const isHealthy = domains.every(({ health }) => health === 'healthy') && omittedDomainCount === 0;
  if (total === 1) return SINGLE_DOMAIN[domains[0]!.health];
  if (count > 0)
    return `${formatCount(count)}${orMore ? ' or more' : ''} of ${formatCount(total, 'domain')} ${count === 1 && !orMore ? 'needs' : 'need'} attention.`;
  return isHealthy
    ? `All ${formatCount(total)} domains are healthy.`
    : `None of the ${formatCount(total, 'domain')} is known to need attention.`;
}

const SINGLE_DOMAIN: Record<ScheduledReport['domains'][number]['health'], string> = {
  healthy: 'Your domain is healthy.',
  warning: 'Your domain needs attention.',
  critical: 'Your domain needs attention.',
  unknown: 'The health of your domain is unknown.',
};

// The charts of a summary: mean scores and numbers of tests over time.

export interface TrendChart extends Chart {
  id: 'score' | 'tests';
  /** The time that a bar covers. */
  interval: 'hour' | 'day';
}

type Slice = Summary['trend'][number];

/** Both charts have the same buckets. Without slices there is no chart, without scores no score chart. */
export function trendCharts({
  summary,
  timezone,
}: Pick<ScheduledReport, 'timezone'> & {
  summary: Pick<Summary, 'trend' | 'scored'>;
}): TrendChart[] {
  const { trend } = summary;
  if (trend.length === 0) return [];
  const by = sliceName(trend);
  const buckets = (read: (slice: Slice) => number | null): Bucket[] =>
    trend.map((slice) => ({
      ...namesOf(slice.from, timezone, by),
      value: read(slice),
      emptyText: slice.tests === 0 ? 'no tests' : 'no score',
    }));
  const tests: TrendChart = {
    id: 'tests',
    interval: by,
    title: `Tests by ${by}`,
    buckets: buckets((slice) => slice.tests),
    max: roundUp(Math.max(1, ...trend.map((slice) => slice.tests))),
    format: (value) => formatCount(Math.round(value)),
  };
  if (summary.scored === 0) return [tests];
  const score: TrendChart = {
    id: 'score',
    interval: by,
    title: `Average score by ${by}`,
    buckets: buckets(({ scored, avg_score }) => (scored === 0 ? null : wholeScore(avg_score))),
    max: 100,
    format: String,
  };
  return [score, tests];
}

/** Shorter slices are hours, longer ones days. */
const MAX_HOUR_SLICE_MS = 3 * HOUR_MS;

function sliceName(trend: { from: string }[]): 'hour' | 'day' {
  const [first, second] = trend;
  const isHour = second && Date.parse(second.from) - Date.parse(first!.from) < MAX_HOUR_SLICE_MS;
  return isHour ? 'hour' : 'day';
}

function namesOf(from: string, timezone: string, by: 'hour' | 'day') {
  if (by === 'hour') {
    const { weekday, clock } = zonedParts(from, timezone);
    return { label: clock, name: `${weekday} ${clock}` };
  }
  const { weekday, day, month } = zonedParts(from, timezone);
  return { label: `${day} ${month}`, name: `${weekday} ${day} ${month}` };
}
