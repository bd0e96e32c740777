/** Ends every way into an account, where it goes to another person. */

import type { Tx } from '../store/open.ts';
import { revokeInvitationsOf } from './members.ts';
import { endPasswordLinks } from './password-links.ts';
import { endSessions } from './sessions.ts';

/** What there was of each, for the audit log. */
export interface EndedAccess {
  sessions_ended: number;
  keys_ended: number;
  invitations_revoked: number;
}

/**
 * Whoever had the account has nothing of it left: no session, key, password or link to set one, and
 * no invitation of theirs, whose link they know and could accept. `now` is in ISO 8601.
 */
export async function endAccess(tx: Tx, memberId: string, now: string): Promise<EndedAccess> {
  await tx.updateTable('members').set({ password_hash: null }).where('id', '=', memberId).execute();
  await endPasswordLinks(tx, memberId, Date.parse(now));
  const keys = await tx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('member_id', '=', memberId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    sessions_ended: await endSessions(tx, memberId),
    keys_ended: Number(keys.numUpdatedRows),
    invitations_revoked: await revokeInvitationsOf(tx, memberId, now),
  };
}
