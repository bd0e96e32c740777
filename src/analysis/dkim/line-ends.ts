/** Line ends of messages from programs that write a bare LF. */

const LF = 0x0a;
const CR = 0x0d;

/**
 * Replaces every bare LF by CRLF, as mailauth reads it, in one pass: mailauth makes a buffer for each line, and a message can
 * have 25 million of them. `bareLfs` is at least their number.
 */
export function withCrlf(raw: Uint8Array, bareLfs: number): Buffer {
  const converted = Buffer.allocUnsafe(raw.length + Math.min(bareLfs, raw.length));
  let length = 0;
  let last = 0;
  for (let i = 0; i < raw.length; i++) {
    const octet = raw[i]!;
    if (octet === LF && last !== CR) converted[length++] = CR;
    converted[length++] = octet;
    last = octet;
  }
  return converted.subarray(0, length);
}
