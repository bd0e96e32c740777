/** What a summary and a scheduled report tell: the answer of the API, the e-mail and the PDF show the same. */

import type { Grade } from '../analysis/result.ts';
import { gradeOf, wholeScore } from '../analysis/score.ts';
import { isoTime } from '../lib/clock.ts';
import type { Bucket, Chart } from './charts.ts';
import { cut } from './plain-text.ts';
import { fullHourFrom, instantIn, isMidnight, zoned } from './times.ts';

/** What some tests have come to, and how much that rests on. Scores are 0–100; rates are 0–1. */
interface Means {
  /** How many of the tests have a score; with 0, `avg_score` is 0 and tells nothing. */
  scored: number;
  avg_score: number;
  inbox_rate: number;
  /** How many samples `inbox_rate` rests on; with 0 it is 0 and tells nothing. */
  placement_samples: number;
}

type Authentication = Record<'spf' | 'dkim' | 'dmarc', number>;

/** The tests of a period, counted. Times are ISO 8601. */
export interface Summary extends Means {
  /** Tests count that were completed from here … */
  from: string;
  /** … until here. */
  to: string;
  total_tests: number;
  grades: Record<Grade, number>;
  /** What passed out of what is known; 0 where nothing is. */
  auth_rates: Authentication;
  /** How many tests that is known of. */
  auth_samples: Authentication;
  top_issues: { check: string; issue: string; count: number }[];
  /** The period before. */
  previous: Means & { total_tests: number };
  /** The period in slices, oldest first. */
  trend: (Means & { from: string; tests: number })[];
}

/** What a report by e-mail tells. */
export interface ScheduledReport {
  /** Of the schedule. */
  name: string;
  frequency: 'daily' | 'weekly' | 'monthly';
  /** In which its times are written: an IANA name. */
  timezone: string;
  sections: ('summary' | 'trends' | 'alerts')[];
  /** Always there, for the subject and the totals. */
  summary: Summary;
  /** Worst first, at most 20. */
  domains: {
    name: string;
    health: 'healthy' | 'warning' | 'critical' | 'unknown';
    score: number | null;
  }[];
  domainsLeftOut: number;
  /** Open ones first, at most 20; times are ISO 8601. */
  incidents: {
    rule: string;
    subject: string;
    /** In words: "the score is too low". */
    condition: string;
    opened_at: string;
    resolved_at: string | null;
  }[];
  incidentsLeftOut: number;
  appUrl: string;
}

// What a summary says in words: the e-mail of a report and its PDF say it alike.

type Frequency = ScheduledReport['frequency'];

const BEFORE: Record<Frequency, string> = {
  daily: 'the day before',
  weekly: 'the week before',
  monthly: 'the month before',
};

/** `last week`; a day counts as yesterday only where it began and ended at midnight. */
function periodName({ frequency, timezone, summary: { from, to } }: ScheduledReport): string {
  if (frequency !== 'daily') return frequency === 'weekly' ? 'last week' : 'last month';
  if (isMidnight(from, timezone) && isMidnight(to, timezone)) return 'yesterday';
  // One more or less where the clocks are changed.
  return `in the last ${Math.round((Date.parse(to) - Date.parse(from)) / 3_600_000)} hours`;
}

/** `Deliverability last week`. */
export const titleOf = (report: ScheduledReport): string => `Deliverability ${periodName(report)}`;

/** `Mon 16 Nov 2026, 08:00 to Mon 23 Nov 2026, 08:00 (Europe/Berlin)`. */
export function periodInWords({ timezone, summary: { from, to } }: ScheduledReport): string {
  return `${instantIn(from, timezone)} to ${instantIn(to, timezone)} (${timezone})`;
}

/** The mean, as scores are shown: rounded down, so that its grade is that of the number. Null without a score. */
export function averageOf({ scored, avg_score }: Pick<Summary, 'scored' | 'avg_score'>): {
  score: number;
  grade: Grade;
} | null {
  if (scored === 0) return null;
  const score = wholeScore(avg_score);
  return { score, grade: gradeOf(score) };
}

/** Of the figures that are shown, so that they add up; null where there is nothing to compare. */
function scoreChange(summary: Summary): number | null {
  const [now, then] = [averageOf(summary), averageOf(summary.previous)];
  return now && then && now.score - then.score;
}

/** The news in a line: `Deliverability last week: 87 (+4), 2 domains need attention`. */
export function headlineOf(report: ScheduledReport): string {
  const average = averageOf(report.summary);
  const change = scoreChange(report.summary);
  const sign =
    change === null ? '' : ` (${change > 0 ? '+' : ''}${change === 0 ? 'unchanged' : change})`;
  const none = report.summary.total_tests === 0 ? 'no tests' : 'no score';
  const score = average ? `${average.score}${sign}` : none;
  const alarm = report.sections.includes('alerts') ? alarmOf(report) : null;
  return `${titleOf(report)}: ${[score, ...(alarm ? [alarm] : [])].join(', ')}`;
}

/** `2 domains need attention`, or how many incidents are open; null where all is well. */
export function alarmOf(report: ScheduledReport): string | null {
  const { count, more } = attentionOf(report);
  if (count > 0)
    return `${count}${more ? ' or more' : ''} ${count === 1 && !more ? 'domain needs' : 'domains need'} attention`;
  const open = report.incidents.filter(({ resolved_at }) => resolved_at === null).length;
  if (open === 0) return null;
  const all = open === report.incidents.length && report.incidentsLeftOut > 0;
  return `${open}${all ? ' or more' : ''} ${open === 1 && !all ? 'alert is' : 'alerts are'} open`;
}

const needsAttention = ({ health }: ScheduledReport['domains'][number]): boolean =>
  health === 'warning' || health === 'critical';

/** How many domains need attention; `more` where others may that were left out. */
function attentionOf({ domains, domainsLeftOut }: ScheduledReport) {
  const count = domains.filter(needsAttention).length;
  return { count, more: domainsLeftOut > 0 && count === domains.length };
}

/** `4 points up on the week before (83).` */
export function scoreComparison({ summary, frequency }: ScheduledReport): string {
  const [now, then] = [averageOf(summary), averageOf(summary.previous)];
  if (summary.previous.total_tests === 0) return `There were no tests ${BEFORE[frequency]}.`;
  if (then === null) return `There was no score ${BEFORE[frequency]}.`;
  if (now === null) return `It was ${then.score} ${BEFORE[frequency]}.`;
  const change = now.score - then.score;
  if (change === 0) return `As ${BEFORE[frequency]}.`;
  const points = Math.abs(change) === 1 ? 'point' : 'points';
  return `${Math.abs(change)} ${points} ${change > 0 ? 'up on' : 'down from'} ${BEFORE[frequency]} (${then.score}).`;
}

/** `Average of 42 tests, 36 the week before.`; where some have no score, of how many it is. */
export function testsInWords({ summary, frequency }: ScheduledReport): string {
  const { total_tests, scored, previous } = summary;
  const before = `${countOf(previous.total_tests)} ${BEFORE[frequency]}`;
  if (scored === 0) return `${countOf(total_tests, 'test')}, ${before}.`;
  const those = scored < total_tests ? `${countOf(scored)} of ` : '';
  return `Average of ${those}${countOf(total_tests, 'test')}, ${before}.`;
}

/** A share that is worth a figure of its own. */
interface Rate {
  label: string;
  /** null where it is not known. */
  share: string | null;
  /** Below the share: `of 42 tests passed`. */
  of: string;
  /** What was counted, by itself. */
  counted: string;
}

export const NOT_KNOWN = 'not known';

/** That of the inbox only where there are samples. */
export function ratesOf(summary: Summary): Rate[] {
  const { auth_rates, auth_samples, placement_samples, inbox_rate } = summary;
  const authentication = (['spf', 'dkim', 'dmarc'] as const).map((name): Rate => {
    const label = name.toUpperCase();
    const tests = countOf(auth_samples[name], 'test');
    const counted = `${tests} that could tell`;
    if (auth_samples[name] === 0) return { label, share: null, of: NOT_KNOWN, counted };
    return { label, share: percent(auth_rates[name]), of: `of ${tests} passed`, counted };
  });
  if (placement_samples === 0) return authentication;
  const samples = countOf(placement_samples, 'sample');
  const inbox = { label: 'Inbox', share: percent(inbox_rate), of: `of ${samples}` };
  return [...authentication, { ...inbox, counted: samples }];
}

/** Rounded down: 100 % is all of them. Less than one in a hundred is not none. */
export function percent(share: number): string {
  if (share <= 0) return 'none';
  return share < 0.01 ? '< 1 %' : `${Math.floor(Math.min(1, share) * 100 + 1e-9)} %`;
}

const COUNT = new Intl.NumberFormat('en-GB');

/** `1,204 tests`, `1 test`. */
export function countOf(count: number, what?: string): string {
  const number = COUNT.format(count);
  return what ? `${number} ${what}${count === 1 ? '' : 's'}` : number;
}

/** `A 20, B 12`: those that some test got. */
export function gradesInWords({ grades }: Summary): string {
  const given = Object.entries(grades).filter(([, count]) => count > 0);
  return given.map(([grade, count]) => `${grade} ${countOf(count)}`).join(', ');
}

/** Of a name that others gave: more would fill the page. */
export const NAME_LENGTH = 120;

/** `shop.example: SPF, DKIM or DMARC fails`. */
export function incidentTitle({
  subject,
  condition,
}: ScheduledReport['incidents'][number]): string {
  return `${cut(subject, NAME_LENGTH)}: ${cut(condition, NAME_LENGTH)}`;
}

/** `Rule “Score of the shop”: open since Fri 20 Nov 2026, 14:00`. */
export function incidentTimes(
  { rule, opened_at, resolved_at }: ScheduledReport['incidents'][number],
  timezone: string,
): string {
  const opened = instantIn(opened_at, timezone);
  const times = resolved_at
    ? `${opened}, over since ${instantIn(resolved_at, timezone)}`
    : `open since ${opened}`;
  return `Rule “${cut(rule, NAME_LENGTH)}”: ${times}`;
}

export const HEALTH = {
  healthy: { word: 'Healthy', state: 'pass', icon: '✓' },
  warning: { word: 'Warning', state: 'warn', icon: '!' },
  critical: { word: 'Critical', state: 'fail', icon: '✗' },
  unknown: { word: 'Not known', state: 'unknown', icon: '?' },
} as const;

const NOTHING_COUNTED = 'No test was completed in this time, so there is no score to tell.';
const NO_SCORE = 'There is no score: no test of this time has one.';

/** Why there is no mean. */
export const withoutScore = ({ total_tests }: Summary): string =>
  total_tests === 0 ? NOTHING_COUNTED : NO_SCORE;

/** How the team's domains are, in a sentence. */
export function domainsInWords(report: ScheduledReport): string {
  const { domains, domainsLeftOut } = report;
  if (domains.length === 0) return 'No domain is watched.';
  const { count, more } = attentionOf(report);
  const all = domains.length + domainsLeftOut;
  if (count > 0)
    return `Of ${countOf(all, 'domain')}, ${countOf(count)}${more ? ' or more' : ''} ${count === 1 && !more ? 'needs' : 'need'} attention.`;
  const healthy = domains.every(({ health }) => health === 'healthy') && domainsLeftOut === 0;
  if (!healthy) return `Of ${countOf(all, 'domain')}, none is known to need attention.`;
  return all === 1 ? 'Your domain is healthy.' : `All ${countOf(all)} domains are healthy.`;
}

// The charts of a summary: how scores and numbers of tests went, slice by slice.

export interface TrendChart extends Chart {
  id: 'score' | 'tests';
  /** What a bar stands for. */
  by: 'hour' | 'day';
}

type Slice = Summary['trend'][number];

/** With the same buckets each; none where there are no slices, and none of scores where there is no score. */
export function trendCharts({ summary, timezone }: ScheduledReport): TrendChart[] {
  const { trend } = summary;
  if (trend.length === 0) return [];
  const by = sliceName(trend);
  const buckets = (read: (slice: Slice) => number | null): Bucket[] =>
    trend.map((slice) => ({
      ...namesOf(slice.from, timezone, by),
      value: read(slice),
      none: slice.tests === 0 ? 'no tests' : 'no score',
    }));
  const tests: TrendChart = {
    id: 'tests',
    by,
    title: `Tests by ${by}`,
    buckets: buckets((slice) => slice.tests),
    top: Math.max(1, ...trend.map((slice) => slice.tests)),
    format: (value) => countOf(Math.round(value)),
  };
  if (summary.scored === 0) return [tests];
  const score: TrendChart = {
    id: 'score',
    by,
    title: `Average score by ${by}`,
    buckets: buckets(({ scored, avg_score }) => (scored === 0 ? null : wholeScore(avg_score))),
    top: 100,
    format: String,
  };
  return [score, tests];
}

const HOURS_MS = 3 * 3_600_000;

function sliceName(trend: { from: string }[]): 'hour' | 'day' {
  const [first, second] = trend;
  const isHour = second && Date.parse(second.from) - Date.parse(first!.from) < HOURS_MS;
  return isHour ? 'hour' : 'day';
}

function namesOf(from: string, timezone: string, by: 'hour' | 'day') {
  if (by === 'hour') {
    const { weekday, clock } = zoned(from, timezone);
    return { label: clock, name: `${weekday} ${clock}` };
  }
  const { weekday, day, month } = dayOf(from, timezone);
  return { label: `${day} ${month}`, name: `${weekday} ${day} ${month}` };
}

const HALF_A_DAY_MS = 12 * 3_600_000;

/**
 * The day of the calendar that a slice mostly covers. It follows from the full hour at which it begins,
 * so that no change of the clocks names two slices alike.
 */
function dayOf(from: string, timezone: string) {
  const begin = fullHourFrom(from, timezone);
  const isLate = Number(begin.hour) > 12;
  return isLate ? fullHourFrom(isoTime(Date.parse(from) + HALF_A_DAY_MS), timezone) : begin;
}

/** Where the days of the chart are not those of the calendar, when they begin; null too where they do not all begin alike. */
export function daysBeginAt({ summary: { trend }, timezone }: ScheduledReport): string | null {
  if (trend.length === 0 || sliceName(trend) === 'hour') return null;
  const begins = new Set(
    trend.map(({ from }) => {
      const { clock, day } = zoned(from, timezone);
      return day === dayOf(from, timezone).day ? clock : `${clock} the day before`;
    }),
  );
  const [begin] = begins;
  return begins.size > 1 || begin === '00:00' ? null : `Each day begins at ${begin}.`;
}
