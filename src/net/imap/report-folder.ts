/** A folder of a mailbox. Messages are read completely without changing flags, and moved only on request. */

import type { ImapFlow } from 'imapflow';
import type { ImapAccount } from '../../config/seed-mailboxes.ts';
import { quoted } from '../account-error.ts';
import { ImapError } from './errors.ts';
import { createClient, eachFetched, search, signOut, withinLimits } from './mailbox.ts';

interface FolderOptions {
  folder: string;
  /** Messages can be moved to this folder; null opens the folder for reading only. */
  moveTo: string | null;
  /** The largest message that is read. */
  maxBytes: number;
  signal: AbortSignal;
  /** The address to connect to, if the host name was resolved before. */
  address?: string | undefined;
}

/** The operations reject with an ImapError. */
export interface ReportFolder {
  /** A different value means that all UIDs have changed (RFC 9051 §2.3.1.1). */
  uidValidity: string;
  /** Higher UIDs, in ascending order. */
  uidsAfter(uid: number): Promise<number[]>;
  /** By UID, without deleted messages. */
  sizes(uids: number[]): Promise<Map<number, number>>;
  /** Null if the server does not send the message. */
  read(uid: number): Promise<Uint8Array | null>;
  move(uid: number): Promise<void>;
  end(): Promise<void>;
}

const OPERATION_TIMEOUT_MS = 120_000;
/** A list of a million UIDs takes about 8 MB. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/** Signs in and opens the folder. Rejects with an ImapError. */
export async function openReportFolder(
  account: ImapAccount,
  { folder, moveTo, maxBytes, signal, address }: FolderOptions,
): Promise<ReportFolder> {
  const { host } = account;
  const client = await createClient(account, {
    address,
    limits: {
      maxLiteralSize: maxBytes + 1024,
      maxResponseSize: Math.max(maxBytes + 64 * 1024, MAX_LIST_BYTES),
      maxResponseTokens: 2_000_000,
      maxLineLength: MAX_LIST_BYTES,
    },
  });
  const limits = { timeoutMs: OPERATION_TIMEOUT_MS, bytes: maxBytes + MAX_LIST_BYTES, signal };
  const bounded = <T>(work: () => Promise<T>): Promise<T> =>
    withinLimits(client, account, limits, work);
  try {
    await bounded(() => client.connect());
    if (moveTo !== null) requireMove(client, host);
    const opened = await bounded(() => open(client, host, folder, moveTo === null));
    return {
      uidValidity: String(opened.uidValidity),
      async uidsAfter(uid) {
        const uids = await bounded(() => search(client, host, { uid: `${uid + 1}:*` }));
        // `*` is always the last message, even if its UID is lower.
        return uids.filter((found) => found > uid);
      },
      async sizes(uids) {
        const sizes = new Map<number, number>();
        await bounded(() =>
          eachFetched(client, host, uids, { uid: true, size: true }, ({ uid, size }) => {
            if (size !== undefined) sizes.set(uid, size);
          }),
        );
        return sizes;
      },
      async read(uid) {
        // The limit holds even if the server reported a wrong size.
        const source = { start: 0, maxLength: maxBytes };
        const found = await bounded(() =>
          client.fetchOne(String(uid), { uid: true, source }, { uid: true }),
        );
        if (!client.usable) throw new ImapError('closed', `${host} closed the connection.`);
        return found ? (found.source ?? null) : null;
      },
      async move(uid) {
        const moved = await bounded(() => client.messageMove(String(uid), moveTo!, { uid: true }));
        if (!moved) throw moveError(host, moveTo!);
      },
      end: () => signOut(client, account, { signal }),
    };
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Without either, EXPUNGE after COPY would also remove other messages that are marked as deleted (RFC 4315 §2.1). */
function requireMove({ capabilities }: ImapFlow, host: string): void {
  if (!capabilities.has('MOVE') && !capabilities.has('UIDPLUS'))
    throw new ImapError(
      'refused',
      `${host} supports neither MOVE nor UIDPLUS, so it can’t move single messages. Clear the target folder in the settings.`,
    );
}

async function open(client: ImapFlow, host: string, folder: string, readOnly: boolean) {
  try {
    const opened = await client.mailboxOpen(folder, { readOnly });
    if (!readOnly && opened.readOnly)
      throw new ImapError(
        'refused',
        `${host} doesn’t allow changes to the folder “${folder}”. Change its permissions, or clear the target folder in the settings.`,
      );
    return opened;
  } catch (error) {
    const { responseText } = error as { responseText?: string };
    if (responseText === undefined) throw error;
    throw new ImapError(
      'refused',
      `${host} can’t open the folder “${folder}”. Check its name.${quoted(responseText)}`,
    );
  }
}

const moveError = (host: string, folder: string): ImapError =>
  new ImapError(
    'refused',
    `${host} didn’t move a message to “${folder}”. Check that this folder exists.`,
  );
