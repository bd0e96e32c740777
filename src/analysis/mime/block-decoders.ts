/** Decodes the block at an offset of a message in the ways that email clients do, whatever it declares. */

const NONE = 255;
const EQUALS = 0x3d;
const LF = 0x0a;
const CR = 0x0d;

const SEXTETS = new Uint8Array(256).fill(NONE);
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

/** Octets outside the alphabet are skipped, up to `maxJunk` of them before the first result. */
export function decodeBase64At(
  raw: Buffer,
  start: number,
  end: number,
  maxBytes: number,
  padding: Padding,
  maxJunk = 64,
): Decoded {
  const bytes = Buffer.alloc(maxBytes);
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
      bytes[length++] = bits >> bitCount;
    }
  }
  return { bytes: bytes.subarray(0, length), padded };
}

/** uuencoded lines (POSIX) from `start` to a line that does not have the length it declares. */
export function decodeUuAt(raw: Buffer, start: number, end: number, maxBytes: number): Buffer {
  const bytes: number[] = [];
  let at = start;
  while (at < end && bytes.length < maxBytes) {
    const lf = raw.indexOf(LF, at);
    const next = lf < 0 ? end : lf + 1;
    const length = (raw[at]! - 32) & 63;
    if (length === 0 || next - at < 2) break;
    for (let i = at + 1; i + 3 < next && bytes.length < maxBytes; i += 4) {
      const [a, b, c, d] = [0, 1, 2, 3].map((k) => (raw[i + k]! - 32) & 63) as [
        number,
        number,
        number,
        number,
      ];
      bytes.push(((a << 2) | (b >> 4)) & 255, ((b << 4) | (c >> 2)) & 255, ((c << 6) | d) & 255);
    }
    at = next;
  }
  return Buffer.from(bytes);
}

/** yEnc: each octet is shifted by 42; `=` escapes the next one. */
export function decodeYencAt(raw: Buffer, start: number, end: number, maxBytes: number): Buffer {
  const bytes: number[] = [];
  for (let i = start; i < end && bytes.length < maxBytes; i++) {
    const octet = raw[i]!;
    if (octet === LF || octet === CR) continue;
    if (octet === EQUALS) {
      if (raw[i + 1] === 0x79) break;
      i += 1;
      bytes.push((raw[i]! - 106) & 255);
    } else bytes.push((octet - 42) & 255);
  }
  return Buffer.from(bytes);
}
