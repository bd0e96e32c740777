/** What stays of a message once it was read: of one by a reporter that is neither known nor confirmed, only its report. */

import type { App } from '../../app.ts';
import { readMessage } from '../../store/chunks.ts';
import type { FeedbackMailRow } from '../../store/tables.generated.ts';
import { untilAvailable } from '../../store/until-available.ts';
import { dropContent, replaceContent } from '../expire.ts';
import { readerOf } from '../thread/reader.ts';
import { bytesOfMail, isKnownMail, isKnownSource, storedOfMail } from './stored.ts';
import { changeStored } from './usage.ts';

/** Without attachments, hardly anything would be saved. */
const MAX_COMPLETE_BYTES = 32 * 1024;

/** `isPersonal`: nothing of it may be kept. */
export async function keepReport(
  app: App,
  mail: FeedbackMailRow,
  isPersonal: boolean,
): Promise<void> {
  const { db } = app;
  if (isPersonal) await dropContent(app, mail);
  else if (mail.size > MAX_COMPLETE_BYTES && !(await isKnown(app, mail))) {
    const raw = await untilAvailable(() => readMessage(db, mail));
    await replaceContent(app, mail, await readerOf(app).reduce(raw));
  }
  const stored = await storedOfMail(db, mail.id);
  changeStored(app, mail.domain_id, isKnownSource(mail.source), -bytesOfMail(mail.size));
  for (const [id, { known, unverified }] of stored) {
    changeStored(app, id || null, true, known);
    changeStored(app, id || null, false, unverified);
  }
}

async function isKnown({ db }: App, { id }: FeedbackMailRow): Promise<boolean> {
  const row = await db
    .selectFrom('feedback_mails as mail')
    .select('mail.id')
    .where('mail.id', '=', id)
    .where(isKnownMail('mail'))
    .executeTakeFirst();
  return row !== undefined;
}
