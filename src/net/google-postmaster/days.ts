/** The figures of a domain by day, in as few calls as possible. What was read is kept if a later call fails. */

import * as v from 'valibot';
import { valuesOf } from '../../figures/figure.ts';
import {
  type FeedbackLoop,
  GMAIL_FIGURES,
  type GmailValues,
  type LoopAggregation,
  SPAM_RATE,
} from '../../figures/gmail.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { AccountError } from '../account-error.ts';
import {
  AGGREGATIONS,
  ERRORS,
  type ErrorType,
  GROUPS,
  LOOP_IDS,
  loopRate,
  type Metric,
  parseStatistic,
  type Value,
} from './metrics.ts';
import { invalidResponse, type PostmasterRequests, queryError } from './requests.ts';

export interface DeliveryErrors {
  type: ErrorType;
  /** The name that Google uses, such as `low_ip_reputation`. */
  reason: string;
  /** From 0 to 1; null if only the count is published. */
  rate: number | null;
  count: number | null;
}

/** What is null was not published, or could not be read. Rates are from 0 to 1. */
export interface PostmasterDay extends GmailValues {
  /** Such as `2026-11-21`, as Google counts days. */
  day: string;
  /** Only reasons with errors; empty if there were none. */
  errors: DeliveryErrors[] | null;
  feedback_loops: FeedbackLoop[] | null;
}

export interface PostmasterDays {
  /** The days about which anything was published, oldest first. */
  days: PostmasterDay[];
  /** Why figures are missing that Google may have; null if all was read. */
  problem: AccountError | null;
}

/** Both included. */
export interface DayRange {
  from: string;
  to: string;
}

const MAX_PAGE_SIZE = 200;
/** Enough for pages of ten values about a year. */
const MAX_ROUNDS = 50;
const MAX_FEEDBACK_LOOPS = 20;

/** Rejects with an AccountError if the first call fails. */
export async function readDays(
  requests: PostmasterRequests,
  domain: string,
  range: DayRange,
): Promise<PostmasterDays> {
  const figures = new Figures(range);
  await figures.read(requests, domain, GROUPS);
  const loops = AGGREGATIONS.flatMap((aggregation) =>
    figures
      .latestLoops(aggregation)
      .map((id, i) => ({ id, aggregation, rate: loopRate(id, aggregation, i) })),
  );
  if (loops.length > 0)
    try {
      const rates = AGGREGATIONS.map((each) =>
        loops.flatMap(({ aggregation, rate }) => (aggregation === each ? [rate] : [])),
      );
      await figures.read(requests, domain, rates);
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      for (const { rate } of loops) figures.incomplete.add(rate.name);
      figures.problem ??= error;
    }
  const days = figures.days().map((day) => dayOf(figures, day, loops));
  return { days: days.filter(hasFigures), problem: figures.problem };
}

const hasFigures = ({ day: _, ...figures }: PostmasterDay): boolean =>
  Object.values(figures).some((figure) => figure !== null);

interface Loop {
  id: string;
  aggregation: LoopAggregation;
  rate: Metric;
}

function dayOf(figures: Figures, day: string, loops: Loop[]): PostmasterDay {
  const rate = ({ name }: Pick<Metric, 'name'>) => {
    const number = figures.value(name, day)?.number ?? null;
    return number !== null && number <= 1 ? number : null;
  };
  const count = ({ name }: Pick<Metric, 'name'>) => {
    const number = figures.value(name, day)?.number ?? null;
    return Number.isSafeInteger(number) ? number : null;
  };
  const errors = ERRORS.map(({ type, reason, ...metrics }) => ({
    type,
    reason,
    rate: rate(metrics.rate),
    count: count(metrics.count),
  })).filter((error) => error.rate !== null || error.count !== null);
  const loopRates = loops.flatMap(({ id, aggregation, rate: metric }) => {
    const spamRate = rate(metric);
    const isListed = figures.value(LOOP_IDS[aggregation].name, day)?.list?.includes(id);
    return spamRate !== null || isListed
      ? [{ id, aggregation_key_type: aggregation, [SPAM_RATE.name]: spamRate }]
      : [];
  });
  /** A part of a list would look like all of it. */
  const whole = <T>(list: T[], metrics: Metric[]): T[] | null =>
    list.length === 0 || metrics.some(({ name }) => figures.incomplete.has(name)) ? null : list;
  return {
    day,
    ...valuesOf(GMAIL_FIGURES, 'column', ({ column, unit }) =>
      unit === 'share' ? rate({ name: column }) : count({ name: column }),
    ),
    errors:
      whole(
        errors,
        ERRORS.flatMap((metrics) => [metrics.rate, metrics.count]),
      )?.filter((error) => error.rate || error.count) ?? null,
    feedback_loops: whole(loopRates, [
      ...Object.values(LOOP_IDS),
      ...loops.map((loop) => loop.rate),
    ]),
  };
}

interface Query {
  metrics: Metric[];
  pageToken?: string;
}

const Page = v.object({
  domainStats: v.optional(v.array(v.unknown()), []),
  nextPageToken: v.optional(v.pipe(v.string(), v.maxLength(2000)), ''),
});
type Page = v.InferOutput<typeof Page>;

/** The values of all metrics that were read, by metric and day. */
class Figures {
  readonly #range: DayRange;
  readonly #values = new Map<string, Map<string, Value>>();
  /** Names of metrics of which a page is missing. */
  readonly incomplete = new Set<string>();
  /** The first one. */
  problem: AccountError | null = null;

  constructor(range: DayRange) {
    this.#range = range;
  }

  value(metric: string, day: string): Value | undefined {
    return this.#values.get(metric)?.get(day);
  }

  days(): string[] {
    return [...new Set([...this.#values.values()].flatMap((days) => [...days.keys()]))].sort();
  }

  /** The feedback loops of the last days, at most 20. */
  latestLoops(aggregation: LoopAggregation): string[] {
    const days = [...(this.#values.get(LOOP_IDS[aggregation].name)?.values() ?? [])];
    days.sort((a, b) => (a.day < b.day ? 1 : -1));
    return [...new Set(days.flatMap(({ list }) => list ?? []))].slice(0, MAX_FEEDBACK_LOOPS);
  }

  /** Rejects with an AccountError if the first call fails. */
  async read(requests: PostmasterRequests, domain: string, groups: Metric[][]): Promise<void> {
    let queries: Query[] = groups
      .flatMap((metrics) => chunksOf(metrics, metricsPerPage(this.#range)))
      .map((metrics) => ({ metrics }));
    for (let round = 0; queries.length > 0; round++) {
      let pages: (Page | AccountError)[];
      try {
        if (round === MAX_ROUNDS) throw invalidResponse(requests.host);
        pages = await readPages(requests, domain, this.#range, queries);
      } catch (error) {
        if (round === 0 || !(error instanceof AccountError)) throw error;
        pages = queries.map(() => error);
      }
      queries = queries.flatMap((query, i) => this.#add(query, pages[i]!));
    }
  }

  /** The query for the next page, if there is one. */
  #add({ metrics }: Query, page: Page | AccountError): Query[] {
    if (page instanceof AccountError) {
      // A server without this way of counting has no such figures, which is no problem.
      if (metrics[0] === LOOP_IDS.ALL_DKIM && page.problem === 'refused') return [];
      this.problem ??= page;
      for (const { name } of metrics) this.incomplete.add(name);
      return [];
    }
    const names = metrics.map(({ name }) => name);
    for (const json of page.domainStats) {
      const value = parseStatistic(json);
      if (!value || !names.includes(value.metric)) continue;
      if (value.day < this.#range.from || value.day > this.#range.to) continue;
      const days = this.#values.get(value.metric) ?? new Map<string, Value>();
      this.#values.set(value.metric, days.set(value.day, value));
    }
    return page.nextPageToken === '' ? [] : [{ metrics, pageToken: page.nextPageToken }];
  }
}

/** So many metrics have no more values than fit in a page. */
function metricsPerPage({ from, to }: DayRange): number {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return Math.max(1, Math.floor(MAX_PAGE_SIZE / days));
}

const chunksOf = <T>(list: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  );

const Batch = v.object({ results: v.array(v.unknown()) });
const Result = v.object({
  response: v.optional(Page),
  error: v.optional(v.object({ code: v.nullish(v.number()), message: v.nullish(v.string()) })),
});
const INVALID_ARGUMENT = 3;

/** A page or an error for each query. Rejects if none was answered. */
async function readPages(
  requests: PostmasterRequests,
  domain: string,
  range: DayRange,
  queries: Query[],
): Promise<(Page | AccountError)[]> {
  const parent = `domains/${domain}`;
  const bodies = queries.map(({ metrics, pageToken }) => ({
    parent,
    aggregationGranularity: 'DAILY',
    timeQuery: {
      dateRanges: { dateRanges: [{ start: dateOf(range.from), end: dateOf(range.to) }] },
    },
    metricDefinitions: metrics.map(({ name, standardMetric, filter }) => ({
      name,
      baseMetric: { standardMetric },
      ...(filter === undefined ? {} : { filter }),
    })),
    pageSize: MAX_PAGE_SIZE,
    ...(pageToken === undefined ? {} : { pageToken }),
  }));
  const options = { domain, absent: [400] };
  const pageOf = (result: unknown): Page | AccountError => {
    const { output, success } = v.safeParse(Result, result);
    if (success && output.error) return queryError(requests, output.error, domain);
    return (success && output.response) || invalidResponse(requests.host);
  };
  const path = '/v2/domainStats:batchQuery';
  const answer = await requests.post(path, { requests: bodies }, options);
  if (answer !== null) {
    const batch = v.safeParse(Batch, answer);
    if (!batch.success) throw invalidResponse(requests.host);
    return bodies.map((_, i) => pageOf(batch.output.results[i]));
  }
  // One query that Google no longer accepts must not lose the others.
  const pages: (Page | AccountError)[] = [];
  for (const body of bodies)
    try {
      const response = await requests.post(`/v2/${parent}/domainStats:query`, body, options);
      pages.push(pageOf(response === null ? { error: { code: INVALID_ARGUMENT } } : { response }));
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      return bodies.map((_, i) => pages[i] ?? error);
    }
  return pages;
}

function dateOf(day: string): { year: number; month: number; day: number } {
  const [year, month, date] = day.split('-').map(Number);
  return { year: year!, month: month!, day: date! };
}
