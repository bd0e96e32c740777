/** Adds tags to many domains, or removes them. */

import type { App } from '../app.ts';
import { changeDomain } from '../domains/change-domain.ts';
import { MAX_TAGS } from '../http/tags.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { lockIn, type Tx } from '../store/open.ts';
import type { Author } from '../team/audit.ts';
import type { TagChange } from './schema.ts';

/** All or none: throws `not_found` or `validation_failed` for the first domain that it cannot change. Returns how many differ. */
export async function changeTags(
  tx: Tx,
  author: Author & { app: App },
  { ids, add, remove }: TagChange,
): Promise<number> {
  const both = add.find((tag) => remove.includes(tag));
  if (both !== undefined)
    throw invalidParams([
      {
        param: 'remove',
        code: 'invalid',
        message: `must not contain “${both}”, which is also in add`,
      },
    ]);
  // In one order, so that two such changes do not wait for each other.
  const query = tx.selectFrom('domains').selectAll().where('id', 'in', ids).orderBy('id');
  const rows = await lockIn(tx, query).execute();
  const missing = ids.find((id) => !rows.some((row) => row.id === id));
  if (missing !== undefined) throw new AppError('not_found', `No such domain: ${missing}.`);
  let changed = 0;
  for (const row of rows) {
    const before: string[] = JSON.parse(row.tags);
    const tags = [...new Set([...before.filter((tag) => !remove.includes(tag)), ...add])];
    if (tags.length > MAX_TAGS)
      throw invalidParams([
        {
          param: 'add',
          code: 'invalid',
          message: `would give ${row.name} more than ${MAX_TAGS} tags`,
        },
      ]);
    if ((await changeDomain(tx, author, row, { tags })) !== row) changed++;
  }
  return changed;
}
