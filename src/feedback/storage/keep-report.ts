/** What stays of a message once it was read: of one by a reporter that is neither known nor confirmed, only its report. */

import type { App } from '../../app.ts';
import { createBatches } from '../../lib/batches.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { readMessage } from '../../store/chunks.ts';
import { isUnavailable } from '../../store/errors.ts';
import type { FeedbackMailRow } from '../../store/tables.generated.ts';
import { untilAvailable } from '../../store/until-available.ts';
import { replaceContent } from '../expire.ts';
import { readerOf } from '../thread/reader.ts';
import { bytesUntilRead, isKnownMail, isKnownSource, storedOfMails } from './stored.ts';
import { changeStored } from './usage.ts';

/** Without attachments, hardly anything would be saved. */
const MAX_COMPLETE_BYTES = 32 * 1024;

const FINISHED = { due_at: null, lease: null, leased_until: null };

/** Ends the reading of a message in the transaction that deletes what is not kept. `isPersonal`: nothing of it may be kept. */
export async function keepReport(
  app: App,
  mail: FeedbackMailRow,
  isPersonal: boolean,
): Promise<void> {
  const kept = await contentToKeep(app, mail, isPersonal);
  if (kept === undefined) {
    await batchesOf(app)(mail);
    return;
  }
  await untilAvailable(() => replaceContent(app, mail, kept, FINISHED));
  await countStored(app, [mail]);
}

const MAX_TOGETHER = 100;

/** Finishes mails whose content stays as it is, several in one statement. */
const batchesOf = memoizePerObject((app: App) =>
  createBatches<FeedbackMailRow, FeedbackMailRow>({
    async run(mails) {
      const ids = mails.map(({ id }) => id);
      await untilAvailable(() =>
        app.db.updateTable('feedback_mails').set(FINISHED).where('id', 'in', ids).execute(),
      );
      await countStored(app, mails);
      return mails;
    },
    weigh: () => 1,
    maxWeight: MAX_TOGETHER,
    isCommon: isUnavailable,
  }),
);

/** Replaces the reserved bytes with the bytes that the mails take. */
async function countStored(app: App, mails: FeedbackMailRow[]): Promise<void> {
  const stored = await storedOfMails(
    app.db,
    mails.map(({ id }) => id),
  );
  for (const { domain_id, source, size } of mails)
    changeStored(app, domain_id, isKnownSource(source), -bytesUntilRead(size));
  for (const [id, { known, unverified }] of stored) {
    changeStored(app, id || null, true, known);
    changeStored(app, id || null, false, unverified);
  }
}

/** null: keep nothing; undefined: keep the original. */
async function contentToKeep(
  app: App,
  mail: FeedbackMailRow,
  isPersonal: boolean,
): Promise<Uint8Array | null | undefined> {
  if (isPersonal || (await hasNothingToKeep(app, mail))) return null;
  if (mail.size <= MAX_COMPLETE_BYTES || (await isKnown(app, mail))) return undefined;
  return readerOf(app).reduce(await untilAvailable(() => readMessage(app.db, mail)));
}

/** Whether a message has nothing but copies and reports about domains of others, which anyone can send again and again. */
async function hasNothingToKeep({ db }: App, { id, source }: FeedbackMailRow): Promise<boolean> {
  if (isKnownSource(source)) return false;
  const others = await db
    .selectFrom('feedback_reports')
    .select('id')
    .where('mail_id', '=', id)
    .where('status', '<>', 'duplicate')
    .where(({ eb, or }) => or([eb('reason', 'is', null), eb('reason', '<>', 'foreign_domain')]))
    .executeTakeFirst();
  return others === undefined;
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
