/** The address of a domain that takes what receivers report about it. It never changes, and is not secret. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { derivedToken } from '../../lib/crypto.ts';
import type { Tx } from '../../store/open.ts';

const PREFIX = 'fb-';
const TOKEN_LENGTH = 16;

const tokenOf = (domainId: string): string => derivedToken(`feedback ${domainId}`, TOKEN_LENGTH);

/** `fb-` and 16 characters at the inbox domain. */
export const feedbackAddress = ({ config }: Pick<App, 'config'>, { id }: { id: string }): string =>
  `${PREFIX}${tokenOf(id)}@${config.INBOX_DOMAIN}`;

/** The token in the local part of an address, in lower case and without a plus suffix; null if it is another address. */
export const feedbackToken = (user: string): string | null =>
  user.startsWith(PREFIX) ? user.slice(PREFIX.length) : null;

/** The row that stores what is known about the feedback of a new domain. */
export async function addFeedbackRow(tx: Tx, app: Pick<App, 'clock'>, id: string): Promise<void> {
  await tx
    .insertInto('feedback_domains')
    .values(newRow(app, id))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const newRow = ({ clock }: Pick<App, 'clock'>, id: string) => ({
  id,
  token: tokenOf(id),
  lookup_at: isoTime(clock.now()),
});

/** Adds the rows of domains that a program without them added. */
export async function addMissingFeedbackRows({
  db,
  clock,
}: Pick<App, 'db' | 'clock'>): Promise<void> {
  const missing = await db
    .selectFrom('domains')
    .leftJoin('feedback_domains', 'feedback_domains.id', 'domains.id')
    .select('domains.id')
    .where('feedback_domains.id', 'is', null)
    .execute();
  for (const { id } of missing)
    await db
      .insertInto('feedback_domains')
      .values(newRow({ clock }, id))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}
