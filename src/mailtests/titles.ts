/** The titles of tests, for lists that name tests without their results. */

import type { Db } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';

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
