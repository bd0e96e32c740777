/** What a session reads: a seed mailbox, over IMAP or through Microsoft Graph. */

import type { GmailTab } from '../net/imap/mailbox.ts';
import type { FoundMessage } from './match.ts';

/** What one look at all folders found. */
export interface Look {
  /** In the order in which they were read: spam folders first. */
  searched: string[];
  hasJunkFolder: boolean;
  /** When messages were last skipped because there were too many; null if never, or if they have been read since. */
  truncatedAt: number | null;
  /** When the server last refused to send a message; null if never. */
  unreadableAt: number | null;
}

/** Whether a message of a test can be among those that were skipped at a time. A later test has a later message. */
export const isAffected = ({ created_at }: { created_at: string }, skippedAt: number | null) =>
  skippedAt !== null && Date.parse(created_at) <= skippedAt;

export interface SeedSource {
  /**
   * Connects if necessary, and reads what is new since the last call, or since a time. Of the messages with the keys in
   * `recheck`, it forgets those that are no longer where they were. Rejects with a MailboxError.
   */
  read(since: number, recheck?: ReadonlySet<string>): Promise<Look>;
  messages(): FoundMessage[];
  /** The tab of a message in the inbox, `inbox` if it is in none; null if the server doesn’t say. Rejects with a MailboxError. */
  tabOf(message: FoundMessage): Promise<GmailTab | 'inbox' | null>;
  /** Has the server report new mail to `onChange`, where it can. Never rejects. */
  keepWatch(onChange: () => void): Promise<void>;
  /** Ends the connection that reads. The next read opens another. */
  disconnect(): void;
  /** Ends everything, including a read in progress. */
  close(): void;
}
