/**
 * A read-only connection to one mailbox. It only examines folders and peeks at messages, so it changes no flag and
 * trains no filter. Whatever the server sends, each operation ends within its deadline and within a number of bytes.
 */

import { isIP } from 'node:net';
import type { ImapFlow, ListResponse } from 'imapflow';
import { type ImapAccount, isLoopback } from '../../config/seed-mailboxes.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { ImapError, toImapError } from './errors.ts';
import type { ImapFolder } from './junk-folders.ts';

/** The first part of a message in a mailbox. */
export interface SeenMessage {
  uid: number;
  /** When the server received it, in milliseconds since the Unix epoch. */
  receivedAt: number;
  bytes: Uint8Array;
}

export interface ExaminedFolder {
  /** Another value means that all UIDs have changed (RFC 9051 §2.3.1.1). */
  uidValidity: string;
  /** All messages so far have lower UIDs; null if the server doesn’t say. */
  uidNext: number | null;
}

export type GmailTab = 'promotions' | 'social' | 'updates' | 'forums';

export interface ImapMailbox {
  folders(): Promise<ImapFolder[]>;
  /** Opens a folder for reading; the other operations refer to it. */
  examine(path: string): Promise<ExaminedFolder>;
  /** UIDs of messages received at or after a time, with a tolerance of up to two days. */
  uidsSince(at: number): Promise<number[]>;
  /** The times at which messages were received, by UID. */
  timesOf(uids: number[]): Promise<Map<number, number>>;
  /** Messages with these UIDs, or from this one on. Deleted ones are missing. */
  read(uids: number[]): Promise<SeenMessage[]>;
  uidsFrom(uid: number): Promise<number[]>;
  /** Those of these UIDs that are in the folder. */
  existing(uids: number[]): Promise<number[]>;
  /** Whether the server knows Gmail’s tabs. */
  hasTabs(): boolean;
  /** Whether the message is in a tab; null if the server doesn’t say. */
  isInTab(uid: number, tab: GmailTab): Promise<boolean | null>;
  /** Whether the server can report new messages (RFC 2177). */
  canIdle(): boolean;
  isOpen(): boolean;
  /** Signs out, so that the server counts the connection no longer. Never rejects. */
  end(): Promise<void>;
  close(): void;
}

/** Enough for all header fields of normal messages and the beginning of the text. */
const MAX_MESSAGE_BYTES = 64 * 1024;
const LIMITS = {
  maxLineLength: 1024 * 1024,
  maxLiteralSize: 256 * 1024,
  maxResponseSize: 2 * 1024 * 1024,
  maxResponseTokens: 50_000,
};
/** No real folder has a longer name. */
const MAX_PATH_LENGTH = 1000;
const CONNECT_TIMEOUT_MS = 15_000;
const OPERATION_TIMEOUT_MS = 30_000;
const SIGN_OUT_TIMEOUT_MS = 5000;
const MAX_OPERATION_BYTES = 32 * 1024 * 1024;
const MAX_IDLE_BYTES = 4 * 1024 * 1024;
const WATCH_INTERVAL_MS = 100;

interface Options {
  /** For tests with silent servers. */
  timeoutMs?: number;
  /** Ends the connection, also while it is being opened. */
  signal?: AbortSignal;
  /** The address to connect to, if the host name was resolved before. */
  address?: string | undefined;
  limits?: typeof LIMITS;
}

/**
 * Not connected yet. Its rejections are converted by `withinLimits`. Loads the library when it is first needed, because
 * a service without seed mailboxes never needs it.
 */
export async function createClient(
  account: ImapAccount,
  { timeoutMs, address, limits = LIMITS }: Options,
): Promise<ImapFlow> {
  const { ImapFlow } = await import('imapflow');
  const { host, port, tls, user } = account;
  const client = new ImapFlow({
    host: address ?? host,
    ...(address === undefined || isIP(host) !== 0 ? {} : { servername: host }),
    port,
    secure: tls === 'implicit',
    ...(tls === 'starttls' ? { doSTARTTLS: true } : {}),
    auth:
      'accessToken' in account
        ? { user, accessToken: account.accessToken }
        : { user, pass: account.password },
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: !isLoopback(host) },
    logger: false,
    clientInfo: { name: 'deliverability' },
    connectionTimeout: timeoutMs ?? CONNECT_TIMEOUT_MS,
    greetingTimeout: timeoutMs ?? CONNECT_TIMEOUT_MS,
    socketTimeout: 30 * 60_000,
    disableAutoIdle: true,
    disableCompression: true,
    disableBinary: true,
    disableAutoEnable: true,
    disableIMAP4rev2: true,
    ...limits,
  });
  // The operation that is running rejects too; without a listener, the process would end.
  client.on('error', () => {});
  return client;
}

/** Signs in. Rejects with an ImapError. */
export async function openMailbox(
  account: ImapAccount,
  options: Options = {},
): Promise<ImapMailbox> {
  const { host } = account;
  const { signal } = options;
  const client = await createClient(account, options);
  const timeoutMs = options.timeoutMs ?? OPERATION_TIMEOUT_MS;
  const bounded = <T>(work: () => Promise<T>): Promise<T> =>
    withinLimits(client, account, { timeoutMs, bytes: MAX_OPERATION_BYTES, signal }, work);
  try {
    await bounded(() => client.connect());
  } catch (error) {
    client.close();
    throw error;
  }
  return {
    async folders() {
      const listed = await bounded(() => client.list({ listOnly: true }));
      return listed.map(folderOf).filter(({ path }) => path.length <= MAX_PATH_LENGTH);
    },
    async examine(path) {
      const opened = await bounded(() => client.mailboxOpen(path, { readOnly: true }));
      if (!opened.readOnly) {
        // The connection must not stay in a state in which reading could change something.
        client.close();
        throw new ImapError('bad_response', `${host} doesn’t open folders read-only.`);
      }
      return {
        uidValidity: String(opened.uidValidity),
        uidNext: opened.uidNext ? Number(opened.uidNext) : null,
      };
    },
    uidsSince: (at) => bounded(() => search(client, host, { since: new Date(at - DAY_MS) })),
    uidsFrom: async (uid) => {
      const uids = await bounded(() => search(client, host, { uid: `${uid}:*` }));
      // `*` is the last message even if its UID is lower.
      return uids.filter((found) => found >= uid);
    },
    async existing(uids) {
      const found: number[] = [];
      for (const uid of uidSets(uids))
        found.push(...(await bounded(() => search(client, host, { uid }))));
      return found;
    },
    async timesOf(uids) {
      const times = new Map<number, number>();
      if (uids.length === 0) return times;
      const query = { uid: true, internalDate: true };
      await bounded(() =>
        eachFetched(client, host, uids, query, (message) => {
          times.set(message.uid, timeOf(message.internalDate));
        }),
      );
      return times;
    },
    async read(uids) {
      const messages: SeenMessage[] = [];
      if (uids.length === 0) return messages;
      const source = { start: 0, maxLength: MAX_MESSAGE_BYTES };
      await bounded(() =>
        eachFetched(client, host, uids, { uid: true, internalDate: true, source }, (message) => {
          if (!message.source) return;
          const receivedAt = timeOf(message.internalDate);
          messages.push({ uid: message.uid, receivedAt, bytes: message.source });
        }),
      );
      return messages;
    },
    hasTabs: () => client.capabilities.has('X-GM-EXT-1'),
    async isInTab(uid, tab) {
      const found = await bounded(() =>
        client.search({ uid: String(uid), gmailraw: `category:${tab}` }, { uid: true }),
      );
      return Array.isArray(found) ? found.includes(uid) : null;
    },
    canIdle: () => client.capabilities.has('IDLE'),
    isOpen: () => client.usable,
    end: () => signOut(client, account, options),
    close: () => client.close(),
  };
}

export async function signOut(
  client: ImapFlow,
  account: ImapAccount,
  { signal }: Options,
): Promise<void> {
  const limits = { timeoutMs: SIGN_OUT_TIMEOUT_MS, bytes: MAX_OPERATION_BYTES, signal };
  try {
    if (client.usable) await withinLimits(client, account, limits, () => client.logout());
  } catch {
    // The connection was closed instead.
  } finally {
    client.close();
  }
}

/** Rejects if the server refuses: an empty result would look as if there were no messages. */
export async function search(
  client: ImapFlow,
  host: string,
  query: { since?: Date; uid?: string },
): Promise<number[]> {
  const found = await client.search(query, { uid: true });
  if (!Array.isArray(found)) throw new ImapError('refused', `${host} rejected a search.`);
  return found.sort((a, b) => a - b);
}

interface Fetched {
  uid: number;
  internalDate?: Date | string | undefined;
  source?: Uint8Array | undefined;
  size?: number | undefined;
}

export async function eachFetched(
  client: ImapFlow,
  host: string,
  uids: number[],
  query: object,
  use: (message: Fetched) => void,
): Promise<void> {
  const wanted = new Set(uids);
  let count = 0;
  for (const set of uidSets(uids))
    for await (const message of client.fetch(set, query, { uid: true })) {
      // Servers may report changes of other messages meanwhile.
      if (++count > 10 * uids.length + 1000)
        throw new ImapError('bad_response', `${host} sent more messages than requested.`);
      if (wanted.has(message.uid)) use(message);
    }
}

/** Servers can reject commands of more than 8,000 characters (RFC 7162 §4). */
const MAX_SET_LENGTH = 4000;

/** Sequence sets with these UIDs, which are in ascending order. */
function uidSets(uids: number[]): string[] {
  const ranges: [first: number, last: number][] = [];
  for (const uid of uids) {
    const range = ranges.at(-1);
    if (range && uid === range[1] + 1) range[1] = uid;
    else ranges.push([uid, uid]);
  }
  const sets: string[] = [];
  for (const [first, last] of ranges) {
    const part = first === last ? `${first}` : `${first}:${last}`;
    const set = sets.at(-1);
    if (set === undefined || set.length + part.length >= MAX_SET_LENGTH) sets.push(part);
    else sets[sets.length - 1] = `${set},${part}`;
  }
  return sets;
}

const timeOf = (date: Date | string | undefined): number => {
  const time = date === undefined ? Number.NaN : new Date(date).getTime();
  return Number.isNaN(time) ? 0 : time;
};

function folderOf({ path, name, parentPath, flags }: ListResponse): ImapFolder {
  return { path, name, parent: parentPath ?? '', flags: [...flags] };
}

interface Limits {
  timeoutMs: number;
  bytes: number;
  signal?: AbortSignal | undefined;
}

/** Closes the connection and rejects if the work takes too long or the server sends too much. */
export async function withinLimits<T>(
  client: ImapFlow,
  account: ImapAccount,
  { timeoutMs, bytes, signal }: Limits,
  work: () => Promise<T>,
): Promise<T> {
  const { host } = account;
  const receivedBefore = client.stats().received;
  let watch: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const limit = new Promise<never>((_, reject) => {
    const end = (error: ImapError) => {
      reject(error);
      client.close();
    };
    stop = () => end(new ImapError('closed', 'The service is stopping.'));
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
    timer = setTimeout(
      () => end(new ImapError('timeout', `${host} didn’t respond in time.`)),
      timeoutMs,
    );
    watch = setInterval(() => {
      if (client.stats().received - receivedBefore > bytes)
        end(new ImapError('bad_response', `${host} sent too much data.`));
    }, WATCH_INTERVAL_MS);
  });
  const running = work();
  // After the limit, its own rejection is of no interest.
  running.catch(() => {});
  try {
    return await Promise.race([running, limit]);
  } catch (error) {
    throw toImapError(error, account);
  } finally {
    signal?.removeEventListener('abort', stop);
    clearTimeout(timer);
    clearInterval(watch);
  }
}

// A second connection that waits for new messages in the inbox.

export interface InboxWatch {
  isOpen(): boolean;
  /** Signs out. Never rejects. */
  end(): Promise<void>;
  close(): void;
}

/** Calls `onChange` for each new message. Rejects with an ImapError; later, `isOpen` turns false. */
export async function watchInbox(
  account: ImapAccount,
  onChange: () => void,
  options: Options = {},
): Promise<InboxWatch> {
  const client = await createClient(account, options);
  client.on('exists', onChange);
  const limits = {
    timeoutMs: options.timeoutMs ?? OPERATION_TIMEOUT_MS,
    bytes: MAX_IDLE_BYTES,
    signal: options.signal,
  };
  try {
    await withinLimits(client, account, limits, async () => {
      await client.connect();
      await client.mailboxOpen('INBOX', { readOnly: true });
    });
  } catch (error) {
    client.close();
    throw error;
  }
  const startedAt = client.stats().received;
  const guard = setInterval(() => {
    if (client.stats().received - startedAt > MAX_IDLE_BYTES) client.close();
  }, 1000).unref();
  client.on('close', () => clearInterval(guard));
  // Ends with the connection.
  client.idle().then(
    () => client.close(),
    () => client.close(),
  );
  return {
    isOpen: () => client.usable,
    end: () => signOut(client, account, options),
    close: () => client.close(),
  };
}
