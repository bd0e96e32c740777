/** Decodes transfer encodings (RFC 2045 §6.7, §6.8) and character sets, leniently and in one pass. */

const LF = 0x0a;
const CR = 0x0d;
const EQUALS = 0x3d;
const NONE = 255;

const SEXTETS = new Uint8Array(256).fill(NONE);
for (const [i, char] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  SEXTETS[char.charCodeAt(0)] = i;

const HEX = new Uint8Array(256).fill(NONE);
for (let i = 0; i < 16; i++) {
  HEX[i.toString(16).charCodeAt(0)] = i;
  HEX[i.toString(16).toUpperCase().charCodeAt(0)] = i;
}

/** Decodes base64 and quoted-printable; returns a body with any other encoding unchanged. */
export function decodeTransfer(body: Uint8Array, encoding: string | null): Uint8Array {
  if (encoding === 'base64') return decodeBase64(body);
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(body);
  return body;
}

/**
 * Skips octets outside the alphabet (§6.8). More data may follow an `=`, because some programs pad
 * every line.
 */
function decodeBase64(body: Uint8Array): Uint8Array {
  const decoded = new Uint8Array(Math.ceil((body.length * 3) / 4) + 3);
  let length = 0;
  let bits = 0;
  let bitCount = 0;
  for (let i = 0; i < body.length; i++) {
    const octet = body[i]!;
    const sextet = SEXTETS[octet]!;
    if (sextet === NONE) {
      if (octet === EQUALS) bitCount = 0;
      continue;
    }
    bits = ((bits << 6) | sextet) & 0xffff;
    bitCount += 6;
    if (bitCount >= 8) {
      bitCount -= 8;
      decoded[length++] = bits >> bitCount;
    }
  }
  return decoded.subarray(0, length);
}

function decodeQuotedPrintable(body: Uint8Array): Uint8Array {
  const decoded = new Uint8Array(body.length);
  let length = 0;
  for (let i = 0; i < body.length; ) {
    const step = quotedOctetAt(body, i);
    if ((step & 511) !== SOFT_BREAK) decoded[length++] = step;
    i += step >> 9;
  }
  return decoded.subarray(0, length);
}

/** In place of an octet. */
export const SOFT_BREAK = 256;

/**
 * The decoded octet at `i`, or SOFT_BREAK, in the lower 9 bits; above them, how many octets encode it. Keeps an `=` that
 * begins neither an encoded octet nor a soft line break.
 */
export function quotedOctetAt(body: Uint8Array, i: number): number {
  const octet = body[i]!;
  if (octet !== EQUALS) return octet | ONE;
  const high = HEX[body[i + 1] ?? 0]!;
  const low = HEX[body[i + 2] ?? 0]!;
  if (high !== NONE && low !== NONE) return (high * 16 + low) | (3 * ONE);
  const skipped = softBreakLength(body, i + 1);
  return skipped === null ? octet | ONE : SOFT_BREAK | ((skipped + 1) * ONE);
}

const ONE = 512;

// White space that transport added after the `=` (§6.7 rule 3), limited to the length of a line.
const MAX_PADDING = 76;

/** The number of octets from an `=` to the end of the line or body; null if text follows on the line. */
function softBreakLength(body: Uint8Array, start: number): number | null {
  let i = start;
  while (i - start < MAX_PADDING && (body[i] === 0x20 || body[i] === 0x09)) i++;
  if (body[i] === LF) return i - start + 1;
  if (body[i] === CR && body[i + 1] === LF) return i - start + 2;
  return i === body.length ? i - start : null;
}

// Character sets that mail uses, but the WHATWG Encoding Standard (so TextDecoder) does not define.
const ALIASES = new Map([
  ['cp932', 'shift_jis'],
  ['windows-932', 'shift_jis'],
  ['cp936', 'gbk'],
  ['cp949', 'euc-kr'],
  ['uhc', 'euc-kr'],
  ['cp950', 'big5'],
  ['cp1252', 'windows-1252'],
  ['iso-8859-8-e', 'iso-8859-8'],
  ['iso-2022-jp-1', 'iso-2022-jp'],
  ['iso-2022-jp-2', 'iso-2022-jp'],
  ['cp50220', 'iso-2022-jp'],
  ['cp50221', 'iso-2022-jp'],
]);

/**
 * Never throws. The default is UTF-8, which includes US-ASCII. Unknown character sets are read as
 * windows-1252, which has a character for every octet.
 */
export function decodeText(octets: Uint8Array, charset: string | null): string {
  const label = (charset ?? 'utf-8').trim().toLowerCase();
  try {
    return new TextDecoder(ALIASES.get(label) ?? label).decode(octets);
  } catch {
    return new TextDecoder('windows-1252').decode(octets);
  }
}

/** Whether `decodeText` has a decoder for this character set. */
export function isKnownCharset(charset: string): boolean {
  const label = charset.trim().toLowerCase();
  // Aliases of US-ASCII that the Encoding Standard lacks.
  if (/^(?:ansi_x3\.4-19(?:68|86)|unknown-8bit|646)$/.test(label)) return true;
  try {
    new TextDecoder(ALIASES.get(label) ?? label);
    return true;
  } catch {
    return false;
  }
}
