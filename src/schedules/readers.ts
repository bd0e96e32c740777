/** Readers of a schedule, who leave and come back by the link in a mail, which is all that they need. */

import type { App } from '../app.ts';
import type { Transact } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import type { Author } from '../team/audit.ts';
import { noteSchedule, withdrawCopies } from './change-schedule.ts';

/** The token of a reader's link, the same in each mail: whoever has it decides whether they go on reading. */
export function readerToken(
  { secrets }: Pick<App, 'secrets'>,
  scheduleId: string,
  email: string,
): string {
  return secrets.token(email, `reader of ${scheduleId}`);
}

/** What the page of the link shows. */
export interface Reader {
  scheduleId: string;
  name: string;
  frequency: ReportScheduleRow['frequency'];
  email: string;
  /** Since when they get no more; null while they do. */
  leftAt: string | null;
}

/** Throws `not_found`. */
export async function findReader(db: Db | Tx, token: string): Promise<Reader> {
  const row = await db
    .selectFrom('report_readers as reader')
    .innerJoin('report_schedules as schedule', 'schedule.id', 'reader.schedule_id')
    .select([
      'schedule.id as scheduleId',
      'schedule.name',
      'schedule.frequency',
      'reader.email',
      'reader.left_at as leftAt',
    ])
    .where('reader.token_hash', '=', sha256(token))
    .executeTakeFirst();
  if (!row)
    throw new AppError(
      'not_found',
      'There is no such link, or the report that it belongs to is not sent to you any more.',
    );
  return row;
}

type ReaderRequest = Author & { app: App; transact: Transact };

/** They get no more, of what waits already either. Once they have left, nothing happens. Throws `not_found`. */
export async function leave(author: ReaderRequest, token: string): Promise<Reader> {
  const { clock } = author.app;
  return author.transact(async (tx) => {
    const reader = await findReader(tx, token);
    if (reader.leftAt !== null) return reader;
    const leftAt = isoTime(clock.now());
    await setLeft(tx, reader, leftAt);
    await withdrawCopies(tx, reader.scheduleId, {
      recipients: [reader.email],
      status: 'unsubscribed',
      reason: 'its reader has unsubscribed',
    });
    await noteReader(tx, author, 'unsubscribed', reader);
    return { ...reader, leftAt };
  });
}

/** They get the next one again. Who never left stays. Throws `not_found`. */
export async function comeBack(author: ReaderRequest, token: string): Promise<Reader> {
  return author.transact(async (tx) => {
    const reader = await findReader(tx, token);
    if (reader.leftAt === null) return reader;
    await setLeft(tx, reader, null);
    await noteReader(tx, author, 'resubscribed', reader);
    return { ...reader, leftAt: null };
  });
}

async function setLeft(tx: Tx, { scheduleId, email }: Reader, left_at: string | null) {
  await tx
    .updateTable('report_readers')
    .set({ left_at })
    .where('schedule_id', '=', scheduleId)
    .where('email', '=', email)
    .execute();
}

async function noteReader(tx: Tx, author: Author, what: string, { scheduleId, email }: Reader) {
  await noteSchedule(tx, author, what, scheduleId, { email });
}

/** Of these addresses, those that have left. */
export async function readersGone(
  db: Db | Tx,
  scheduleId: string,
  emails: string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('report_readers')
    .select('email')
    .where('schedule_id', '=', scheduleId)
    .where('email', 'in', emails)
    .where('left_at', 'is not', null)
    .execute();
  return new Set(rows.map(({ email }) => email));
}

/** So that the link in a mail is known; of a reader of before the token may be another, by a new secret key. */
export async function keepReader(
  tx: Tx,
  app: Pick<App, 'secrets'>,
  schedule_id: string,
  email: string,
): Promise<void> {
  const token_hash = sha256(readerToken(app, schedule_id, email));
  await tx
    .insertInto('report_readers')
    .values({ schedule_id, email, token_hash, left_at: null })
    .onConflict((conflict) =>
      conflict.columns(['schedule_id', 'email']).doUpdateSet({ token_hash }),
    )
    .execute();
}
