/** Writes CSV (RFC 4180) line by line, so that an export of any size takes little memory. */

type Cell = string | number | null;

/** The names of the fields that are cells as they are. */
type Field<Item> = {
  [Name in keyof Item & string]: Item[Name] extends Cell ? Name : never;
}[keyof Item & string];

/** A column of an export: a field of the items or, with another name or value, what the first line calls it and its value. */
export type CsvColumn<Item> = Field<Item> | [name: string, value: (item: Item) => Cell];

export async function* toCsv<Item>(
  columns: CsvColumn<Item>[],
  items: AsyncIterable<Item> | Iterable<Item>,
): AsyncGenerator<string> {
  yield csvLine(columns.map((column) => (typeof column === 'string' ? column : column[0])));
  for await (const item of items)
    yield csvLine(
      columns.map((column) =>
        csvCell(typeof column === 'string' ? (item[column] as Cell) : column[1](item)),
      ),
    );
}

/** With these, a cell is a formula; in some languages also with the wide forms of the signs. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Prefixes text that a spreadsheet would evaluate as a formula with an apostrophe, so that it is shown
 * as text.
 */
function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  // Quoted at what some spreadsheets take for the end of a cell, too.
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csvLine = (cells: string[]): string => `${cells.join(',')}\r\n`;
