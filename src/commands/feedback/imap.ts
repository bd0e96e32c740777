/** The messages of a mailbox, read over IMAP without changing it. */

import { isLoopback } from '../../config/seed-mailboxes.ts';
import { errorMessage } from '../../lib/errors.ts';
import { UsageError } from '../command.ts';
import type { FeedbackFile } from './files.ts';

interface Location {
  host: string;
  port: number;
  secure: boolean;
  user: string;
  password: string;
  folder: string;
}

/** `imaps://user:password@host/Folder`. Throws a UsageError. */
export function readLocation(text: string): Location {
  const url = URL.parse(text);
  if (!url || !/^imaps?:$/.test(url.protocol) || url.username === '')
    throw new UsageError('--imap must be a URL such as imaps://user:password@host/Folder');
  const secure = url.protocol === 'imaps:';
  return {
    host: url.hostname,
    port: Number(url.port) || (secure ? 993 : 143),
    secure,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    folder: decodeURIComponent(url.pathname.slice(1)) || 'INBOX',
  };
}

/** As the service accepts it by default. Larger messages are no reports. */
const MAX_BYTES = 15 * 1024 * 1024;

/**
 * The messages with a UID above `after`, in the order of their UIDs. The folder is opened with EXAMINE, so that nothing is marked
 * as read. `onUid` gets each UID once its message was handled.
 */
export async function* imapMessages(
  { host, port, secure, user, password, folder }: Location,
  after: number,
  onUid: (uid: number) => void,
): AsyncGenerator<FeedbackFile> {
  // Loaded when it is first needed, because the other commands start faster without it.
  const { ImapFlow } = await import('imapflow');
  const client = new ImapFlow({
    host,
    port,
    secure,
    logger: false,
    auth: { user, pass: password },
    // Without TLS, the password would be readable on the network.
    ...(secure || isLoopback(host) ? {} : { doSTARTTLS: true }),
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: !isLoopback(host) },
    maxLiteralSize: MAX_BYTES + 1024,
    disableAutoIdle: true,
  });
  // The operation that is running rejects too; without a listener, the process would end.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.mailboxOpen(folder, { readOnly: true });
    const uids = (await client.search({ uid: `${after + 1}:*` }, { uid: true })) || [];
    for (const uid of uids.filter((one) => one > after).sort((a, b) => a - b)) {
      const message = await client.fetchOne(String(uid), { size: true }, { uid: true });
      if (!message || (message.size ?? 0) > MAX_BYTES) continue;
      const full = await client.fetchOne(String(uid), { source: true }, { uid: true });
      const bytes = full ? full.source : undefined;
      if (!bytes) continue;
      yield { name: `UID ${uid}`, bytes, problem: null };
      onUid(uid);
    }
    await client.logout();
  } catch (error) {
    throw new Error(`${host}: ${errorMessage(error)}`);
  } finally {
    client.close();
  }
}
