/** Messages to postmaster, which every mail domain has (RFC 5321 §4.5.1): stored, and forwarded to the owner. */

import type { Envelope } from '../analysis/check.ts';
import type { App } from '../app.ts';
import { networkOf } from '../lib/addresses.ts';
import { SEND_JOB } from '../outbox/queue.ts';
import { type Destination, reject } from '../smtp/destination.ts';
import { lockName, type Tx } from '../store/open.ts';
import type { MessageRow } from '../store/tables.generated.ts';
import { insertMessage } from './messages.ts';
import { forwardToOwner } from './postmaster.ts';
import { type StoreOutcome, storeMail } from './receive.ts';

const MAILBOX_FULL = reject(452, '4.2.2', 'This mailbox is full');
const NETWORK_OVER_LIMIT = reject(
  452,
  '4.2.1',
  'Too many messages from your network, try again later',
);

export const postmasterDestination = (app: App): Destination => ({
  label: 'postmaster',
  maxSize: app.config.SMTP_MAX_SIZE,
  check: async ({ local }) => (local === 'postmaster' ? { accept: true } : null),
  receive: (mail) =>
    storeMail(app, mail, {
      recipient: `postmaster@${app.config.INBOX_DOMAIN}`,
      job: SEND_JOB,
      store: (tx, message, raw) => storeForPostmaster(tx, app, message, raw),
    }),
});

/**
 * Anyone can write to postmaster. The limit reserves disk space for tests, and that for a network leaves room for the
 * complaints of others.
 */
const POSTMASTER_LIMITS = {
  total: { messages: 1000, bytes: 256 * 1024 * 1024 },
  network: { messages: 100, bytes: 26 * 1024 * 1024 },
};

async function storeForPostmaster(
  tx: Tx,
  app: App,
  message: MessageRow,
  raw: Uint8Array,
): Promise<StoreOutcome> {
  // Also for the daily number of forwarded messages.
  await lockName(tx, 'mail for postmaster');
  const stored = await tx
    .selectFrom('messages')
    .select(['size', 'envelope'])
    .where('test_id', 'is', null)
    .execute();
  if (isOver(POSTMASTER_LIMITS.total, stored, message)) return MAILBOX_FULL;
  const network = clientNetwork(message);
  const ofNetwork = stored.filter((other) => clientNetwork(other) === network);
  if (isOver(POSTMASTER_LIMITS.network, ofNetwork, message)) return NETWORK_OVER_LIMIT;
  await insertMessage(tx, message, raw);
  await forwardToOwner(tx, app, message, raw);
  return { accept: true, id: message.id, testId: null };
}

/** Whether the next message would exceed a limit. */
function isOver(
  limit: { messages: number; bytes: number },
  stored: Pick<MessageRow, 'size'>[],
  { size }: MessageRow,
): boolean {
  const bytes = stored.reduce((sum, other) => sum + other.size, size);
  return stored.length >= limit.messages || bytes > limit.bytes;
}

/** Null if the client is not known. */
function clientNetwork({ envelope }: Pick<MessageRow, 'envelope'>): string | null {
  const address = (JSON.parse(envelope) as Partial<Envelope>).client_ip;
  return address ? networkOf(address) : null;
}
