/** A field `domain_id` of a request names a domain of the team, or none. */

import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import { findDomain } from './queries.ts';

/** Throws `validation_failed`, which names the field. */
export async function requireDomain(db: Db | Tx, id: string | null): Promise<void> {
  if (id === null || (await findDomain(db, id))) return;
  const message = 'names no domain of the team';
  throw new AppError('validation_failed', `Wrong: domain_id ${message}.`, [
    { param: 'domain_id', code: 'invalid', message },
  ]);
}
