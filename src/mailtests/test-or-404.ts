/** A test by its id, for the operations on one. */

import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import type { TestRow } from '../store/tables.ts';
import { findTest } from './queries.ts';

/** Throws `not_found`, for a test of the other mode too. */
export async function testOr404(
  { db }: Pick<App, 'db'>,
  id: string,
  livemode: boolean,
): Promise<TestRow> {
  const row = await findTest(db, id, livemode);
  if (!row) throw new AppError('not_found', 'There is no test with this id.');
  return row;
}
