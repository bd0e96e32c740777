/** Messages to inboxes: each becomes a test with the settings of the inbox. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { type Destination, NO_SUCH_ADDRESS, reject } from '../smtp/destination.ts';
import { afterCommit, lockName, type Tx } from '../store/open.ts';
import type { InboxRow, MessageRow } from '../store/tables.generated.ts';
import { findInboxByToken } from './inboxes.ts';
import { insertMessage } from './messages.ts';
import { earlierMail, receivedTestRow } from './permanent-address.ts';
import { ANALYZE_JOB, insertTest } from './queries.ts';
import { type StoreOutcome, storeMail } from './receive.ts';
import { insertTags } from './tags.ts';

/** An address can leak. What strangers send to it must not fill the disk. */
export const INBOX_LIMITS = {
  /** Messages in an hour, to one inbox and to all inboxes of both modes. */
  perHour: 120,
  totalPerHour: 600,
  /** Bytes in 24 hours, to all inboxes. */
  totalBytesPerDay: 1024 * 1024 * 1024,
};

const TOO_MANY = reject(452, '4.2.1', 'Too many messages to this address, try again later');

export const inboxDestination = (app: App): Destination => ({
  label: 'test',
  maxSize: app.config.SMTP_MAX_SIZE,
  single: true,
  check: async ({ local }) => ((await findInboxByToken(app.db, local)) ? { accept: true } : null),
  receive(mail) {
    const [{ address, local }] = mail.recipients;
    return storeMail(app, mail, {
      recipient: address,
      job: ANALYZE_JOB,
      async store(tx, message, raw) {
        const inbox = await findInboxByToken(tx, local);
        return inbox ? storeForInbox(tx, app, { inbox, message, raw }) : NO_SUCH_ADDRESS;
      },
    });
  },
});

/** Stores a message as a test that is due for analysis. */
async function storeForInbox(
  tx: Tx,
  app: Pick<App, 'clock' | 'newId' | 'signals'>,
  { inbox, message, raw }: { inbox: InboxRow; message: MessageRow; raw: Uint8Array },
): Promise<StoreOutcome> {
  const { id: inbox_id, name, kind, domain_id } = inbox;
  const { repeated, lastHour } = await earlierMail(tx, message, { inbox_id });
  if (repeated) return { accept: true, ...repeated };
  if (lastHour >= INBOX_LIMITS.perHour || (await isOverTotal(tx, message))) return TOO_MANY;
  const fields = {
    name,
    kind,
    domain_id,
    livemode: inbox.livemode === 1,
    metadata: JSON.parse(inbox.metadata) as Record<string, string>,
  };
  const { limited_to } = inbox;
  const test = { ...receivedTestRow(app, fields, message, raw), inbox_id, limited_to };
  await insertTest(tx, test);
  await insertTags(tx, test, JSON.parse(inbox.tags));
  await insertMessage(tx, { ...message, test_id: test.id }, raw);
  await tx
    .updateTable('inboxes')
    .set({ last_received_at: message.received_at })
    .where('id', '=', inbox_id)
    .execute();
  afterCommit(tx, () => app.signals.raise(inbox_id));
  return { accept: true, id: message.id, testId: test.id };
}

async function isOverTotal(tx: Tx, { received_at, size }: MessageRow): Promise<boolean> {
  await lockName(tx, 'mail for inboxes');
  const at = Date.parse(received_at);
  const { bytes, messages } = await tx
    .selectFrom('tests')
    .select(({ fn, eb }) => [
      fn.sum<number>('message_size').as('bytes'),
      fn
        .sum<number>(
          eb
            .case()
            .when('created_at', '>', isoTime(at - HOUR_MS))
            .then(1)
            .else(0)
            .end(),
        )
        .as('messages'),
    ])
    .where('inbox_id', 'is not', null)
    .where('created_at', '>', isoTime(at - 24 * HOUR_MS))
    .executeTakeFirstOrThrow();
  return (
    Number(messages ?? 0) >= INBOX_LIMITS.totalPerHour ||
    Number(bytes ?? 0) + size > INBOX_LIMITS.totalBytesPerDay
  );
}
