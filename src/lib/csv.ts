/** Writes CSV (RFC 4180) line by line, so that an export of any size takes little memory. */

/** A column of an export: its name in the first line, and its value of an item. */
export type CsvColumn<Item> = [name: string, value: (item: Item) => string | number | null];

export async function* toCsv<Item>(
  columns: CsvColumn<Item>[],
  items: AsyncIterable<Item> | Iterable<Item>,
): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name));
  for await (const item of items) yield csvLine(columns.map(([, value]) => csvCell(value(item))));
}

/** Header fields of a CSV file that browsers save. `name` has letters, digits, dots and hyphens only. */
export const csvHeaders = (name: string): Record<string, string> => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}.csv"`,
});

/** With these, a cell is a formula; in some languages also with the wide forms of the signs. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Prefixes text that a spreadsheet would evaluate as a formula with an apostrophe, so that it is shown
 * as text.
 */
function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  // Quoted at what some spreadsheets take for the end of a cell, too.
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csvLine = (cells: string[]): string => `${cells.join(',')}\r\n`;
