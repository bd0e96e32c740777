/** What is stored about the receipt of a saved message. */

import type { ReceiverResults } from './results.ts';

export type ReceiptValue = 'at' | 'client_ip' | 'helo' | 'tls' | 'mail_from';

/** Where a value comes from: a header field and the server that wrote it, or the user. */
export interface ValueOrigin {
  source: 'file' | 'given';
  /** null if given. */
  field: string | null;
  by: string | null;
}

/** What the header of a saved message says about its receipt. Null and missing values are not known. */
export interface FileReceipt {
  /** The server that received the message. */
  by: string | null;
  /** The name of the mailbox provider; null for any other server. */
  provider: string | null;
  /** ISO 8601, UTC. */
  at: string | null;
  /** What the receiver recorded about authentication. */
  results: ReceiverResults | null;
  /** Of each known value of the envelope, of the time and of the results. */
  origins: Partial<Record<ReceiptValue | 'results', ValueOrigin>>;
}
