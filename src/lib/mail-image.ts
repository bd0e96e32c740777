/** A picture that an e-mail of ours carries inside itself. */

export interface MailImage {
  /** What the HTML calls it by: `cid:<cid>` (RFC 2392), `name@host`. */
  cid: string;
  filename: string;
  contentType: 'image/png';
  content: Uint8Array;
}
