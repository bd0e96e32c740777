/** The figures of many tests: score, numbers, pass rates, grades, and the most frequent issues. */

import type * as v from 'valibot';
import { INBOX_RATE } from '../../figures/placement.ts';
import { isoTime } from '../../lib/clock.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { zonedParts } from '../../lib/format/times.ts';
import { valueInWords } from '../../report/charts.ts';
import { ChartImage } from '../../report/html/chart.tsx';
import { TOO_FEW } from '../../report/placement-rates.ts';
import {
  averageOf,
  hasInboxRate,
  samplesInWords,
  type TrendChart,
  trendCharts,
} from '../../report/summary.ts';
import type { ReportSummary } from '../../summary/routes.ts';
import { ScrollArea } from '../../ui/components.tsx';
import { GRADE_STARTS, levelClass, Steps } from '../../ui/level.tsx';
import { Card } from '../frame/card.tsx';
import { useReader } from '../frame/reader.tsx';
import { Fold } from '../frame/states.tsx';
import { previousPeriod } from './period.tsx';

export type SummaryFigures = v.InferOutput<typeof ReportSummary>;

interface Props {
  summary: SummaryFigures;
}

/** The score and the number of tests, each compared with the previous period. */
export function KeyFigures({ summary }: Props) {
  const { period, total_tests, scored, previous, placement_samples } = summary;
  const average = averageOf(summary);
  return (
    <dl class="tiles key-figures">
      <div class={`tile ${levelClass(average?.score ?? null)}`}>
        <dt>Average score</dt>
        <dd class="score-figure">
          {average ? (
            <>
              {average.score} <span class="grade">{average.grade}</span>
              <Steps percent={average.score} />
            </>
          ) : (
            <span class="muted">–</span>
          )}
        </dd>
        <dd class="note">{scoreComparison(summary)}</dd>
      </div>
      <div class="tile">
        <dt>Completed tests</dt>
        <dd>{formatCount(total_tests)}</dd>
        <dd class="note">
          {formatCount(previous.total_tests)} in {previousPeriod(period)}
          {scored < total_tests && `. ${formatCount(total_tests - scored)} without a score`}
        </dd>
      </div>
      {placement_samples > 0 && (
        <div class="tile">
          <dt>In the inbox</dt>
          {!hasInboxRate(summary) ? (
            <>
              <dd class="muted">–</dd>
              <dd class="note">{`${TOO_FEW}: ${samplesInWords(summary)}`}</dd>
            </>
          ) : (
            <>
              <dd>{formatPercent(summary[INBOX_RATE.name])}</dd>
              <dd class="note">of {formatCount(placement_samples, 'sample')}</dd>
            </>
          )}
        </div>
      )}
    </dl>
  );
}

/** "4 points higher than in the previous 7 days". */
function scoreComparison(summary: SummaryFigures): string {
  const [current, previous] = [averageOf(summary), averageOf(summary.previous)];
  const before = previousPeriod(summary.period);
  if (current === null && previous === null)
    return summary.total_tests > 0 ? 'No completed test has a score' : 'No data yet';
  if (current === null) return `It was ${previous!.score} in ${before}`;
  if (previous === null) return `No score in ${before}`;
  const change = current.score - previous.score;
  if (change === 0) return `Unchanged from ${before}`;
  const points = `${Math.abs(change)} ${Math.abs(change) === 1 ? 'point' : 'points'}`;
  return `${change > 0 ? '▲' : '▼'} ${points} ${change > 0 ? 'higher' : 'lower'} than in ${before}`;
}

/** The score over time and, if asked for, the number of tests, with the same figures as a table. */
export function Trend({ summary, withTests = false }: Props & { withTests?: boolean }) {
  const { timeZone } = useReader();
  const zone = timeZone ?? 'UTC';
  const charts = chartsOf(summary, zone);
  const score = charts.find(({ id }) => id === 'score');
  const tests = charts.find(({ id }) => id === 'tests');
  return (
    <Card title={score?.title ?? 'Average score'} id="trend">
      {score ? <ChartImage chart={score} id="score" /> : <NoData />}
      {withTests && tests && summary.total_tests > 0 && (
        <>
          <h3>{tests.title}</h3>
          <ChartImage chart={tests} id="tests" />
        </>
      )}
      {tests && summary.total_tests > 0 && (
        <>
          <p class="small muted">{sliceInWords(summary, zone)}</p>
          <Fold summary="Show as a table">
            <div class="figures-table">
              <TrendTable score={score} tests={tests} />
            </div>
          </Fold>
        </>
      )}
    </Card>
  );
}

/**
 * The slices of a day are named by the hour in which they begin. Those of longer periods last 24 hours up to the
 * current hour, so they are named by the day on which they end: the last one is today.
 */
export function chartsOf(summary: SummaryFigures, timezone: string): TrendChart[] {
  const { period, trend, scored, to } = summary;
  if (period === 'day') return trendCharts({ summary, timezone });
  const ends = trend.map((slice, index) => {
    const end = Date.parse(trend[index + 1]?.from ?? to);
    return { ...slice, from: isoTime(end - 1) };
  });
  const charts = trendCharts({ summary: { trend: ends, scored }, timezone });
  if (period === 'month') return charts;
  // Seven dates with their month do not fit on a phone.
  const dayOf = (index: number) => {
    const { weekday, day } = zonedParts(ends[index]!.from, timezone);
    return `${weekday} ${day}`;
  };
  return charts.map((chart) => ({
    ...chart,
    buckets: chart.buckets.map((bucket, index) => ({ ...bucket, label: dayOf(index) })),
  }));
}

/** "Each bar covers 24 hours up to 17:00 (UTC)." */
function sliceInWords({ period, trend }: SummaryFigures, zone: string): string {
  if (period === 'day') return `Each bar covers one hour (${zone}).`;
  return `Each bar covers 24 hours up to ${zonedParts(trend.at(-1)!.from, zone).clock} (${zone}).`;
}

export const NoData = () => <p class="no-data muted">No completed tests in this period.</p>;

function TrendTable({ score, tests }: { score: TrendChart | undefined; tests: TrendChart }) {
  return (
    <ScrollArea label="Figures of the chart">
      <table class="compact">
        <thead>
          <tr>
            <th scope="col">{tests.interval === 'hour' ? 'Hour' : 'Day'}</th>
            <th scope="col" class="number">
              Tests
            </th>
            <th scope="col" class="number">
              Average score
            </th>
          </tr>
        </thead>
        <tbody>
          {tests.buckets.map((bucket, index) => (
            <tr key={bucket.name}>
              <th scope="row">{bucket.name}</th>
              <td class="number">{valueInWords(tests, bucket)}</td>
              <td class="number">
                {score ? valueInWords(score, score.buckets[index]!) : 'no score'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

const MECHANISMS = ['spf', 'dkim', 'dmarc'] as const;

/** Only a full share is at the highest level: mail that fails here is rejected. */
const levelOfRate = (rate: number) => levelClass(rate === 1 ? 100 : Math.min(100 * rate, 89));

/** How much of the mail passes SPF, DKIM, and DMARC. */
export function PassRates({ summary: { auth_rates, auth_samples } }: Props) {
  return (
    <Card title="Authentication" id="authentication">
      <dl class="rates">
        {MECHANISMS.map((name) => {
          const [rate, samples] = [auth_rates[name], auth_samples[name]];
          const known = samples > 0;
          return (
            <div key={name} class={known ? levelOfRate(rate) : 'unknown'}>
              <dt>{name.toUpperCase()}</dt>
              {known ? (
                <dd>
                  <ShareBar share={rate} />
                  <span class="rate">{formatPercent(rate)}</span>
                  <span class="small muted basis">of {formatCount(samples, 'test')} passed</span>
                </dd>
              ) : (
                <dd class="small muted">No results</dd>
              )}
            </div>
          );
        })}
      </dl>
    </Card>
  );
}

/** A horizontal bar; the figure beside it says the same. */
export function ShareBar({ share }: { share: number }) {
  return (
    <svg class="share-bar" width="100%" height="8" aria-hidden="true">
      <rect class="track" width="100%" height="8" rx="4" />
      {share > 0 && <rect class="fill" width={`${Math.max(2, share * 100)}%`} height="8" rx="4" />}
    </svg>
  );
}

/** How many tests got which grade. */
export function Grades({ summary: { grades, scored } }: Props) {
  return (
    <Card title="Grades" id="grades">
      {scored === 0 ? (
        <NoData />
      ) : (
        <dl class="rates grades">
          {GRADE_STARTS.map(([grade, start]) => (
            <div key={grade} class={levelClass(grades[grade] > 0 ? start : null)}>
              <dt>
                {grade} <Steps percent={start} />
              </dt>
              <dd>
                <ShareBar share={grades[grade] / scored} />
                <span class="rate">{formatCount(grades[grade])}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}

interface IssueProps extends Props {
  /** The newest test with an issue, by check ID. */
  examples: Map<string, string>;
  max?: number;
}

/** The most frequent issues, each with a recent test that has it. */
export function TopIssues({ summary, examples, max = 10 }: IssueProps) {
  const { top_issues, total_tests } = summary;
  const issues = top_issues.slice(0, max);
  return (
    <Card title="Top issues" id="issues">
      {total_tests === 0 ? (
        <NoData />
      ) : issues.length === 0 ? (
        <p class="muted">No test in this period has an issue.</p>
      ) : (
        <ol class="issues">
          {issues.map(({ check, issue, count }) => {
            const example = examples.get(check);
            return (
              <li key={check}>
                <span class="issue-title">{issue}</span>
                <span class="small muted">
                  {formatCount(count)} of {formatCount(total_tests, 'test')}
                </span>
                {example ? (
                  <a class="small screen-only" href={`/tests/${example}#check-${check}`}>
                    Latest example<span class="visually-hidden">: {issue}</span>
                  </a>
                ) : null}
              </li>
            );
          })}
        </ol>
      )}
    </Card>
  );
}
