/** Who sends: the filters, one page of the sources, and their export. */

import type { FeedbackSource } from '../../feedback/sources/schema.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { Card } from '../frame/card.tsx';
import { Filters } from '../frame/filters.tsx';
import { Select } from '../frame/form.tsx';
import { type Column, DataTable, Pager, pathWith } from '../frame/table.tsx';
import { ShareBar } from '../overview/figures.tsx';
import { FEEDBACK } from './list.tsx';
import { KindMark, nextStepOf } from './words.tsx';

export const SOURCES_PAGE_SIZE = 50;

/** The query parameters of the API for each choice. */
const SHOWN = {
  failing: ['Only failing', { failing: 'true' }],
  new: ['Only new', { new: 'true' }],
  own: ['Your servers', { kind: 'own' }],
  service: ['Your services', { kind: 'service' }],
  misconfigured: ['Misconfigured', { kind: 'misconfigured' }],
  forwarder: ['Forwarders', { kind: 'forwarder' }],
  spoof: ['Not yours', { kind: 'spoof' }],
  unknown: ['Unknown', { kind: 'unknown' }],
} satisfies Record<string, [text: string, filters: Record<string, string>]>;

export interface SourceChoice {
  show?: string;
  reporter?: string;
}

/** As the parameters of `GET /v1/feedback/sources`. Unknown choices are left out. */
export function sourceFilters({ show, reporter }: SourceChoice): Record<string, string> {
  const filters = show !== undefined && Object.hasOwn(SHOWN, show) ? SHOWN[show as Shown][1] : {};
  return { ...filters, ...(reporter ? { reporter } : {}) };
}
type Shown = keyof typeof SHOWN;

interface Props {
  /** Of the page of the domain, without its query. */
  path: string;
  /** The period of the page, which the filters keep. */
  days: string | undefined;
  choice: SourceChoice;
  cursors: { starting_after?: string; ending_before?: string };
  sources: FeedbackSource[];
  hasMore: boolean;
  reporters: { name: string }[];
  /** The days that the figures are of. */
  period: { from: string; to: string };
  /** Whether the period is shorter than that of the page. */
  isShortened: boolean;
  exportPath: string;
}

export function Sources(props: Props) {
  const { path, days, choice, cursors, sources, hasMore, reporters, period } = props;
  const isFiltered = Object.keys(sourceFilters(choice)).length > 0;
  const anchor = `${pathWith(path, { days })}#sources`;
  const names = [
    ...new Set([
      ...(choice.reporter ? [choice.reporter] : []),
      ...reporters.map(({ name }) => name),
    ]),
  ];
  return (
    <Card
      title="Who sends mail from your domain"
      id="sources"
      actions={
        sources.length > 0 && (
          <a class="button" href={props.exportPath} download>
            Export as CSV
          </a>
        )
      }
    >
      <Filters path={anchor} active={isFiltered}>
        {days !== undefined && <input type="hidden" name="days" value={days} />}
        <Select
          name="show"
          label="Show"
          value={choice.show ?? ''}
          options={[
            ['', 'All sources'],
            ...Object.entries(SHOWN).map(([value, [text]]): [string, string] => [value, text]),
          ]}
        />
        <Select
          name="reporter"
          label="Reported by"
          value={choice.reporter ?? ''}
          options={[['', 'All reporters'], ...names.map((name): [string, string] => [name, name])]}
        />
      </Filters>
      <p class="small muted">
        {`From ${dayInWords(period.from)} to ${dayInWords(period.to)} (UTC). `}
        {choice.reporter
          ? `Counted by ${choice.reporter}.`
          : `Counted by ${formatCount(reporters.length, 'reporter')}.`}
        {props.isShortened && ' For one reporter, the page shows the last 30 days only.'}
        {choice.show === 'new' &&
          ' New: seen in the last 30 days, after at least 60 days without messages. At least 14 of the 60 days must have reports.'}
      </p>
      {sources.length === 0 ? (
        <p class="muted">
          {isFiltered
            ? 'No source matches.'
            : 'No source is known in this period. New addresses are looked up within minutes.'}
        </p>
      ) : (
        <>
          <DataTable
            label="Sources"
            columns={COLUMNS}
            rows={sources}
            keyOf={({ id }) => id}
            hrefOf={({ id }) =>
              pathWith(`${FEEDBACK}/sources/${id}`, { days: props.isShortened ? undefined : days })
            }
          />
          <Pager
            path={path}
            query={{ days, ...choice }}
            cursors={cursors}
            rows={sources}
            hasMore={hasMore}
            words={['← Previous', 'Next →']}
            fragment="#sources"
          />
        </>
      )}
    </Card>
  );
}

const COLUMNS: Column<FeedbackSource>[] = [
  { title: 'Source', cell: ({ name, label }) => <bdi class="source-name">{label ?? name}</bdi> },
  { title: 'Kind', cell: ({ kind }) => <KindMark kind={kind} /> },
  {
    title: 'Messages',
    number: true,
    wide: true,
    cell: ({ messages }) => formatCount(messages),
  },
  {
    title: 'Pass DMARC',
    cell: ({ messages, passed, kind }) => (
      <span class={`pass-share ${kind === 'misconfigured' ? 'fail' : 'pass'}`}>
        <ShareBar share={passed / messages} />
        <span class="small">
          {formatPercent(passed / messages)}
          <span class="basis">{` of ${formatCount(messages)}`}</span>
        </span>
      </span>
    ),
  },
  { title: 'Last seen', wide: true, cell: ({ last_day }) => dayInWords(last_day) },
  { title: 'What to do', wide: true, cell: nextStepOf },
];
