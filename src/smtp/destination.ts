/** Destinations of mail: a feature declares the addresses that it accepts mail for, and what it does with that mail. */

import type { Envelope } from '../analysis/check.ts';
import type { RateLimit } from '../http/rate-limit.ts';

/** An SMTP reply: `550`, `5.1.1` (RFC 3463) and one line of text. */
export interface Reply {
  code: number;
  enhanced: string;
  text: string;
}

export type Rejection = { accept: false } & Reply;
export type ReceiveVerdict = { accept: true; text: string } | Rejection;

export const reject = (code: number, enhanced: string, text: string): Rejection => ({
  accept: false,
  code,
  enhanced,
  text,
});

/** For an address that no destination knows, or knows no longer. */
export const NO_SUCH_ADDRESS = reject(550, '5.1.1', 'No such address');

/** A recipient at the domain of the service. */
export interface Recipient {
  /** As sent. */
  address: string;
  /** The local part in lower case, without quotation marks. */
  local: string;
  /** What precedes the first plus sign of the local part, in lower case (RFC 5233). */
  user: string;
  /** What follows it, as sent; null if there is no plus sign. */
  detail: string | null;
}

export interface IncomingMail {
  envelope: Envelope;
  /** Those of this destination, each once, in the order of RCPT. There is at least one. */
  recipients: [Recipient, ...Recipient[]];
  /** The message as received, without dot-stuffing, otherwise unchanged. Valid until `receive` resolves. */
  raw: Buffer;
}

/**
 * A transaction can have recipients of several destinations. SMTP has one reply for all of them: if a destination
 * rejects the message, the client sends it to all of them again. If a method throws, the client gets 451 4.3.0, or 452
 * if the disk is full.
 */
export interface Destination {
  /** The label `for` of the metric `smtp_messages_total`. */
  label: string;
  /** Maximum size of a message in bytes. */
  maxSize: number;
  /** Whether a message has at most one recipient of all destinations for which this is true. Others get 452. */
  single?: boolean;
  /** Whether it accepts messages to the last, while the disk has no space for those of other destinations. */
  usesReserve?: boolean;
  /** The limit of messages from a client's network (`networkOf`). Above it, the client gets 451. */
  networkLimit?: RateLimit;
  /** The same for their sizes, in KiB. */
  networkSizeLimit?: RateLimit;
  /** Called at RCPT: whether the address accepts mail now. Null if the address is none of this destination. */
  check(recipient: Recipient): Promise<{ accept: true } | Rejection | null>;
  /**
   * Stores a message: resolves when it is durably stored, or with the reply that rejects it. The client may have missed
   * our 250, so the same bytes can arrive again.
   */
  receive(mail: IncomingMail): Promise<ReceiveVerdict>;
}

/** Reads a RCPT address; null if it is at another domain. `postmaster` needs no domain (RFC 5321 §4.5.1). */
export function readRecipient(address: string, domain: string): Recipient | null {
  const at = address.lastIndexOf('@');
  const isBarePostmaster = /^postmaster$/i.test(address);
  const ownDomain = address
    .slice(at + 1)
    .toLowerCase()
    .replace(/\.$/, '');
  if (!isBarePostmaster && (at < 0 || ownDomain !== domain)) return null;
  // A quoted local part means the same as one without the quotation marks (RFC 5321 §4.1.2).
  const sent = (at < 0 ? address : address.slice(0, at)).replace(/^"([^"\\]*)"$/, '$1');
  const [user = ''] = sent.split('+', 1);
  const detail = user === sent ? null : sent.slice(user.length + 1);
  return { address, local: sent.toLowerCase(), user: user.toLowerCase(), detail };
}

/** Asks the destinations in order: the first one that knows the address decides. */
export async function findDestination(
  destinations: Destination[],
  recipient: Recipient,
): Promise<Destination | Rejection> {
  for (const destination of destinations) {
    const verdict = await destination.check(recipient);
    if (verdict) return verdict.accept ? destination : verdict;
  }
  return NO_SUCH_ADDRESS;
}
