/** Placement by provider: the inbox rate with its samples, and what happened over time. */

import { INBOX_RATE, lostInWords, PLACES } from '../../figures/placement.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { roundUp } from '../../report/charts.ts';
import { ChartImage } from '../../report/html/chart.tsx';
import {
  basisOf,
  placementState,
  providerName,
  SAMPLE_NOTE,
  TOO_FEW,
  TOO_FEW_NOTE,
} from '../../report/placement-rates.ts';
import type { TrendChart } from '../../report/summary.ts';
import { ScrollArea, StateMark } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { useReader } from '../frame/reader.tsx';
import { Fold } from '../frame/states.tsx';
import { chartsOf, type SummaryFigures } from './figures.tsx';

type Provider = SummaryFigures['placement']['by_provider'][number];
type Slice = Provider['trend'][number];

const MAX_PROVIDERS = 20;

/** Nothing without samples: placement is not tested, or not in this period. */
export function Placement({ summary }: { summary: SummaryFigures }) {
  const { timeZone } = useReader();
  const { by_provider } = summary.placement;
  const time = chartsOf(summary, timeZone ?? 'UTC').find(({ id }) => id === 'tests');
  if (by_provider.length === 0 || !time) return null;
  const providers = by_provider.slice(0, MAX_PROVIDERS);
  const most = Math.max(...providers.flatMap(({ trend }) => trend.map(({ samples }) => samples)));
  const hasTooFew = providers.some((each) => each[INBOX_RATE.name] === null);
  return (
    <Card title="Inbox placement by provider" id="placement">
      <ul class="placement-providers">
        {providers.map((each) => (
          <li key={each.provider}>
            <div>
              <h3>{providerName(each.provider)}</h3>
              <p>
                <RateMark rate={each[INBOX_RATE.name]} />
              </p>
              <p class="small muted">{basisOf(each)}</p>
            </div>
            <Bars provider={each} time={time} most={most} />
          </li>
        ))}
      </ul>
      <Fold summary="Show as a table">
        <div class="figures-table">
          <PlacementTable providers={providers} time={time} />
        </div>
      </Fold>
      <p class="small muted">
        {by_provider.length > providers.length &&
          `${by_provider.length - providers.length} more providers are not shown. `}
        {hasTooFew && `${TOO_FEW_NOTE} `}
        {SAMPLE_NOTE}
      </p>
    </Card>
  );
}

const RateMark = ({ rate }: { rate: number | null }) => (
  <StateMark
    state={placementState(rate)}
    word={
      rate === null ? `Rate: ${TOO_FEW} seeds or samples` : `${formatPercent(rate)} in the inbox`
    }
  />
);

const SERIES = PLACES.map(({ title, state }) => ({ title, fill: state }));

/** A stacked bar for each slice of the period. All providers have the same scale. */
function Bars({ provider, time, most }: { provider: Provider; time: TrendChart; most: number }) {
  const title = `Placement at ${providerName(provider.provider)} by ${time.interval}`;
  const buckets = provider.trend.map((slice, index) => ({
    ...time.buckets[index]!,
    value: slice.samples === 0 ? null : slice.samples,
    emptyText: 'no samples',
    parts: PLACES.map(({ name }) => slice[name]),
    text: sliceText(slice),
  }));
  return (
    <ChartImage
      chart={{ title, buckets, series: SERIES, max: roundUp(most), format: formatCount }}
      id={`placement-${provider.provider}`}
      size="low"
      label={`${title}. The figures are in the table below.`}
    />
  );
}

/** “3 of 4 in the inbox, 1 in spam”. */
function sliceText(slice: Slice): string {
  const { samples, inbox } = slice;
  if (samples === 0) return 'no samples';
  return [`${inbox} of ${samples} in the inbox`, ...lostInWords(slice)].join(', ');
}

function PlacementTable({ providers, time }: { providers: Provider[]; time: TrendChart }) {
  return (
    <ScrollArea label="Placement by provider">
      <table class="compact">
        <thead>
          <tr>
            <th scope="col">{time.interval === 'hour' ? 'Hour' : 'Day'}</th>
            {providers.map(({ provider }) => (
              <th key={provider} scope="col">
                {providerName(provider)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {time.buckets.map(({ name }, index) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {providers.map(({ provider, trend }) => (
                <td key={provider}>{sliceText(trend[index]!)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}
