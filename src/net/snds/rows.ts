/** The data of Microsoft SNDS: CSV without a header line, or JSON with the same fields. Rows that cannot be read are skipped. */

import { parse } from 'csv-parse/sync';
import { normalizeAddress } from '../../lib/addresses.ts';
import { isoTime } from '../../lib/clock.ts';
import { parsePacificTime } from './pacific-time.ts';

export type FilterResult = 'GREEN' | 'YELLOW' | 'RED';

/** One address in one period of activity. What is null was not published. */
export interface SndsAddress {
  /** Normalized. */
  address: string;
  startedAt: string;
  endedAt: string;
  rcptCommands: number;
  dataCommands: number;
  recipients: number;
  filterResult: FilterResult | null;
  /** From 0 to 1. */
  complaintRate: number | null;
  /** Whether the real rate is below it. */
  isBelowRate: boolean;
  comments: string | null;
}

export interface SndsRange {
  /** Normalized, both included. */
  firstAddress: string;
  lastAddress: string;
  blocked: boolean;
  details: string;
}

export interface SndsRows<Row> {
  rows: Row[];
  /** Lines that could not be read. */
  skipped: number;
}

export const parseData = (text: string): SndsRows<SndsAddress> =>
  rowsOf(text, DATA_FIELDS, addressOf);
export const parseStatus = (text: string): SndsRows<SndsRange> =>
  rowsOf(text, STATUS_FIELDS, rangeOf);

function rowsOf<Row>(
  text: string,
  fields: string[],
  rowOf: (cells: string[]) => Row | null,
): SndsRows<Row> {
  const records = /^[\uFEFF\s]*[[{]/.test(text) ? jsonRecords(text, fields) : recordsOf(text);
  const rows = records.map(rowOf).filter((row) => row !== null);
  return { rows, skipped: records.length - rows.length };
}

/** The names of each column in JSON, in lower-case letters, as clients read them or as SNDS calls its columns. */
const DATA_FIELDS = [
  'ipaddress beginningipaddress ip',
  'activitystart activityperiodstart activityperiod',
  'activityend activityperiodend activityperiod',
  'rcptcommands',
  'datacommands data',
  'messagerecipients recipients',
  'filterresult',
  'complaintrate',
  ...Array(5).fill('-'),
  'comments',
];
const STATUS_FIELDS = [
  'beginningipaddress ipaddress',
  'endingipaddress ipaddress',
  'blocked isblocked',
  'reason details',
];

/** The cells of each row in the order of CSV, of a list or one in an envelope. What cannot be read is a row without cells. */
function jsonRecords(text: string, fields: string[]): string[][] {
  let list: unknown;
  try {
    const json = JSON.parse(text.replace(/^\uFEFF/, ''));
    list = json.value ?? json.data ?? json;
  } catch {
    // Not JSON, either.
  }
  return (Array.isArray(list) ? list : [{}]).map((row) => {
    const values = Object.entries(row ?? {}).map(
      ([name, value]) => [name.toLowerCase().replace(/[^a-z]/g, ''), value] as const,
    );
    const cells = Array.isArray(row)
      ? row
      : fields.map((names) => values.find(([name]) => names.split(' ').includes(name))?.[1]);
    return cells.map((cell) => (typeof cell === 'object' ? '' : String(cell ?? '')));
  });
}

const MAX_RECORD = 16_384;
const OPTIONS = { bom: true, trim: true, skip_empty_lines: true, max_record_size: MAX_RECORD };

/** Such a line takes long to be read if it is not valid. */
const MAX_SINGLE_LINES = 1000;

/**
 * An invalid quote may reach to any later line. Then each line with a quote is read by itself; one that cannot be
 * read has no cells.
 */
function recordsOf(text: string): string[][] {
  const lines = text.split(/\r\n|\r|\n/);
  const short = lines.filter((line) => line.length < MAX_RECORD);
  if (short.length === lines.length)
    try {
      return parse(text, OPTIONS);
    } catch {
      // Some line is not valid.
    }
  const plain = short.filter((line) => !line.includes('"'));
  const single = short.filter((line) => line.includes('"')).slice(0, MAX_SINGLE_LINES);
  return [
    ...parse(plain.join('\n'), { ...OPTIONS, relax_column_count: true }),
    ...single.flatMap(recordOf),
    ...Array.from({ length: lines.length - plain.length - single.length }, () => []),
  ];
}

function recordOf(line: string): string[][] {
  try {
    return parse(line, OPTIONS);
  } catch {
    return [[]];
  }
}

const COLUMNS = 14;
const MAX_TEXT = 500;

function addressOf(cells: string[]): SndsAddress | null {
  if (cells.length < COLUMNS) return null;
  const [ip = '', start = '', end = '', rcpt = '', data = '', recipients = ''] = cells;
  // Microsoft has sent neither trap hits nor samples, which are between these, since June 2026.
  const [filter = '', complaints = '', , , , , , comments = ''] = cells.slice(6);
  const address = normalizeAddress(ip);
  const startedAt = parsePacificTime(start);
  const endedAt = parsePacificTime(end);
  const counts = [rcpt, data, recipients].map(countOf);
  if (address === null || startedAt === null || endedAt === null || endedAt < startedAt)
    return null;
  if (!counts.every((count) => count !== null)) return null;
  return {
    address,
    startedAt: isoTime(startedAt),
    endedAt: isoTime(endedAt),
    rcptCommands: counts[0]!,
    dataCommands: counts[1]!,
    recipients: counts[2]!,
    filterResult: filterResultOf(filter),
    ...complaintsOf(complaints),
    comments: textOf(comments),
  };
}

function rangeOf(cells: string[]): SndsRange | null {
  const [first = '', last = '', blocked = '', ...details] = cells;
  const firstAddress = normalizeAddress(first);
  const lastAddress = normalizeAddress(last);
  const answer = /^(?:(yes|true)|no|false)$/i.exec(blocked);
  if (firstAddress === null || lastAddress === null || !answer) return null;
  return {
    firstAddress,
    lastAddress,
    blocked: answer[1] !== undefined,
    details: textOf(details.join(', ')) ?? '',
  };
}

const countOf = (text: string): number | null => (/^\d{1,9}$/.test(text) ? Number(text) : null);

function filterResultOf(text: string): FilterResult | null {
  const upper = text.toUpperCase();
  return upper === 'GREEN' || upper === 'YELLOW' || upper === 'RED' ? upper : null;
}

/** `< 0.1%` or `0.3%`. */
function complaintsOf(text: string): Pick<SndsAddress, 'complaintRate' | 'isBelowRate'> {
  const [, below, percent] = /^(<)?\s*(\d{1,3}(?:\.\d{1,6})?)\s*%$/.exec(text) ?? [];
  const rate = percent === undefined ? null : Number((Number(percent) / 100).toFixed(8));
  const complaintRate = rate !== null && rate <= 1 ? rate : null;
  return { complaintRate, isBelowRate: complaintRate !== null && below !== undefined };
}

function textOf(text: string): string | null {
  const clean = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return clean === '' ? null : clean.slice(0, MAX_TEXT);
}
