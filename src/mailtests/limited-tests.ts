/** Tests and inboxes whose creator is limited to tags: nothing of the domains of others gets into them. */

import { readLimit } from '../http/limited.ts';
import { type Db, limitedTo, type Tx } from '../store/open.ts';

/** What the creator of a test may see. `limitedTo` is the column `limited_to`. */
export function visibleTo<D extends Db | Tx>(db: D, limit: string | null): D {
  const tags = readLimit(limit);
  // Nobody: a test knows no member.
  return tags === null ? db : (limitedTo(db, { memberId: '', tags }) as D);
}
