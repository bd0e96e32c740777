/** The table of domains: one compact row for each, under headings that sort, in groups. */

import type { ComponentChildren } from 'preact';
import type { Sort } from '../../domain-table/columns.ts';
import type { TableRow } from '../../domain-table/schema.ts';
import { stateOf } from '../../figures/figure.ts';
import { SPAM_LIMITS, SPAM_RATE } from '../../figures/gmail.ts';
import { INBOX_RATE } from '../../figures/placement.ts';
import { formatCount, formatPercent, rateInWords } from '../../lib/format/numbers.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { placementState } from '../../report/placement-rates.ts';
import { ScrollArea } from '../../ui/components.tsx';
import { Ago } from '../frame/times.tsx';
import { Tags } from '../tests/test-cells.tsx';
import { DomainMark, STATE_WORDS } from './states.tsx';

interface TableColumn {
  sort: Sort;
  title: string;
  hint?: string;
  number?: true;
  cell(row: TableRow): ComponentChildren;
}

const COLUMNS: TableColumn[] = [
  { sort: 'name', title: 'Domain', cell: (row) => <Name {...row} /> },
  {
    sort: 'state',
    title: 'State',
    cell: (row) => (
      <>
        <DomainMark {...row} />
        {row.state === 'pending' && row.headline_state === 'fail' && (
          <span class="row-note small figure fail">Broken</span>
        )}
      </>
    ),
  },
  {
    sort: 'policy',
    title: 'Policy',
    hint: 'The DMARC policy, and the percentage of mail to which it applies',
    cell: ({ policy }) => <Policy policy={policy} />,
  },
  ...(['spf', 'dkim', 'dmarc'] as const).map(
    (name): TableColumn => ({
      sort: name,
      title: name.toUpperCase(),
      hint: `The share of messages in DMARC reports of the last 30 days that passed ${name.toUpperCase()}`,
      number: true,
      cell: ({ pass_rates }) => (
        <Rate
          text={pass_rates[name] === null ? null : formatPercent(pass_rates[name])}
          none="No reports"
        />
      ),
    }),
  ),
  {
    sort: 'spam_rate',
    title: 'Spam',
    hint: SPAM_RATE.description,
    number: true,
    cell: ({ spam_rate }) => (
      <Rate
        text={spam_rate && rateInWords(spam_rate.rate)}
        state={spam_rate ? stateOf(spam_rate.rate, SPAM_LIMITS) : undefined}
        hint={spam_rate ? `Google, ${spam_rate.day}` : undefined}
        none="Not published"
      />
    ),
  },
  {
    sort: 'placement',
    title: 'Inbox',
    hint: `${INBOX_RATE.description}, in tests of the last 30 days`,
    number: true,
    cell: ({ placement }) => (
      <Rate
        text={placement?.inbox_rate == null ? null : formatPercent(placement.inbox_rate)}
        state={placement ? placementState(placement.inbox_rate) : undefined}
        hint={placement ? `Of ${formatCount(placement.samples, 'sample')}` : undefined}
        none={placement ? 'Too few samples' : 'No tests'}
      />
    ),
  },
  {
    sort: 'last_change',
    title: 'Changed',
    hint: 'When DNS records of the domain last changed, and which',
    cell: ({ last_change: change }) =>
      change ? (
        <>
          <Ago at={change.at} />
          <span class="row-note small one-line">{change.records}</span>
        </>
      ) : (
        <Unknown why="No change known" />
      ),
  },
  { sort: 'next_step', title: 'Next step', cell: (row) => <Step {...row} /> },
];

/** For the choice of the order. Without one, what costs most comes first. */
export const SORT_OPTIONS: [Sort | '', string][] = COLUMNS.map(({ sort, title }) => [
  sort === 'next_step' ? '' : sort,
  title,
]);

/** International names are shown as people write them, with the stored A-labels on hover. */
const Name = ({ id, name, tags }: TableRow) => (
  <>
    <a class="row-link" href={`/domains/${id}`}>
      <bdi class="one-line" title={name}>
        {readableDomain(name)}
      </bdi>
    </a>
    <Tags tags={tags} />
  </>
);

function Policy({ policy }: Pick<TableRow, 'policy'>) {
  if (policy === null) return <Unknown why="Not known yet" />;
  if (policy.p === null) return <span class="figure fail">No record</span>;
  return (
    <>
      {policy.p}
      {policy.pct !== null && policy.pct < 100 && (
        <span class="row-note small">{policy.pct}% of mail</span>
      )}
      {policy.sp !== null && policy.sp !== policy.p && (
        <span class="row-note small">sp={policy.sp}</span>
      )}
    </>
  );
}

interface RateProps {
  text: string | null;
  state?: 'pass' | 'warn' | 'fail' | 'unknown';
  hint?: string;
  none: string;
}

function Rate({ text, state, hint, none }: RateProps) {
  if (text === null) return <Unknown why={none} />;
  const isBad = state === 'warn' || state === 'fail';
  return (
    <span class={isBad ? `figure ${state}` : undefined} title={hint}>
      {text}
    </span>
  );
}

const Unknown = ({ why }: { why: string }) => (
  <span class="muted" title={why}>
    <span aria-hidden="true">–</span>
    <span class="visually-hidden">{why}</span>
  </span>
);

function Step({ headline, next_step, read_at }: TableRow) {
  if (next_step)
    return (
      <a class="step-link" href={next_step.path} title={`${headline} ${next_step.text}`}>
        {headline} {next_step.text}
      </a>
    );
  return <span class="muted step-link">{read_at === null ? 'Not read yet' : headline}</span>;
}

interface TableProps {
  rows: TableRow[];
  sort: Sort;
  order: 'asc' | 'desc';
  group?: string;
  counts: Map<string | null, number>;
  hrefOf(query: { sort: Sort; order?: 'asc' | 'desc' }): string;
  selectable: boolean;
}

export function DomainTable({ rows, group, counts, selectable, ...order }: TableProps) {
  const groups = [...Map.groupBy(rows, (row) => row.group)];
  return (
    <ScrollArea label="Domains" class="table">
      <table class="rows linked domain-table">
        <thead>
          <tr>
            {selectable && (
              <th scope="col" class="select">
                <input
                  type="checkbox"
                  class="needs-script"
                  data-action="select-all"
                  aria-label="Select all"
                />
              </th>
            )}
            {COLUMNS.map((column) => (
              <Heading key={column.sort} column={column} {...order} />
            ))}
          </tr>
        </thead>
        {groups.map(([name, members]) => (
          <tbody key={name}>
            {group && (
              <tr class="group">
                <th scope="rowgroup" colSpan={COLUMNS.length + Number(selectable)}>
                  <bdi>{groupTitle(group, name)}</bdi>{' '}
                  <span class="count">{formatCount(counts.get(name) ?? members.length)}</span>
                </th>
              </tr>
            )}
            {members.map((row) => (
              <Row key={row.id} row={row} selectable={selectable} />
            ))}
          </tbody>
        ))}
      </table>
    </ScrollArea>
  );
}

function groupTitle(group: string, name: string | null): string {
  if (group === 'state') return STATE_WORDS[name as keyof typeof STATE_WORDS];
  return name === null ? `No ${group}` : name.slice(group.length + 1);
}

function Row({ row, selectable }: { row: TableRow; selectable: boolean }) {
  return (
    <tr>
      {selectable && (
        <td class="select">
          <input type="checkbox" name="id" value={row.id} aria-label={`Select ${row.name}`} />
        </td>
      )}
      {COLUMNS.map(({ sort, number, cell }) => (
        <td key={sort} class={classOf(sort, number)}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

const classOf = (sort: Sort, number?: true): string => `c-${sort}${number ? ' number' : ''}`;

interface HeadingProps extends Pick<TableProps, 'sort' | 'order' | 'hrefOf'> {
  column: TableColumn;
}

function Heading({ column, sort, order, hrefOf }: HeadingProps) {
  const isSorted = column.sort === sort;
  const other = order === 'asc' ? 'desc' : 'asc';
  return (
    <th
      scope="col"
      class={classOf(column.sort, column.number)}
      aria-sort={isSorted ? (order === 'asc' ? 'ascending' : 'descending') : undefined}
    >
      <a
        class="sort"
        data-focus={column.sort}
        title={column.hint}
        href={hrefOf(isSorted ? { sort, order: other } : { sort: column.sort })}
      >
        {column.title}
        {isSorted && <span aria-hidden="true">{order === 'asc' ? ' ↑' : ' ↓'}</span>}
      </a>
    </th>
  );
}
