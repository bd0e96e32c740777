/** Test mail comes in: which address takes it, and the one transaction after which it is safe. */

import type { Envelope } from '../analysis/check.ts';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { SEND_JOB } from '../outbox/queue.ts';
import type { Tx } from '../store/open.ts';
import type { MessageRow } from '../store/tables.generated.ts';
import { dropPieces, findMessageOf, insertMessage, storeTail } from './messages.ts';
import { passOn } from './postmaster.ts';
import { ANALYZE_JOB, findTestByToken } from './queries.ts';

/** A reply of the protocol (RFC 5321 §4.2, RFC 3463). */
interface Refusal {
  accept: false;
  code: number;
  enhanced: string;
  text: string;
}

const refuse = (code: number, enhanced: string, text: string): Refusal => ({
  accept: false,
  code,
  enhanced,
  text,
});

const NO_SUCH = refuse(550, '5.1.1', 'There is no such test address');
const EXPIRED = refuse(550, '5.2.1', 'This test address has expired');
const USED = refuse(550, '5.2.1', 'This test address has had its message');
const MAILBOX_FULL = refuse(452, '4.2.2', 'This mailbox is full');
const FULL = refuse(452, '4.3.1', 'There is no room for messages now');

/** What the address at RCPT stands for: `postmaster`, a token, or nothing of ours. */
function localPart(app: App, address: string): string | null {
  if (/^postmaster$/i.test(address)) return 'postmaster';
  const at = address.lastIndexOf('@');
  if (
    at < 0 ||
    address
      .slice(at + 1)
      .toLowerCase()
      .replace(/\.$/, '') !== app.config.INBOX_DOMAIN
  )
    return null;
  return address.slice(0, at).toLowerCase();
}

/** Whether the address takes mail now. A used one is decided after DATA, when the bytes are known. */
export async function recipientVerdict(
  app: App,
  address: string,
): Promise<{ accept: true } | Refusal> {
  const local = localPart(app, address);
  if (local === 'postmaster') return { accept: true };
  const test = local ? await findTestByToken(app.db, local) : undefined;
  if (!test) return NO_SUCH;
  const open = test.status === 'waiting' && Date.parse(test.expires_at) > app.clock.now();
  const hasMessage = !open && (await findMessageOf(app.db, test.id)) !== undefined;
  return open || hasMessage ? { accept: true } : EXPIRED;
}

export interface Incoming {
  envelope: Envelope;
  recipient: string;
  raw: Uint8Array;
}

/**
 * Keeps a message. Resolves after the commit: what is accepted here is there after any crash, and
 * its analysis is due. The same bytes again are accepted again (a sender whose 250 was lost).
 */
export async function receiveMessage(
  app: App,
  incoming: Incoming,
): Promise<{ accept: true; text: string } | Refusal> {
  const { db, clock, newId, config } = app;
  const local = localPart(app, incoming.recipient);
  if (local === null) return NO_SUCH;
  const { raw } = incoming;
  const message: MessageRow = {
    id: newId('msg'),
    test_id: null,
    recipient: local === 'postmaster' ? `postmaster@${config.INBOX_DOMAIN}` : incoming.recipient,
    sha256: sha256(raw),
    size: raw.byteLength,
    envelope: JSON.stringify(incoming.envelope),
    received_at: isoTime(clock.now()),
  };
  try {
    await storeTail(db, message.id, raw);
    const verdict = await db
      .transaction()
      .execute((tx) =>
        local === 'postmaster'
          ? keepForPostmaster(tx, app, message, raw)
          : keepForTest(tx, local, message, raw),
      );
    if (!verdict.accept || verdict.id !== message.id) await dropPieces(app.db, message.id);
    else app.scheduler.wake(local === 'postmaster' ? SEND_JOB : ANALYZE_JOB);
    return verdict.accept ? { accept: true, text: `Kept as ${verdict.id}` } : verdict;
  } catch (error) {
    // Where even that fails, the next start sweeps them.
    await dropPieces(app.db, message.id).catch(() => {});
    if ((error as { code?: string }).code === 'SQLITE_FULL') return FULL;
    throw error;
  }
}

/** The id is that of the message that stands: an earlier one where the same bytes came again. */
type Kept = { accept: true; id: string } | Refusal;

/** Anyone may write to postmaster: this much is kept until it is old, so that tests have their room. */
const POSTMASTER_MAX = { messages: 1000, bytes: 256 * 1024 * 1024 };

async function keepForPostmaster(
  tx: Tx,
  app: App,
  message: MessageRow,
  raw: Uint8Array,
): Promise<Kept> {
  const { count, bytes } = await tx
    .selectFrom('messages')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number>('size').as('bytes')])
    .where('test_id', 'is', null)
    .executeTakeFirstOrThrow();
  const { messages, bytes: most } = POSTMASTER_MAX;
  if (Number(count) >= messages || Number(bytes ?? 0) + message.size > most) return MAILBOX_FULL;
  await insertMessage(tx, message, raw);
  await passOn(tx, app, message, raw);
  return { accept: true, id: message.id };
}

async function keepForTest(
  tx: Tx,
  token: string,
  message: MessageRow,
  raw: Uint8Array,
): Promise<Kept> {
  const test = await findTestByToken(tx, token);
  if (!test) return NO_SUCH;
  if (test.status !== 'waiting') {
    const first = await findMessageOf(tx, test.id);
    if (!first) return EXPIRED;
    return first.sha256 === message.sha256 ? { accept: true, id: first.id } : USED;
  }
  if (test.expires_at <= message.received_at) return EXPIRED;
  await insertMessage(tx, { ...message, test_id: test.id }, raw);
  await tx
    .updateTable('tests')
    .set({
      status: 'processing',
      received_at: message.received_at,
      message_size: message.size,
      envelope: message.envelope,
      analysis_due_at: message.received_at,
    })
    .where('id', '=', test.id)
    .execute();
  return { accept: true, id: message.id };
}
