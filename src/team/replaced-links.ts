/** Links of invitations that a resend has replaced: kept for a while, so that they can say so. */

import type { Db, Tx } from '../store/open.ts';
import type { InvitationRow } from '../store/tables.ts';

/** So many of one invitation are known; of more, some are unknown again. */
const MOST_KEPT = 20;

/** To be called with the invitation as it was before. */
export async function keepReplacedLink(tx: Tx, { id, hash }: InvitationRow): Promise<void> {
  const kept = tx
    .selectFrom('replaced_invitation_links')
    .select('hash')
    .where('invitation_id', '=', id)
    // As good as at random: nothing tells which is older.
    .orderBy('hash')
    .limit(MOST_KEPT - 1);
  await tx
    .deleteFrom('replaced_invitation_links')
    .where('invitation_id', '=', id)
    .where('hash', 'not in', kept)
    .execute();
  await tx
    .insertInto('replaced_invitation_links')
    .values({ hash, invitation_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The invitation to which a link with this hash has once led. */
export async function findByReplacedLink(
  db: Db | Tx,
  hash: string,
): Promise<InvitationRow | undefined> {
  return db
    .selectFrom('replaced_invitation_links as replaced')
    .innerJoin('invitations', 'invitations.id', 'replaced.invitation_id')
    .selectAll('invitations')
    .where('replaced.hash', '=', hash)
    .executeTakeFirst();
}
