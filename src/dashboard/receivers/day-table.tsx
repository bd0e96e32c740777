/** The figures of a chart or of a receiver by day, folded. */

import type { ComponentChildren } from 'preact';
import { ScrollArea } from '../../ui/components.tsx';
import { Fold } from '../frame/states.tsx';
import { Day } from '../frame/times.tsx';

export interface DayColumn<Row> {
  title: string;
  /** Whether the cells are numbers. */
  number?: boolean;
  cell(row: Row): ComponentChildren;
}

interface DayTableProps<Row> {
  label: string;
  summary?: string;
  rows: Row[];
  keyOf(row: Row): string;
  hrefOf?(row: Row): string;
  columns: DayColumn<Row>[];
}

/** What is null was not published, which is not 0. */
export const orNothing = <T,>(value: T | null, format: (value: T) => string): string =>
  value === null ? '–' : format(value);

export function DayTable<Row extends { date: string }>(props: DayTableProps<Row>) {
  const { label, summary = 'Show all days as a table', rows, keyOf, hrefOf, columns } = props;
  const classOf = ({ number }: DayColumn<Row>) => (number ? 'number' : undefined);
  if (rows.length === 0) return null;
  return (
    <Fold summary={summary}>
      <ScrollArea label={label}>
        <table class="compact day-table">
          <thead>
            <tr>
              <th scope="col">Day</th>
              {columns.map((column) => (
                <th key={column.title} scope="col" class={classOf(column)}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)}>
                <th scope="row">
                  {hrefOf ? (
                    <a href={hrefOf(row)}>
                      <Day day={row.date} />
                    </a>
                  ) : (
                    <Day day={row.date} />
                  )}
                </th>
                {columns.map((column) => (
                  <td key={column.title} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea>
    </Fold>
  );
}
