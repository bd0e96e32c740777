/** Columns with JSON and booleans, which are text and 0 or 1 in the database: each table declares its own once. */

type Kind = 'json' | 'boolean';

/** A row with these fields decoded. */
type Decoded<Row, Fields> = Omit<Row, keyof Fields> & Pick<Fields, keyof Row & keyof Fields>;

/** The old and the new value of a field, for the audit log. */
interface Difference {
  from: unknown;
  to: unknown;
}

interface RowCodec<Row, Fields> {
  /** Also of a row with some of the columns only. */
  decode<Some extends Partial<Row>>(row: Some): Decoded<Some, Fields>;
  /** Fields that are undefined are left out. */
  encode<Some extends Partial<Decoded<Row, Fields>>>(
    values: Some,
  ): Pick<Row, keyof Row & keyof Some>;
  /** The columns whose values the patch changes, and the differences. */
  changes(
    row: Row,
    patch: Partial<Decoded<Row, Fields>>,
  ): { columns: Partial<Row>; details: Record<string, Difference> };
}

/** `Fields` are the types of the decoded columns. A column that is null stays null. */
export function rowCodec<
  Row extends object,
  Fields extends { [K in keyof Fields & keyof Row]: unknown },
>(kinds: Record<keyof Fields, Kind>): RowCodec<Row, Fields> {
  const kindOf = (column: string): Kind | undefined => (kinds as Record<string, Kind>)[column];
  const decodeValue = (column: string, value: unknown): unknown => {
    const kind = value === null ? undefined : kindOf(column);
    if (kind === 'json') return JSON.parse(value as string);
    return kind === 'boolean' ? value === 1 : value;
  };
  const encodeValue = (column: string, value: unknown): unknown => {
    const kind = value === null ? undefined : kindOf(column);
    if (kind === 'json') return JSON.stringify(value);
    return kind === 'boolean' ? Number(value) : value;
  };
  const entriesOf = (values: object) =>
    Object.entries(values).filter(([, value]) => value !== undefined);
  const encode = (values: object) =>
    Object.fromEntries(
      entriesOf(values).map(([column, value]) => [column, encodeValue(column, value)]),
    );
  const decode = (row: object) =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]) => [column, decodeValue(column, value)]),
    );
  return {
    decode: decode as never,
    encode: encode as never,
    changes(row, patch) {
      const stored = row as Record<string, unknown>;
      const columns = Object.fromEntries(
        Object.entries(encode(patch)).filter(([column, value]) => stored[column] !== value),
      );
      const details = Object.fromEntries(
        Object.entries(columns).map(([column, to]) => [
          column,
          { from: decodeValue(column, stored[column]), to: decodeValue(column, to) },
        ]),
      );
      return { columns: columns as Partial<Row>, details };
    },
  };
}
