/** Envelope addresses, and images in emails. */

/** A generous limit, above that of RFC 5321 §4.5.3.1.3 and RFC 3696 erratum 1690. */
export const MAX_ADDRESS_LENGTH = 320;

/** The address without its angle brackets, if it has any; empty for the null sender `<>`. */
export function stripAngleBrackets(text: string): string {
  return text.trim().replace(/^<(.*)>$/s, '$1');
}

/**
 * Whether an SPF result of an Authentication-Results field is for the HELO name alone (RFC 8601 §2.7.2). It says nothing
 * about the envelope sender. `result`: one result without comments, such as `spf=pass smtp.helo=mx.example.com`.
 */
export const isSpfOfHelo = (result: string): boolean =>
  /\bsmtp\.helo\s*=/i.test(result) && !/\bsmtp\.(?:mailfrom|mail)\s*=/i.test(result);

/** An image that an email contains. */
export interface MailImage {
  /** `name@host`; the HTML refers to it as `cid:<cid>` (RFC 2392). */
  cid: string;
  filename: string;
  contentType: 'image/png' | 'image/jpeg';
  content: Uint8Array;
}
