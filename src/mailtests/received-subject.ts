/** The subject of a message that has just arrived, so that a test has a title before its analysis ends. */

import { readSubject } from '../analysis/mime/parse-message.ts';
import { trimText } from '../analysis/run-checks.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { searchText } from './queries.ts';

/** Enough for any usual header, and read in less than a millisecond. The analysis reads the rest. */
const MAX_HEAD_BYTES = 64 * 1024;

/** The columns of a test that its name and the beginning of its message decide. */
export function subjectColumns(
  name: string | null,
  raw: Uint8Array,
): Pick<TestRow, 'subject' | 'search'> {
  const found = readSubject(raw.subarray(0, MAX_HEAD_BYTES));
  const subject = found === null ? null : trimText(found);
  return { subject, search: searchText({ name, subject, from_address: null }) };
}
