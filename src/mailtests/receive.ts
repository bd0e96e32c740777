/** Receives messages for tests, inboxes and monitors: decides which addresses accept mail, and stores each message. */

import type { Envelope } from '../analysis/check.ts';
import type { App } from '../app.ts';
import { traceOf } from '../events/traces.ts';
import { isoTime } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { inTrace } from '../lib/trace-context.ts';
import { SEND_JOB } from '../outbox/queue.ts';
import { isOutOfSpace } from '../store/errors.ts';
import { afterCommit, lockName, type Tx, transact } from '../store/open.ts';
import type { MessageRow } from '../store/tables.generated.ts';
import { storeForInbox } from './inbox-mail.ts';
import { findInboxByToken } from './inboxes.ts';
import { expectAttempt } from './live.ts';
import {
  deleteChunks,
  discardChunks,
  findMessageOf,
  insertMessage,
  storeLaterChunks,
} from './messages.ts';
import { findMonitorByToken, type MonitorMailRejection, storeForMonitor } from './monitor-mail.ts';
import { forwardToOwner } from './postmaster.ts';
import { ANALYZE_JOB, findTestByToken } from './queries.ts';

/** An SMTP reply (RFC 5321 §4.2, RFC 3463). */
interface Rejection {
  accept: false;
  code: number;
  enhanced: string;
  text: string;
}

const reject = (code: number, enhanced: string, text: string): Rejection => ({
  accept: false,
  code,
  enhanced,
  text,
});

const UNKNOWN = reject(550, '5.1.1', 'No such test address');
const EXPIRED = reject(550, '5.2.1', 'This test address has expired');
const USED = reject(550, '5.2.1', 'This test address has already received its message');
const MAILBOX_FULL = reject(452, '4.2.2', 'This mailbox is full');
const MONITOR_REJECTIONS: Record<MonitorMailRejection, Rejection> = {
  paused: reject(550, '5.2.1', 'This monitor is paused'),
  no_seeds: reject(550, '5.2.1', 'This monitor has no seed mailboxes'),
  too_many: reject(452, '4.2.1', 'Too many messages to this monitor, try again later'),
};
const INBOX_BUSY = reject(452, '4.2.1', 'Too many messages to this address, try again later');
const DISK_FULL = reject(452, '4.3.1', 'Insufficient disk space, try again later');

/** The local part of a RCPT address: `postmaster`, or the token of a test, an inbox or a monitor; null for other domains. */
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

/** Whether the address accepts mail now. For used addresses, `receiveMessage` decides after DATA, when the content is known. */
export async function checkRecipient(
  app: App,
  address: string,
): Promise<{ accept: true } | Rejection> {
  const local = localPart(app, address);
  if (local === 'postmaster') return { accept: true };
  const test = local ? await findTestByToken(app.db, local) : undefined;
  if (!local) return UNKNOWN;
  if (!test && (await findInboxByToken(app.db, local))) return { accept: true };
  if (!test) return checkMonitorRecipient(app, local);
  expectAttempt(app, local, test.id);
  const isOpen = test.status === 'waiting' && Date.parse(test.expires_at) > app.clock.now();
  const hasMessage = !isOpen && (await findMessageOf(app.db, test.id)) !== undefined;
  return isOpen || hasMessage ? { accept: true } : EXPIRED;
}

async function checkMonitorRecipient(
  app: App,
  local: string,
): Promise<{ accept: true } | Rejection> {
  const monitor = await findMonitorByToken(app.db, local);
  if (!monitor) return UNKNOWN;
  if (monitor.enabled === 0) return MONITOR_REJECTIONS.paused;
  return app.config.SEED_MAILBOXES.length === 0 ? MONITOR_REJECTIONS.no_seeds : { accept: true };
}

export interface IncomingMail {
  envelope: Envelope;
  recipient: string;
  raw: Uint8Array;
}

/**
 * Stores a message. Resolves after the commit, so that an accepted message survives any crash and is
 * due for analysis. The same bytes are accepted again: the sender may have missed our 250, or the
 * connection to the database was lost during the commit.
 */
export async function receiveMessage(
  app: App,
  incoming: IncomingMail,
): Promise<{ accept: true; text: string } | Rejection> {
  const { db, clock, newId, config } = app;
  const local = localPart(app, incoming.recipient);
  if (local === null) return UNKNOWN;
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
    await storeLaterChunks(db, message.id, raw);
    const outcome = await transact(db, (tx) =>
      local === 'postmaster'
        ? storeForPostmaster(tx, app, message, raw)
        : storeForTest(tx, app, { token: local, message, raw }),
    );
    if (!outcome.accept || outcome.id !== message.id) await deleteChunks(app.db, message.id);
    else app.scheduler.wake(local === 'postmaster' ? SEND_JOB : ANALYZE_JOB);
    if (!outcome.accept) return outcome;
    app.metrics.smtpMessages.inc({ for: local === 'postmaster' ? 'postmaster' : 'test' });
    const { id, testId } = outcome;
    inTrace(testId === null ? null : traceOf(app, testId), () =>
      app.log.info('accepted a message', {
        ...{ message_id: id, test: testId, client_ip: incoming.envelope.client_ip },
        ...{ bytes: message.size, known: id !== message.id },
      }),
    );
    return { accept: true, text: `Accepted as ${outcome.id}` };
  } catch (error) {
    await discardChunks(app.db, message.id, error);
    if (isOutOfSpace(error)) return DISK_FULL;
    throw error;
  }
}

/** The id of the stored message, which is the earlier message if the same bytes arrive again. */
type StoreOutcome = { accept: true; id: string; testId: string | null } | Rejection;

/** Anyone can write to postmaster. The limit reserves disk space for tests. */
const POSTMASTER_LIMITS = { messages: 1000, bytes: 256 * 1024 * 1024 };

async function storeForPostmaster(
  tx: Tx,
  app: App,
  message: MessageRow,
  raw: Uint8Array,
): Promise<StoreOutcome> {
  // Also for the daily number of forwarded messages.
  await lockName(tx, 'mail for postmaster');
  const { count, bytes } = await tx
    .selectFrom('messages')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number>('size').as('bytes')])
    .where('test_id', 'is', null)
    .executeTakeFirstOrThrow();
  const usedBytes = Number(bytes ?? 0) + message.size;
  if (Number(count) >= POSTMASTER_LIMITS.messages || usedBytes > POSTMASTER_LIMITS.bytes)
    return MAILBOX_FULL;
  await insertMessage(tx, message, raw);
  await forwardToOwner(tx, app, message, raw);
  return { accept: true, id: message.id, testId: null };
}

async function storeForTest(
  tx: Tx,
  app: App,
  { token, message, raw }: { token: string; message: MessageRow; raw: Uint8Array },
): Promise<StoreOutcome> {
  const test = await findTestByToken(tx, token);
  if (!test) {
    const inbox = await findInboxByToken(tx, token);
    if (inbox) {
      const outcome = await storeForInbox(tx, app, { inbox, message, raw });
      return 'id' in outcome ? { accept: true, ...outcome } : INBOX_BUSY;
    }
    const monitor = await findMonitorByToken(tx, token);
    if (!monitor) return UNKNOWN;
    const outcome = await storeForMonitor(tx, app, { monitor, message, raw });
    return 'id' in outcome ? { accept: true, ...outcome } : MONITOR_REJECTIONS[outcome.rejected];
  }
  if (test.status !== 'waiting') {
    const earlier = await findMessageOf(tx, test.id);
    if (!earlier) return EXPIRED;
    return earlier.sha256 === message.sha256
      ? { accept: true, id: earlier.id, testId: test.id }
      : USED;
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
  afterCommit(tx, () => app.signals.raise(test.id));
  return { accept: true, id: message.id, testId: test.id };
}
