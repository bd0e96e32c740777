/** Messages to inboxes: each becomes a test with the settings of the inbox. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { afterCommit, lockName, type Tx } from '../store/open.ts';
import type { InboxRow, MessageRow } from '../store/tables.generated.ts';
import { insertMessage } from './messages.ts';
import { earlierMail, receivedTestRow } from './permanent-address.ts';
import { insertTest } from './queries.ts';
import { insertTags } from './tags.ts';

const HOUR_MS = 3_600_000;

/** An address can leak. What strangers send to it must not fill the disk. */
export const INBOX_LIMITS = {
  /** Messages in an hour, to one inbox and to all inboxes of both modes. */
  perHour: 120,
  totalPerHour: 600,
  /** Bytes in 24 hours, to all inboxes. */
  totalBytesPerDay: 1024 * 1024 * 1024,
};

/** The stored message, which is the earlier message if the same bytes arrive again, or why it is rejected. */
export type InboxMailOutcome = { id: string; testId: string } | { rejected: 'too_many' };

/** Stores a message as a test that is due for analysis. */
export async function storeForInbox(
  tx: Tx,
  app: Pick<App, 'clock' | 'newId' | 'signals'>,
  { inbox, message, raw }: { inbox: InboxRow; message: MessageRow; raw: Uint8Array },
): Promise<InboxMailOutcome> {
  const { id: inbox_id, name, kind, domain_id } = inbox;
  const { repeated, lastHour } = await earlierMail(tx, message, { inbox_id });
  if (repeated) return repeated;
  if (lastHour >= INBOX_LIMITS.perHour || (await isOverTotal(tx, message)))
    return { rejected: 'too_many' };
  const fields = {
    ...{ name, kind, domain_id, livemode: inbox.livemode === 1 },
    metadata: JSON.parse(inbox.metadata) as Record<string, string>,
  };
  const test = { ...receivedTestRow(app, fields, message), inbox_id };
  await insertTest(tx, test);
  await insertTags(tx, test, JSON.parse(inbox.tags));
  await insertMessage(tx, { ...message, test_id: test.id }, raw);
  await tx
    .updateTable('inboxes')
    .set({ last_received_at: message.received_at })
    .where('id', '=', inbox_id)
    .execute();
  afterCommit(tx, () => app.signals.raise(inbox_id));
  return { id: message.id, testId: test.id };
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
