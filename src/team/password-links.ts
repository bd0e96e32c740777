/** Links by which a member sets a password: made, looked up, used once. */

import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import { audit } from './audit.ts';
import type { TeamContext } from './members.ts';

/** How long a link works: that of an e-mail, and that of the `owner` command. */
export const MAILED_LINK_MS = 3_600_000;
const OWNER_LINK_MS = 24 * 3_600_000;
/** Who has so many in the inbox that work still needs no other. */
const MOST_MAILED = 5;

/**
 * Whether a member has been sent as many links as work at a time: as anybody may ask for one, no
 * request ends another link, and there are not more and more of them.
 */
export async function hasEnoughLinks(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  memberId: string,
): Promise<boolean> {
  const now = clock.now();
  const { live } = await tx
    .selectFrom('password_links')
    .select(({ fn }) => fn.countAll().as('live'))
    .where('member_id', '=', memberId)
    .where('used_at', 'is', null)
    // Live and of an e-mail: that of the `owner` command is older, or works for longer.
    .where('created_at', '>', isoTime(now - MAILED_LINK_MS))
    .where('expires_at', '<=', isoTime(now + MAILED_LINK_MS))
    .executeTakeFirstOrThrow();
  return Number(live) >= MOST_MAILED;
}

/** A new link, beside those that there are; its token is in this answer alone, the database has the hash. */
export async function insertPasswordLink(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  memberId: string,
  lifeMs: number,
): Promise<{ token: string; hash: string }> {
  const now = clock.now();
  const token = randomSecret();
  const hash = sha256(token);
  await tx
    .insertInto('password_links')
    .values({
      hash,
      member_id: memberId,
      created_at: isoTime(now),
      expires_at: isoTime(now + lifeMs),
      used_at: null,
    })
    .execute();
  return { token, hash };
}

/** The link that the `owner` command prints, and what the audit log has of it. Those before work no more. */
export async function makeOwnerLink(
  { db, clock, newId }: TeamContext,
  config: Pick<Config, 'APP_URL'>,
  ownerId: string,
): Promise<string> {
  return db.transaction().execute(async (tx) => {
    await endPasswordLinks(tx, ownerId, clock.now());
    const { token } = await insertPasswordLink(tx, { clock }, ownerId, OWNER_LINK_MS);
    const author = { app: { clock, newId }, actor: null, caller: { ip: null } };
    const object = { type: 'team_member', id: ownerId };
    await audit(tx, author, { action: 'password.reset_requested', object });
    return passwordLinkUrl(config, token);
  });
}

/** Where the link leads. */
export function passwordLinkUrl({ APP_URL }: Pick<Config, 'APP_URL'>, token: string): string {
  return `${APP_URL}/password/${token}`;
}

/** None of the links of a member works any more. */
export async function endPasswordLinks(tx: Tx, memberId: string, now: number): Promise<void> {
  await tx
    .updateTable('password_links')
    .set({ used_at: isoTime(now) })
    .where('member_id', '=', memberId)
    .where('used_at', 'is', null)
    .execute();
}

interface LinkHolder {
  id: string;
  email: string;
}

/** Whose password the link sets. Throws `not_found`, or `gone` where it was used, ended or has expired. */
export async function openPasswordLink(
  db: Db | Tx,
  now: number,
  token: string,
): Promise<LinkHolder> {
  const link = await db
    .selectFrom('password_links')
    .innerJoin('members', 'members.id', 'password_links.member_id')
    .select(['members.id', 'email', 'expires_at', 'used_at'])
    .where('hash', '=', sha256(token))
    .executeTakeFirst();
  if (!link) throw new AppError('not_found', 'This link is not known.');
  if (link.used_at !== null)
    throw new AppError(
      'gone',
      'This link has been used, or was ended by another link or a new password.',
    );
  if (Date.parse(link.expires_at) <= now) throw new AppError('gone', 'This link has expired.');
  return { id: link.id, email: link.email };
}
