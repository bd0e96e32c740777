/** An envelope address as it is said, with or without its angle brackets. */

/** No address is longer (RFC 5321 §4.5.3.1.3, RFC 3696 erratum 1690, generously): beyond is not one. */
export const MAX_ADDRESS_LENGTH = 320;

/** `<user@example.com>` and `user@example.com` alike; empty for the null sender `<>`. */
export function bareAddress(said: string): string {
  return said.trim().replace(/^<(.*)>$/s, '$1');
}

// A picture that an e-mail of ours carries inside itself.

export interface MailImage {
  /** What the HTML calls it by: `cid:<cid>` (RFC 2392), `name@host`. */
  cid: string;
  filename: string;
  contentType: 'image/png';
  content: Uint8Array;
}
