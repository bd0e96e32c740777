/** Emails to members who are limited to tags: an admin can have chosen their address for what they may not see. */

import { readLimit } from '../http/limited.ts';
import { type Db, limitedTo, type Tx } from '../store/open.ts';

/** Those of the addresses that belong to limited members for whom `sees` is false. It gets what the member sees. */
export async function hiddenFrom(
  tx: Tx,
  addresses: string[],
  sees: (db: Db) => Promise<boolean>,
): Promise<Set<string>> {
  const members = await tx
    .selectFrom('members')
    .select(['id', 'email', 'tags'])
    .where('email', 'in', ['', ...addresses.map((address) => address.toLowerCase())])
    .where('tags', 'is not', null)
    .execute();
  const hidden = new Set<string>();
  for (const { id, email, tags } of members)
    if (!(await sees(limitedTo(tx, { memberId: id, tags: readLimit(tags)! })))) hidden.add(email);
  return new Set(addresses.filter((address) => hidden.has(address.toLowerCase())));
}
