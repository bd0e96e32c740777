/** What the listener asks of whoever keeps the mail; it knows no database itself. */

import type { Envelope } from '../analysis/check.ts';

/** A reply of the protocol: `550`, `5.1.1` (RFC 3463) and one line of text. */
export interface Reply {
  code: number;
  enhanced: string;
  text: string;
}

export type RecipientVerdict = { accept: true } | ({ accept: false } & Reply);
export type ReceiveVerdict = { accept: true; text: string } | ({ accept: false } & Reply);

export interface IncomingMessage {
  envelope: Envelope;
  /** The one recipient, as it was said. */
  recipient: string;
  /** The message as it came, dots unstuffed, nothing else touched. */
  raw: Buffer;
}

/** A hook that throws is answered with 451 4.3.0, and logged. */
export interface SmtpHooks {
  /** Whether the address takes mail now; asked at RCPT. */
  recipient(address: string): Promise<RecipientVerdict> | RecipientVerdict;
  /** Keeps a message: resolves when it is durably stored, or with the reason why it is not. */
  receive(message: IncomingMessage): Promise<ReceiveVerdict>;
  /** Bytes free where messages are kept. */
  freeBytes(): Promise<number>;
}
