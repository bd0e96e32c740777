/** The metrics of the Gmail Postmaster Tools API v2 that are read, and their values. */

import * as v from 'valibot';
import { GMAIL_FIGURES, type LoopAggregation } from '../../figures/gmail.ts';
import { isDay } from '../../lib/clock.ts';

/** A standard metric, or the part of one that a filter selects. */
export interface Metric {
  /** Unique in a query; its values have this name. */
  name: string;
  standardMetric: string;
  filter?: string;
}

const metric = (name: string, standardMetric: string, filter?: string): Metric => ({
  name,
  standardMetric,
  ...(filter === undefined ? {} : { filter }),
});

/** The reasons that Google distinguishes. */
const ERROR_REASONS = {
  reject: [
    'bad_attachment',
    'bad_or_missing_ptr_record',
    'ip_in_rbls',
    'low_domain_reputation',
    'low_ip_reputation',
    'spammy_content',
    'stamp_policy_error',
    'other',
  ],
  temp_fail: ['anomalous_traffic_pattern', 'other'],
} as const;
export type ErrorType = keyof typeof ERROR_REASONS;

export interface ErrorMetrics {
  type: ErrorType;
  reason: string;
  rate: Metric;
  count: Metric;
}

const errorMetrics = (type: ErrorType, reason: string): ErrorMetrics => {
  const filter = `error_type = "${type}" AND error_reason = "${reason}"`;
  return {
    type,
    reason,
    rate: metric(`${type}_${reason}_rate`, 'DELIVERY_ERROR_RATE', filter),
    count: metric(`${type}_${reason}_count`, 'DELIVERY_ERROR_COUNT', filter),
  };
};

export const ERRORS: ErrorMetrics[] = (['reject', 'temp_fail'] as const).flatMap((type) =>
  ERROR_REASONS[type].map((reason) => errorMetrics(type, reason)),
);

/**
 * Google counts the mail whose From domain is the domain, or all mail that is signed as it
 * (developers.google.com/workspace/gmail/postmaster/reference/rest/v2/MetricDefinition#StandardMetric). The first is the
 * default, and the only one before 2026: so it has no filter, which every version understands.
 */
export const AGGREGATIONS = ['FROM_HEADER', 'ALL_DKIM'] as const satisfies LoopAggregation[];
const filterOf = (aggregation: LoopAggregation): string[] =>
  aggregation === 'FROM_HEADER' ? [] : [`aggregation_key_type = "${aggregation}"`];

export const LOOP_IDS = Object.fromEntries(
  AGGREGATIONS.map((each) => [
    each,
    metric(`feedback_loop_ids_${each}`, 'FEEDBACK_LOOP_ID', filterOf(each)[0]),
  ]),
) as Record<LoopAggregation, Metric>;

/** Those of a group are asked for in one query if it fits in one page, and fail together. */
export const GROUPS: Metric[][] = [
  ...[...Map.groupBy(GMAIL_FIGURES, ({ metric }) => metric.group).values()].map((figures) =>
    figures.map(({ column, metric }) => ({ ...metric, name: column })),
  ),
  ERRORS.map(({ rate }) => rate),
  ERRORS.map(({ count }) => count),
  ...Object.values(LOOP_IDS).map((ids) => [ids]),
];

/** The spam rate of one feedback loop. */
export const loopRate = (id: string, aggregation: LoopAggregation, index: number): Metric =>
  metric(
    `feedback_loop_rate_${aggregation}_${index}`,
    'FEEDBACK_LOOP_SPAM_RATE',
    [`feedback_loop_id = "${id}"`, ...filterOf(aggregation)].join(' AND '),
  );

/** Excludes what would end the filter. */
const LOOP_ID = /^[^"\\\p{C}]{1,200}$/u;
const MAX_LOOP_IDS_PER_DAY = 1000;

const Whole = v.pipe(v.number(), v.integer());
const Statistic = v.object({
  metric: v.string(),
  date: v.object({ year: Whole, month: Whole, day: Whole }),
  value: v.object({
    doubleValue: v.optional(v.unknown()),
    floatValue: v.optional(v.unknown()),
    /** 64-bit integers are strings. */
    intValue: v.optional(v.unknown()),
    stringList: v.optional(v.unknown()),
  }),
});

export interface Value {
  metric: string;
  day: string;
  /** Null if it has another type. */
  number: number | null;
  list: string[] | null;
}

/** Null if it is not valid. */
export function parseStatistic(json: unknown): Value | null {
  const statistic = v.safeParse(Statistic, json);
  if (!statistic.success) return null;
  const { metric: name, date, value } = statistic.output;
  const parts = [date.month, date.day].map((part) => String(part).padStart(2, '0'));
  const day = [date.year, ...parts].join('-');
  if (!isDay(day)) return null;
  return { metric: name, day, number: numberOf(value), list: listOf(value.stringList) };
}

function numberOf(value: v.InferOutput<typeof Statistic>['value']): number | null {
  const number = value.doubleValue ?? value.floatValue ?? value.intValue;
  if (typeof number === 'string') return /^\d{1,15}$/.test(number) ? Number(number) : null;
  return typeof number === 'number' && number >= 0 ? number : null;
}

const StringList = v.object({ values: v.optional(v.array(v.unknown()), []) });

function listOf(json: unknown): string[] | null {
  const list = v.safeParse(StringList, json);
  if (!list.success) return null;
  return list.output.values
    .slice(0, MAX_LOOP_IDS_PER_DAY)
    .filter((id): id is string => typeof id === 'string' && LOOP_ID.test(id));
}
