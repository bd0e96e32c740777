/** Deletes messages and files as they came, before their time, to make room. What was read from them stays. */

import type { App } from '../../app.ts';
import { dropContent } from '../expire.ts';
import { isKnownMail } from './stored.ts';
import { changeStored } from './usage.ts';

const STEP_MAILS = 20;

/** The oldest of known reporters and members first, at least so many bytes if there are. `domainId`: only those of this domain. */
export async function deleteOriginals(
  app: App,
  domainId: string | null,
  bytes: number,
): Promise<void> {
  for (let deleted = 0; deleted < bytes; ) {
    let query = app.db
      .selectFrom('feedback_mails as mail')
      .select(['mail.id', 'mail.size', 'mail.domain_id'])
      .where('mail.due_at', 'is', null)
      .where('mail.size', '>', 0)
      .where(isKnownMail('mail'))
      .orderBy('mail.received_at')
      .orderBy('mail.id')
      .limit(STEP_MAILS);
    if (domainId !== null) query = query.where('mail.domain_id', '=', domainId);
    const oldest = await query.execute();
    if (oldest.length === 0) return;
    for (const mail of oldest) {
      if (deleted >= bytes) return;
      await dropContent(app, mail);
      changeStored(app, mail.domain_id, true, -mail.size);
      deleted += mail.size;
    }
  }
}
