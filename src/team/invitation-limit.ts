/** How often the same address gets mail by invitations: nobody's mailbox is filled by sending one again and again. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { InvitationRow } from '../store/tables.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MOST_A_DAY = 5;

/**
 * To be called once the mail of the invitation is queued: throws `rate_limited`, which takes it back,
 * where others went to the same address within the last minute, or five within 24 hours. An invitation
 * that was revoked and made anew counts with them. Without outgoing mail there is nothing to limit.
 */
export async function limitInvitationMail(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { email, mail_id }: Pick<InvitationRow, 'email' | 'mail_id'>,
): Promise<void> {
  if (mail_id === null) return;
  const now = clock.now();
  const earlier = await tx
    .selectFrom('outbox')
    .select('created_at')
    .where('recipient', '=', email)
    .where('created_at', '>', isoTime(now - DAY_MS))
    // Where the clock was put back, what is ahead of it holds up nobody.
    .where('created_at', '<=', isoTime(now))
    .where('id', '!=', mail_id)
    .orderBy('created_at', 'desc')
    .limit(MOST_A_DAY)
    .execute();
  const times = earlier.map(({ created_at }) => Date.parse(created_at));
  const [latest] = times;
  const fifth = times[MOST_A_DAY - 1];
  if (fifth !== undefined) throw tooMany(email, 'five mails in 24 hours', fifth + DAY_MS - now);
  if (latest !== undefined && latest > now - MINUTE_MS)
    throw tooMany(email, 'one mail a minute', latest + MINUTE_MS - now);
}

function tooMany(email: string, most: string, waitMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new AppError(
    'rate_limited',
    `${email} gets at most ${most} from here. Wait, or pass on the link that you have.`,
    [],
    { 'retry-after': String(seconds) },
  );
}
