/** The titles of tests, from the arrival of their messages, and for lists that name tests without their results. */

import { readSubject } from '../analysis/mime/parse-message.ts';
import { trimText } from '../analysis/run-checks.ts';
import type { Db } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { searchText } from './queries.ts';

export type TitledTest = Pick<
  TestRow,
  'id' | 'name' | 'subject' | 'from_address' | 'status' | 'score' | 'grade' | 'received_at'
> & { hasResult: boolean };

/** Without a name and a subject. Only a result shows that a message has no subject. */
const UNTITLED: Record<TestRow['status'], string> = {
  waiting: 'New test',
  processing: 'Subject not known yet',
  completed: 'No subject',
  failed: 'Failed test',
};

/** What a test is called: its name, else its subject, else what is known instead. */
export function titleOfTest({
  name,
  subject,
  status,
}: Pick<TestRow, 'name' | 'subject' | 'status'>): string {
  return name?.trim() || subject?.trim() || UNTITLED[status];
}

/** Enough for any usual header, and read in less than a millisecond. The analysis reads the rest. */
const MAX_HEAD_BYTES = 64 * 1024;

/** The title and its search text for a message that has just arrived, so that a test has them before its analysis ends. */
export function subjectColumns(
  name: string | null,
  raw: Uint8Array,
): Pick<TestRow, 'subject' | 'search'> {
  const found = readSubject(raw.subarray(0, MAX_HEAD_BYTES));
  const subject = found === null ? null : trimText(found);
  return { subject, search: searchText({ name, subject, from_address: null }) };
}

/** The tests of this mode with these IDs, by ID. Deleted tests are missing. */
export async function findTitledTests(
  db: Db,
  livemode: boolean,
  ids: string[],
): Promise<Map<string, TitledTest>> {
  if (ids.length === 0) return new Map();
  const rows = await titled(db, livemode).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, withResult(row)]));
}

/** The newest tests with a result. */
export async function newestResults(
  db: Db,
  livemode: boolean,
  limit: number,
): Promise<TitledTest[]> {
  const rows = await titled(db, livemode)
    .where('status', '=', 'completed')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(withResult);
}

const titled = (db: Db, livemode: boolean) =>
  db
    .selectFrom('tests')
    .select(['id', 'name', 'subject', 'from_address', 'status', 'score', 'grade', 'received_at'])
    .select(({ eb }) => eb('checks', 'is not', null).as('has_result'))
    .where('livemode', '=', livemode ? 1 : 0);

const withResult = <T extends { has_result: unknown }>({ has_result, ...test }: T) => ({
  ...test,
  // SQLite has no booleans.
  hasResult: Boolean(has_result),
});
