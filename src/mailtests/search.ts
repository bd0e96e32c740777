/** Finds tests by what people remember about them: name, subject, sender, address, or ID. */

import type { SelectQueryBuilder } from 'kysely';
import type { Db } from '../store/open.ts';
import { contains } from '../store/queries.ts';
import type { Tables, TestRow } from '../store/tables.generated.ts';
import { TOKEN_LENGTH } from './queries.ts';

export type FoundTest = Pick<
  TestRow,
  'id' | 'token' | 'name' | 'subject' | 'from_address' | 'score' | 'grade'
>;

/** The latest tests whose text is searched: 30 ms of reading. */
const MAX_SEARCHED_TESTS = 100_000;

const ID = /^test_[0-9a-z]*$/;
const TOKEN = new RegExp(`^[0-9a-z]{${TOKEN_LENGTH}}$`);

/** Tests of this mode, newest first, but a test with exactly this address or ID is the only one. */
export async function searchTests(
  db: Db,
  livemode: boolean,
  text: string,
  limit: number,
): Promise<FoundTest[]> {
  const q = text.trim().toLowerCase();
  const newest = db
    .selectFrom('tests')
    .select('id')
    .where('livemode', '=', livemode ? 1 : 0)
    .orderBy('id', 'desc');
  const idsOf = async (query: Ids): Promise<string[]> =>
    (await query.limit(limit).execute()).map(({ id }) => id);
  let ids: string[] = [];
  const token = q.split('@')[0]!;
  if (TOKEN.test(token)) ids = await idsOf(newest.where('token', '=', token));
  // `{` follows the last letter.
  else if (ID.test(q)) ids = await idsOf(newest.where('id', '>=', q).where('id', '<', `${q}{`));
  if (ids.length === 0) {
    ids = await idsOf(
      db
        .selectFrom(newest.select('search').limit(MAX_SEARCHED_TESTS).as('latest'))
        .select('id')
        .where(contains('search', q))
        .orderBy('id', 'desc') as Ids,
    );
  }
  if (ids.length === 0) return [];
  return db
    .selectFrom('tests')
    .select(['id', 'token', 'name', 'subject', 'from_address', 'score', 'grade'])
    .where('id', 'in', ids)
    .orderBy('id', 'desc')
    .execute();
}

type Ids = SelectQueryBuilder<Tables, 'tests', { id: string }>;
