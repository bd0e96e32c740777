/**
 * Tables of objects whose rows are links, with paging below. On phones, such a row has two lines: the first cell, and beside
 * it the next two.
 */

import type { ComponentChildren } from 'preact';
import { ScrollArea } from '../../ui/components.tsx';

export interface Column<Row> {
  title: string;
  /** For a column of buttons: only screen readers get the title. */
  hiddenTitle?: boolean;
  cell(row: Row): ComponentChildren;
  /** Right-aligned figures. */
  number?: boolean;
  /** Left out on phones, or also on tablets. */
  wide?: boolean | 'desktop';
  /** A sentence, which a compact row shows as its second line. */
  below?: boolean;
}

const MAX_FACTS = 2;

interface TableProps<Row> {
  /** Names the table for screen readers. */
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf(row: Row): string;
  /** The page that a row leads to; the first cell contains the link. */
  hrefOf?(row: Row): string;
  /** A check box before each row, named `id`, for a form around the table. */
  selectable?: boolean;
  /** Names a row in the label of its check box. */
  labelOf?(row: Row): string;
  /** Two lines on phones, for rows that lead to no page but have one-line cells. */
  compact?: boolean;
}

export function DataTable<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, hrefOf, selectable = false, labelOf } = props;
  const { compact = hrefOf !== undefined } = props;
  const shown: PlacedColumn<Row>[] = compact ? compactColumns(columns) : columns;
  const names = ['rows', hrefOf && 'linked', compact && 'compact', selectable && 'selectable'];
  return (
    <ScrollArea label={label} class="table">
      <table class={names.filter(Boolean).join(' ')}>
        <thead>
          <tr>
            {selectable && (
              <th scope="col" class="select">
                <label class="needs-script">
                  <input type="checkbox" data-action="select-all" aria-label="Select all" />
                </label>
              </th>
            )}
            {shown.map(({ title, hiddenTitle, ...column }) => (
              <th key={title} scope="col" class={classOf(column)}>
                {hiddenTitle ? <span class="visually-hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {selectable && (
                <td class="select">
                  <label>
                    <input
                      type="checkbox"
                      name="id"
                      value={keyOf(row)}
                      aria-label={labelOf ? `Select ${labelOf(row)}` : 'Select'}
                    />
                  </label>
                </td>
              )}
              {shown.map(({ title, cell, ...column }, index) => (
                <td
                  key={title}
                  class={classOf(column)}
                  data-title={column.number && column.place ? title : undefined}
                >
                  {index === 0 && hrefOf ? (
                    <a class="row-link" href={hrefOf(row)}>
                      {cell(row)}
                    </a>
                  ) : (
                    cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

interface PlacedColumn<Row> extends Column<Row> {
  /** Where a compact row shows it; `lone` if it is the only one beside the first. */
  place?: 'main' | 'fact' | 'fact lone' | 'act' | 'below';
}

function compactColumns<Row>(columns: Column<Row>[]): PlacedColumn<Row>[] {
  const facts = columns.filter(
    ({ wide, hiddenTitle, below }, index) => index > 0 && !wide && !hiddenTitle && !below,
  );
  return columns.map((column, index) => {
    if (index === 0) return { ...column, place: 'main' };
    if (column.hiddenTitle) return { ...column, place: 'act' };
    if (column.below) return { ...column, place: 'below' };
    if (!facts.slice(0, MAX_FACTS).includes(column))
      return { ...column, wide: column.wide ?? true };
    return { ...column, place: facts.length === 1 ? 'fact lone' : 'fact' };
  });
}

const classOf = ({
  number,
  wide,
  place,
}: Pick<PlacedColumn<unknown>, 'number' | 'wide' | 'place'>): string | undefined =>
  [number && 'number', wide && 'wide', wide === 'desktop' && 'desktop', place]
    .filter(Boolean)
    .join(' ') || undefined;

interface PagerProps {
  /** The path of the list. */
  path: string;
  /** The filters of the URL, without cursors. */
  query: Record<string, string | undefined>;
  /** The cursor of this page, if it is not the first. */
  cursors: { starting_after?: string; ending_before?: string };
  rows: { id: string }[];
  hasMore: boolean;
  /** For a list in another order: what the links back and on say. */
  words?: [back: string, on: string];
  /** The part of the page with the list, if it is not at the top. */
  fragment?: string;
}

/** Links to newer and older rows. Nothing for a list that fits on one page. */
export function Pager({ path, query, cursors, rows, hasMore, ...options }: PagerProps) {
  const { words = ['← Newer', 'Older →'], fragment = '' } = options;
  const goesBack = cursors.ending_before !== undefined;
  const hasNewer = goesBack ? hasMore : cursors.starting_after !== undefined;
  const hasOlder = goesBack || hasMore;
  const [first, last] = [rows[0], rows.at(-1)];
  if (!hasNewer && !hasOlder) return null;
  return (
    <nav class="pager screen-only" aria-label="Pages">
      {hasNewer && first && (
        <a
          class="button"
          rel="prev"
          href={pathWith(path, { ...query, ending_before: first.id }) + fragment}
        >
          {words[0]}
        </a>
      )}
      {hasOlder && last && (
        <a
          class="button"
          rel="next"
          href={pathWith(path, { ...query, starting_after: last.id }) + fragment}
        >
          {words[1]}
        </a>
      )}
    </nav>
  );
}

/** A path with the parameters that have a value. */
export function pathWith(path: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
}
