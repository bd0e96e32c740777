/** Reads a stored message or file: its reports are recorded, each once, whatever interrupts it. */

import type { App } from '../app.ts';
import { requireSpare } from '../http/disk-space.ts';
import { isoTime } from '../lib/clock.ts';
import { MessageDeletedError, readMessage } from '../store/chunks.ts';
import type { FeedbackMailRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { isPersonal, MAX_BATCH_WEIGHT, recordItem, weightOf } from './record/record.ts';
import { keepReport } from './storage/keep-report.ts';
import { claimedDomain } from './storage/verify-before-reply.ts';
import type { PreparedItem } from './thread/prepare.ts';
import { readerOf } from './thread/reader.ts';
import type { Verification } from './thread/verify.ts';

/** Times at which a message is verified whose DNS does not answer: two days, as a mail server would try. */
const VERIFY_ATTEMPTS = 8;
const RETRY_MS = 15 * 60_000;
/** A file cannot end the process, only its thread. This bounds what nobody has thought of, and not a process that is killed often. */
const MAX_ATTEMPTS = 1000;

/**
 * Reads and records. Resolves with false if it is due again later, because DNS did not answer. A repetition, even after a crash
 * at any point, records only what is missing.
 */
export async function readMail(app: App, mail: FeedbackMailRow): Promise<boolean> {
  const found = await readItems(app, mail);
  return found === null || record(app, found);
}

/** The same for all files of a request. Reads all of them, even if one fails; then rejects with its error. */
export async function readMails(app: App, mails: FeedbackMailRow[]): Promise<void> {
  const results: Promise<unknown>[] = [];
  let group: Promise<ReadMail | null>[] = [];
  let weight = 0;
  const recordGroup = () => {
    const recorded = group.map(async (read) => {
      const found = await read;
      return found && record(app, found);
    });
    [group, weight] = [[], 0];
    results.push(...recorded);
    return Promise.allSettled(recorded);
  };
  for (const mail of mails) {
    const read = readItems(app, mail);
    group.push(read);
    const found = await read.catch(() => null);
    for (const item of found?.items ?? [])
      weight += Math.max(weightOf(item), item.ok ? item.rowCount : 0);
    // Limits how much is in memory.
    if (weight >= MAX_BATCH_WEIGHT) await recordGroup();
  }
  await recordGroup();
  await Promise.all(results);
}

interface ReadMail {
  mail: FeedbackMailRow;
  items: PreparedItem[];
  verification: Verification;
}

/** Null if the mail was deleted, with its domain or by retention. */
async function readItems(app: App, mail: FeedbackMailRow): Promise<ReadMail | null> {
  const read = () => untilAvailable(() => readMessage(app.db, mail));
  try {
    const items = (await isGivenUp(app, mail))
      ? [GIVEN_UP]
      : await readerOf(app).read(await read(), Date.parse(mail.received_at));
    return { mail, items, verification: await verify(app, mail, items, read) };
  } catch (error) {
    if (error instanceof MessageDeletedError) return null;
    throw error;
  }
}

async function record(app: App, { mail, items, verification }: ReadMail): Promise<boolean> {
  const { signer, isUndecided } = verification;
  // The client of an upload waits for the result, and can upload the message again.
  const isLast = mail.source !== 'smtp' && mail.authserv === null;
  if (isUndecided && !isLast && mail.attempts < VERIFY_ATTEMPTS) {
    await retryLater(app, mail);
    return false;
  }
  // The remaining reports are recorded once there is space: the reserve is for messages to tests.
  await requireSpare(app);
  const recorded = items.map((item, position) => recordItem(app, { mail, position, item, signer }));
  await Promise.allSettled(recorded);
  await Promise.all(recorded);
  await keepReport(app, mail, items.some(isPersonal) && !app.config.FEEDBACK_KEEP_MESSAGES);
  return true;
}

const GIVEN_UP: PreparedItem = {
  ok: false,
  reason: 'unreadable',
  detail: `Reading it failed ${MAX_ATTEMPTS} times.`,
  type: null,
};

/** What could be read once is read again, so that its rows are complete. */
async function isGivenUp({ db }: App, { id, attempts }: FeedbackMailRow): Promise<boolean> {
  if (attempts < MAX_ATTEMPTS) return false;
  const report = await db
    .selectFrom('feedback_reports')
    .select('id')
    .where('mail_id', '=', id)
    .executeTakeFirst();
  return report === undefined;
}

/** Uploads need no proof, and what comes over HTTPS has none. */
async function verify(
  app: App,
  mail: FeedbackMailRow,
  items: PreparedItem[],
  read: () => Promise<Uint8Array>,
): Promise<Verification> {
  if (mail.source !== 'smtp' && mail.source !== 'imap') return NO_SIGNER;
  const raw = await read();
  // A refused report matters only if a known or confirmed reporter sent it.
  const matters = items.some(({ ok }) => ok) || (await claimedDomain(app, raw)) !== null;
  return matters ? verifyStored(app, mail, raw) : NO_SIGNER;
}

const NO_SIGNER: Verification = { signer: null, isUndecided: false };

/** Who a stored message authenticates. Rejects with ThreadEndedError. */
export const verifyStored = (
  app: App,
  { envelope, received_at, authserv }: FeedbackMailRow,
  raw: Uint8Array,
): Promise<Verification> =>
  readerOf(app).verify(
    raw,
    envelope === null ? null : JSON.parse(envelope),
    Date.parse(received_at),
    authserv === null ? {} : { servers: JSON.parse(authserv) },
  );

const retryLater = (app: App, mail: FeedbackMailRow): Promise<unknown> =>
  app.db
    .updateTable('feedback_mails')
    .set({
      due_at: isoTime(app.clock.now() + RETRY_MS * 2 ** mail.attempts),
      lease: null,
      leased_until: null,
    })
    .where('id', '=', mail.id)
    .execute();
