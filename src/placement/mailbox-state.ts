/** The recent messages of one seed mailbox on an IMAP server, read in turn from its spam folders and its inbox. */

import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import type { Clock } from '../lib/clock.ts';
import { AccountError } from '../net/account-error.ts';
import { junkFolders } from '../net/imap/junk-folders.ts';
import type { GmailTab, ImapMailbox, SeenMessage } from '../net/imap/mailbox.ts';
import { readCopy } from './mail-copy.ts';
import { CLOCK_TOLERANCE_MS, type FoundMessage } from './match.ts';
import type { Look } from './source.ts';

interface Cursor {
  uidValidity: string;
  /** Lower UIDs have been read. */
  nextUid: number;
}

const INBOX = 'INBOX';
const TABS: readonly GmailTab[] = ['promotions', 'social', 'updates', 'forums'];

/** In one look at one folder. */
const MAX_MESSAGES = 500;
/** Whose time of arrival is looked up. The search by date finds those of two days. */
const MAX_CANDIDATES = 5000;
const BATCH_SIZE = 20;
/** The newest messages that are kept, to match them with tests. */
const MAX_KEPT = 2000;
/** Messages that the server has refused to send and that a look asks for again, in one folder. */
const MAX_REFUSED = 20;
/** Each is examined in each look. */
const MAX_JUNK_FOLDERS = 20;

interface Work {
  since: number;
  recheck: ReadonlySet<string>;
}

export class MailboxState {
  readonly #junk: SeedMailbox['junk'];
  readonly #clock: Clock;
  readonly #cursors = new Map<string, Cursor>();
  readonly #found = new Map<string, FoundMessage>();
  /** When the server first refused to send a message, by the key of the message. It can have been busy. */
  readonly #refused = new Map<string, { folder: string; uid: number; at: number }>();
  #truncatedAt: number | null = null;

  constructor({ junk }: Pick<SeedMailbox, 'junk'>, clock: Clock) {
    this.#junk = junk;
    this.#clock = clock;
  }

  /** As in `SeedSource`. Rejects with an ImapError. */
  async read(
    mailbox: ImapMailbox,
    since: number,
    recheck: ReadonlySet<string> = new Set(),
  ): Promise<Look> {
    const folders = junkFolders(await mailbox.folders(), this.#junk);
    if (folders.length > MAX_JUNK_FOLDERS)
      throw new AccountError(
        'bad_response',
        `The mailbox has ${folders.length} spam folders. At most ${MAX_JUNK_FOLDERS} are searched.`,
      );
    for (const [key, { receivedAt }] of this.#found)
      if (receivedAt < since - CLOCK_TOLERANCE_MS) this.#found.delete(key);
    // Spam before the inbox, as providers move messages out of the inbox rather than into it.
    const work = { since, recheck };
    for (const { path } of folders) await this.#readFolder(mailbox, path, true, work);
    await this.#readFolder(mailbox, INBOX, false, work);
    const searched = [...folders.map(({ path }) => path), INBOX];
    // Of folders that were renamed or deleted.
    for (const { key, folder } of this.#found.values())
      if (!searched.includes(folder)) this.#found.delete(key);
    for (const [key, { folder }] of this.#refused)
      if (!searched.includes(folder)) this.#refused.delete(key);
    this.#forgetOldest();
    const times = [...this.#refused.values()].map(({ at }) => at);
    const unreadableAt = times.length === 0 ? null : Math.max(...times);
    return {
      searched,
      hasJunkFolder: folders.length > 0,
      truncatedAt: this.#truncatedAt,
      unreadableAt,
    };
  }

  messages(): FoundMessage[] {
    return [...this.#found.values()];
  }

  /** The tab of a message in the inbox, `inbox` if it is in none; null if the server doesn’t say. */
  async tabOf(mailbox: ImapMailbox, { uid }: FoundMessage): Promise<GmailTab | 'inbox' | null> {
    if (uid === null || !mailbox.hasTabs()) return 'inbox';
    await mailbox.examine(INBOX);
    let isSure = true;
    for (const tab of TABS) {
      const isIn = await mailbox.isInTab(uid, tab);
      if (isIn) return tab;
      if (isIn === null) isSure = false;
    }
    return isSure ? 'inbox' : null;
  }

  /** Keeps what an interrupted look has read. */
  #forgetOthers(folder: string, uidValidity: string): void {
    this.#cursors.delete(folder);
    for (const { key, folder: its, uid } of this.#found.values())
      if (its === folder && key !== keyOf(folder, uidValidity, uid!)) this.#found.delete(key);
    for (const [key, { folder: its, uid }] of this.#refused)
      if (its === folder && key !== keyOf(folder, uidValidity, uid)) this.#refused.delete(key);
  }

  async #newUids(
    mailbox: ImapMailbox,
    folder: string,
    since: number,
  ): Promise<Cursor & { uids: number[] }> {
    const { uidValidity, uidNext } = await mailbox.examine(folder);
    const cursor = this.#cursors.get(folder);
    if (cursor && cursor.uidValidity === uidValidity) {
      if (uidNext !== null && uidNext <= cursor.nextUid) return { ...cursor, uids: [] };
      const uids = await mailbox.uidsFrom(cursor.nextUid);
      return { uidValidity, nextUid: nextAfter(uids, uidNext ?? cursor.nextUid), uids };
    }
    this.#forgetOthers(folder, uidValidity);
    const earliest = since - CLOCK_TOLERANCE_MS;
    const all = await mailbox.uidsSince(earliest);
    const candidates = all.slice(-MAX_CANDIDATES);
    const times = await mailbox.timesOf(candidates);
    const isRecent = (uid: number) => (times.get(uid) ?? 0) >= earliest;
    // If the oldest that are left are not recent, neither are those before them.
    if (all.length > candidates.length && candidates.slice(0, BATCH_SIZE).some(isRecent))
      this.#truncatedAt = this.#clock.now();
    const uids = candidates.filter(isRecent);
    return { uidValidity, nextUid: nextAfter(candidates, uidNext ?? 1), uids };
  }

  /** The last ones, which are the newest. */
  #newest(uids: number[]): number[] {
    if (uids.length > MAX_MESSAGES) this.#truncatedAt = this.#clock.now();
    return uids.slice(-MAX_MESSAGES);
  }

  /** Without those that the server refuses to send, which would otherwise hide all others. */
  async #readable(
    mailbox: ImapMailbox,
    { folder, uidValidity }: { folder: string; uidValidity: string },
    uids: number[],
  ): Promise<SeenMessage[]> {
    try {
      const messages = await mailbox.read(uids);
      for (const uid of uids) this.#refused.delete(keyOf(folder, uidValidity, uid));
      return messages;
    } catch (error) {
      if (!(error instanceof AccountError) || error.problem !== 'refused') throw error;
      if (!mailbox.isOpen()) throw error;
    }
    if (uids.length > 1) {
      const messages: SeenMessage[] = [];
      for (const uid of uids)
        messages.push(...(await this.#readable(mailbox, { folder, uidValidity }, [uid])));
      return messages;
    }
    const [uid] = uids as [number];
    const key = keyOf(folder, uidValidity, uid);
    const at = this.#refused.get(key)?.at ?? this.#clock.now();
    // To the end, so that the others are asked for first.
    this.#refused.delete(key);
    this.#refused.set(key, { folder, uid, at });
    return [];
  }

  #forgetOldest(): void {
    if (Math.max(this.#found.size, this.#refused.size) > MAX_KEPT)
      this.#truncatedAt = this.#clock.now();
    const oldest = [...this.#found.values()].toSorted((a, b) => a.receivedAt - b.receivedAt);
    for (const { key } of oldest.slice(0, -MAX_KEPT)) this.#found.delete(key);
    for (const key of [...this.#refused.keys()].slice(0, -MAX_KEPT)) this.#refused.delete(key);
  }

  async #readFolder(
    mailbox: ImapMailbox,
    folder: string,
    isJunk: boolean,
    { since, recheck }: Work,
  ): Promise<void> {
    const { uids, uidValidity, nextUid } = await this.#newUids(mailbox, folder, since);
    const known = [...this.#found.values()].filter(
      (message) => message.folder === folder && recheck.has(message.key),
    );
    const existing = new Set(await mailbox.existing(known.map(({ uid }) => uid!)));
    for (const { key, uid } of known) if (!existing.has(uid!)) this.#found.delete(key);
    const wanted = this.#newest(uids).filter(
      (uid) => !this.#found.has(keyOf(folder, uidValidity, uid)),
    );
    const again = [...this.#refused.values()]
      .filter((each) => each.folder === folder)
      .map(({ uid }) => uid)
      .filter((uid) => !wanted.includes(uid));
    const batches = again.slice(0, MAX_REFUSED).map((uid) => [uid]);
    for (let i = 0; i < wanted.length; i += BATCH_SIZE)
      batches.push(wanted.slice(i, i + BATCH_SIZE));
    for (const batch of batches)
      for (const { uid, receivedAt, bytes } of await this.#readable(
        mailbox,
        { folder, uidValidity },
        batch,
      )) {
        const key = keyOf(folder, uidValidity, uid);
        this.#found.set(key, { ...(await readCopy(bytes)), key, folder, isJunk, uid, receivedAt });
      }
    // Only now, so that the look after an interrupted one reads the rest.
    this.#cursors.set(folder, { uidValidity, nextUid });
  }
}

const keyOf = (folder: string, uidValidity: string, uid: number): string =>
  JSON.stringify([folder, uidValidity, uid]);

/** After the highest UID, even if the server’s own figure is lower. */
const nextAfter = (uids: number[], uidNext: number): number =>
  uids.reduce((next, uid) => Math.max(next, uid + 1), uidNext);
