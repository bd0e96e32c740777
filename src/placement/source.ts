/** What a session reads: a seed mailbox, over IMAP or through Microsoft Graph. */

import type { GmailTab } from '../net/imap/mailbox.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { CLOCK_TOLERANCE_MS, type FoundMessage } from './match.ts';

/** What one look at all folders found. */
export interface Look {
  /** In the order in which they were read: spam folders first. */
  searched: string[];
  hasJunkFolder: boolean;
  /** When messages were last skipped because there were too many; null if never, or if they have been read since. */
  truncatedAt: number | null;
  /** When the server last refused to send a message that it still has not sent; null if there is none. */
  unreadableAt: number | null;
}

/**
 * Whether a message of a test can be among those that were skipped at a time. A later test has a later message, except
 * that of a monitor, which begins with its message: the copies in seed mailboxes can be older.
 */
export function isAffected(
  { created_at, monitor_id }: Pick<TestRow, 'created_at' | 'monitor_id'>,
  skippedAt: number | null,
): boolean {
  const toleranceMs = monitor_id === null ? 0 : CLOCK_TOLERANCE_MS;
  return skippedAt !== null && Date.parse(created_at) - toleranceMs <= skippedAt;
}

export interface SeedSource {
  /**
   * Connects if necessary, and reads what is new since the last call, or since a time. Of the messages with the keys in
   * `recheck`, it forgets those that are no longer where they were. Rejects with a AccountError.
   */
  read(since: number, recheck?: ReadonlySet<string>): Promise<Look>;
  messages(): FoundMessage[];
  /** The tab of a message in the inbox, `inbox` if it is in none; null if the server doesn’t say. Rejects with a AccountError. */
  tabOf(message: FoundMessage): Promise<GmailTab | 'inbox' | null>;
  /** Has the server report new mail to `onChange`, where it can. Never rejects. */
  keepWatch(onChange: () => void): Promise<void>;
  /** Ends the connection that reads. The next read opens another. */
  disconnect(): void;
  /** Ends everything, including a read in progress. */
  close(): void;
}
