/** Decodes the block at an offset of a message in the ways that email clients do, whatever it declares. */

const NONE = 255;
const EQUALS = 0x3d;
const LF = 0x0a;
const CR = 0x0d;

/** The value of each octet of base64; 255 for any other. */
export const SEXTETS = new Uint8Array(256).fill(NONE);
for (const [i, char] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  SEXTETS[char.charCodeAt(0)] = i;
// The alphabet of URLs (RFC 4648 §5).
SEXTETS[0x2d] = 62;
SEXTETS[0x5f] = 63;

/** How a program treats `=` within base64: it ends a group, or is ignored. */
export type Padding = 'ends-group' | 'ignored';

export interface Decoded {
  bytes: Buffer;
  /** Whether an `=` occurred, so that the other treatment can differ. */
  padded: boolean;
}

/** Most blocks are no files and end early, so memory for all that a block could hold is not taken at once. */
const FIRST_BYTES = 1024;

const startBuffer = (maxBytes: number): Buffer =>
  Buffer.allocUnsafe(Math.max(0, Math.min(maxBytes, FIRST_BYTES)));

/** Twice as large, with room for at least 3 more bytes unless `maxBytes` is reached. */
function grown(bytes: Buffer, maxBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(maxBytes, 2 * bytes.length));
  bytes.copy(larger);
  return larger;
}

/** Octets outside the alphabet are skipped, up to `maxJunk` of them before the first result. */
export function decodeBase64At(
  raw: Buffer,
  start: number,
  end: number,
  maxBytes: number,
  padding: Padding,
  maxJunk = 64,
): Decoded {
  let bytes = startBuffer(maxBytes);
  let length = 0;
  let bits = 0;
  let bitCount = 0;
  let junk = 0;
  let padded = false;
  for (let i = start; i < end && length < maxBytes; i++) {
    const octet = raw[i]!;
    const sextet = SEXTETS[octet]!;
    if (sextet === NONE) {
      if (octet === EQUALS) {
        padded = true;
        if (padding === 'ends-group') bitCount = 0;
      } else if (octet !== LF && octet !== CR) junk += 1;
      if (length === 0 && junk > maxJunk) break;
      continue;
    }
    bits = ((bits << 6) | sextet) & 0xffff;
    bitCount += 6;
    if (bitCount >= 8) {
      bitCount -= 8;
      if (length === bytes.length) bytes = grown(bytes, maxBytes);
      bytes[length++] = bits >> bitCount;
    }
  }
  return { bytes: bytes.subarray(0, length), padded };
}

/** uuencoded lines (POSIX) from `start` to an empty one. Like some clients, it ignores what length a line declares. */
export function decodeUuAt(raw: Buffer, start: number, end: number, maxBytes: number): Buffer {
  let bytes = startBuffer(maxBytes);
  let length = 0;
  let at = start;
  while (at < end && length + 2 < maxBytes) {
    const lf = raw.indexOf(LF, at);
    const next = lf < 0 ? end : lf + 1;
    const declared = (raw[at]! - 32) & 63;
    if (declared === 0 || next - at < 2) break;
    for (let i = at + 1; i + 3 < next && length + 2 < maxBytes; i += 4) {
      if (length + 2 >= bytes.length) bytes = grown(bytes, maxBytes);
      const a = (raw[i]! - 32) & 63;
      const b = (raw[i + 1]! - 32) & 63;
      const c = (raw[i + 2]! - 32) & 63;
      const d = (raw[i + 3]! - 32) & 63;
      bytes[length++] = (a << 2) | (b >> 4);
      bytes[length++] = (b << 4) | (c >> 2);
      bytes[length++] = (c << 6) | d;
    }
    at = next;
  }
  return bytes.subarray(0, length);
}

/** yEnc: each octet is shifted by 42; `=` escapes the next one. */
export function decodeYencAt(raw: Buffer, start: number, end: number, maxBytes: number): Buffer {
  let bytes = startBuffer(maxBytes);
  let length = 0;
  for (let i = start; i < end && length < maxBytes; i++) {
    const octet = raw[i]!;
    if (octet === LF || octet === CR) continue;
    if (length === bytes.length) bytes = grown(bytes, maxBytes);
    if (octet === EQUALS) {
      if (raw[i + 1] === 0x79) break;
      i += 1;
      bytes[length++] = raw[i]! - 106;
    } else bytes[length++] = octet - 42;
  }
  return bytes.subarray(0, length);
}
