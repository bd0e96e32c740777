/**
 * A chart on a page: the only painter of charts in HTML. Without script, the bars have titles and the scale is visible. The
 * script of the dashboard (`dashboard/browser/charts.ts`) adds the value at the pointer, at the focus and at a touch.
 */

import { type ComponentChildren, Fragment } from 'preact';
import {
  type BarFill,
  barsOf,
  type Chart,
  chartInWords,
  hasLabelPerBar,
  type Pin,
  scaleOf,
  shareOfHeight,
  ticksOf,
  valueInWords,
  valueText,
} from '../charts.ts';

/** The height of the bars. Vertical lengths are in pixels, horizontal ones in percent, so that text keeps its size. */
const HEIGHTS = { full: 140, low: 56, small: 28 };
/** Above the bars: the value of the highest one, or half a line of the scale. */
const [VALUE_SPACE, LINE_SPACE] = [20, 8];
const PIN_SPACE = 24;
const LABEL_SPACE = 24;
/** A zero stays visible, because a gap means that there is no data. */
const MIN_BAR = 2;
/** More values are in the table beside the chart. */
const MAX_IN_WORDS = 31;

interface ChartProps {
  chart: Chart;
  id: string;
  /** `small`, for a cell of a table, has no dates; `low` is one of several. */
  size?: keyof typeof HEIGHTS;
  /** Names the chart and sums it up for screen readers; by default, the title and all values. */
  label?: string;
}

export function ChartImage({ chart, id, size = 'full', label }: ChartProps) {
  const { buckets, series = [], pins = [], limits = [], isLocal = false } = chart;
  if (buckets.length === 0) return null;
  const height = HEIGHTS[size];
  const isSmall = size === 'small';
  const hasValues = hasLabelPerBar(chart) && size === 'full';
  const pinTop = (hasValues ? VALUE_SPACE : LINE_SPACE) + (isSmall ? -LINE_SPACE + 4 : 0);
  const top = pinTop + (pins.length > 0 ? PIN_SPACE : 0);
  const yOf = (value: number) => top + height * (1 - shareOfHeight(chart, value));
  const step = 100 / buckets.length;
  const bars = barsOf(chart, { width: 100, height });
  const { format, formatScale = format } = chart;
  return (
    <div class={`chart ${size}`}>
      <div class="plot" data-chart>
        <svg
          role="img"
          aria-label={label ?? inWords(chart)}
          height={top + height + (isSmall ? 4 : LABEL_SPACE)}
        >
          <Patterns id={id} chart={chart} />
          {scaleOf(chart).map((value) => (
            <Fragment key={value}>
              <line x1="0" x2="100%" y1={yOf(value)} y2={yOf(value)} />
              <text x="-8" y={yOf(value) + 4} text-anchor="end">
                {formatScale(value)}
              </text>
            </Fragment>
          ))}
          {pins.map((pin, index) => (
            <PinMark
              key={pin.index}
              pin={pin}
              number={index + 1}
              x={percent(step * (pin.index + 0.5))}
              y={pinTop + 6}
              bottom={top + height}
            />
          ))}
          {buckets.map((bucket, index) => {
            const bar = bars[index];
            const x = percent(step * index);
            return (
              <g key={x} class="slot" data-day={isLocal ? bucket.day : undefined}>
                <title>{slotText(chart, index)}</title>
                <rect class="hit" x={x} width={percent(step)} y={top} height={height} />
                {bar &&
                  partsOf(chart, index).map(({ fill, from, to }) => {
                    const upTo = Math.max(to * height, from === 0 ? MIN_BAR : 0);
                    return (
                      <rect
                        key={fill}
                        class={bucket.isPartial ? `${fill} partial` : fill}
                        fill={isPattern(fill) ? `url(#${id}-${fill})` : undefined}
                        x={percent(bar.x)}
                        width={percent(bar.width)}
                        y={round(top + height - upTo)}
                        height={round(upTo - from * height)}
                      />
                    );
                  })}
                {bar && hasValues && (
                  <text x={percent(step * (index + 0.5))} y={top + bar.y - 5} text-anchor="middle">
                    {valueText(chart, bucket)}
                  </text>
                )}
              </g>
            );
          })}
          {limits.map(({ value, state }) => (
            <g key={value} class={`limit ${state}`}>
              <line x1="0" x2="100%" y1={yOf(value)} y2={yOf(value)} />
              <text x="-8" y={yOf(value) + 4} text-anchor="end">
                {formatScale(value)}
              </text>
            </g>
          ))}
          {!isSmall &&
            ticksOf(chart).map(({ index, label: text, anchor, isMajor }) => (
              <text
                key={index}
                class={isMajor ? undefined : 'minor'}
                data-day={isLocal ? buckets[index]!.day : undefined}
                data-year={/\d{4}/.test(text) ? '' : undefined}
                x={percent(step * (index + ANCHORS[anchor]))}
                y={top + height + 18}
                text-anchor={anchor}
              >
                {text}
              </text>
            ))}
        </svg>
      </div>
      {series.length > 1 && (
        <ul class="chart-key small">
          {series.map(({ title, fill }) => (
            <li key={title}>
              <span class={`swatch ${fill}`} aria-hidden="true" /> {title}
            </li>
          ))}
        </ul>
      )}
      {pins.length > 0 && <PinList pins={pins} isLocal={isLocal} />}
    </div>
  );
}

const ANCHORS = { start: 0, middle: 0.5, end: 1 };

const round = (value: number): number => Math.round(value * 100) / 100;
const percent = (value: number): string => `${round(value)}%`;

/** The parts of a bar from the bottom to the top, in shares of the height. */
function partsOf(chart: Chart, index: number): { fill: BarFill; from: number; to: number }[] {
  const { value, parts, state = 'solid' } = chart.buckets[index]!;
  if (!parts || value === 0) return [{ fill: state, from: 0, to: shareOfHeight(chart, value!) }];
  let below = 0;
  return chart.series!.flatMap(({ fill }, part) => {
    const count = parts[part]!;
    if (count === 0) return [];
    const from = shareOfHeight(chart, below);
    below += count;
    return [{ fill, from, to: shareOfHeight(chart, below) }];
  });
}

function slotText(chart: Chart, index: number): string {
  const bucket = chart.buckets[index]!;
  const { series = [], pins = [] } = chart;
  const parts = (bucket.parts ?? []).flatMap((part, i) =>
    part > 0 && series.length > 1 ? [`${lowerFirst(series[i]!.title)}: ${chart.format(part)}`] : [],
  );
  const value = [valueInWords(chart, bucket), ...parts].join('; ');
  const events = pins
    .flatMap(({ marks }) => marks)
    .flatMap((mark) => (mark.index === index ? [`. ${mark.text}`] : []));
  return `${bucket.name}${bucket.isPartial ? ' so far' : ''}: ${value}${events.join('')}`;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function inWords(chart: Chart): string {
  if (chart.buckets.length <= MAX_IN_WORDS) return chartInWords(chart);
  const names = [chart.buckets[0]!, chart.buckets.at(-1)!].map(({ name }) => name);
  return `${chart.title}, ${names.join(' to ')}. Scale: ${chart.format(chart.min ?? 0)} to ${chart.format(chart.max)}.`;
}

const PATTERNS: Partial<Record<BarFill, ComponentChildren>> = {
  striped: <path class="pattern-stripe" d="M0 6 6 0" />,
  dotted: <rect class="pattern-dot" width="2" height="2" />,
};
const isPattern = (fill: BarFill): boolean => fill in PATTERNS;

/** The IDs of other charts may be in a part of the page that is not shown, where they would not be found. */
function Patterns({ id, chart }: { id: string; chart: Chart }) {
  const patterns = (chart.series ?? []).map(({ fill }) => fill).filter(isPattern);
  if (patterns.length === 0) return null;
  return (
    <defs>
      {patterns.map((fill) => (
        <pattern key={fill} id={`${id}-${fill}`} width="6" height="6" patternUnits="userSpaceOnUse">
          <rect class="pattern-ground" width="6" height="6" />
          {PATTERNS[fill]}
        </pattern>
      ))}
    </defs>
  );
}

interface PinProps {
  pin: Pin;
  number: number;
  x: string;
  y: number;
  bottom: number;
}

/** A circle for a change and a triangle for a problem, with the number in the list below. */
function PinMark({ pin: { isProblem }, number, x, y, bottom }: PinProps) {
  return (
    <g class={isProblem ? 'pin fail' : 'pin'}>
      <line x1={x} x2={x} y1={y + 8} y2={bottom} />
      <svg x={x} y={y} overflow="visible" aria-hidden="true">
        {isProblem ? <path d="M0 -12 11 8H-11Z" /> : <circle r="9" />}
        <text y={isProblem ? 6 : 4} text-anchor="middle">
          {number}
        </text>
      </svg>
    </g>
  );
}

/** The most that is listed of one pin: a domain can change all day. */
const MAX_LISTED = 4;

function PinList({ pins, isLocal }: { pins: Pin[]; isLocal: boolean }) {
  return (
    <ol class="chart-pins small">
      {pins.map(({ marks, index }) => (
        <li key={index}>
          {marks.slice(0, MAX_LISTED).map(({ when, day, text, href }) => (
            <div key={`${when} ${text}`}>
              <time
                class="muted"
                dateTime={day}
                data-format="day"
                data-zone="UTC"
                data-local={isLocal ? '' : undefined}
              >
                {when}
              </time>{' '}
              {href === null ? text : <a href={href}>{text}</a>}
            </div>
          ))}
          {marks.length > MAX_LISTED && (
            <div class="muted">{`and ${marks.length - MAX_LISTED} more`}</div>
          )}
        </li>
      ))}
    </ol>
  );
}

export const CHART_STYLE = `
.chart { margin-top: 12px; }
.plot { position: relative; }
.plot > svg { display: block; width: calc(100% - 44px); margin-left: 44px; overflow: visible; font-family: inherit; font-size: 13px; fill: var(--muted); touch-action: pan-y; }
.chart line { stroke: var(--line); }
.plot:focus-visible { outline-offset: 6px; border-radius: 2px; }
.slot > .hit { fill: transparent; }
.slot:is(:hover, .on) > .hit { fill: var(--line); }
.chart .solid, .swatch.solid { fill: var(--accent); background: var(--accent); }
.chart .hollow, .pattern-ground { fill: var(--surface); }
.chart rect:is(.striped, .dotted, .hollow) { stroke: var(--muted); stroke-width: 1; }
.chart rect:is(.pass, .warn, .fail, .info, .unknown) { fill: var(--tone); }
.chart .partial { fill-opacity: 0.55; }
.pattern-stripe { stroke: var(--muted); stroke-width: 2; }
.pattern-dot { fill: var(--muted); }
.chart .limit > line { stroke: var(--tone); stroke-width: 1.5; }
.chart .limit.warn > line { stroke-dasharray: 6 4; }
.chart .limit > text { fill: var(--tone); font-weight: 600; }
.pin { --pin: var(--ink); }
.pin.fail { --pin: var(--fail); }
.pin > line { stroke: var(--pin); stroke-dasharray: 2 3; }
.pin :is(circle, path) { fill: var(--surface); stroke: var(--pin); stroke-width: 1.5; }
.pin text { fill: var(--pin); font-size: 11px; font-weight: 650; }
.chart-pins { margin: 8px 0 0; padding-left: 24px; list-style: decimal; }
.chart-pins > li + li { margin-top: 4px; }
.chart-key { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 8px; }
.swatch { display: inline-block; width: 12px; height: 12px; border: 1px solid var(--muted); }
.swatch:is(.pass, .warn, .fail, .info, .unknown) { background: var(--tone); }
.swatch.dotted { background: radial-gradient(var(--muted) 1px, var(--surface) 1.5px) 0 0 / 4px 4px; }
.swatch.striped { background: repeating-linear-gradient(135deg, var(--surface) 0 3px, var(--muted) 3px 5px); }
.chart-value { position: absolute; z-index: 2; bottom: 100%; max-width: min(280px, 90%); padding: 6px 10px; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); color: var(--ink); font-size: 14px; line-height: 1.4; pointer-events: none; }
.chart.small { margin: 0; min-width: 140px; }
.chart.small svg { font-size: 11px; }
@media (max-width: 640px) { .chart .minor { display: none; } }
@media print { .chart-value { display: none; } }
`;
