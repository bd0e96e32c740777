/** Content-Transfer-Encodings undone (RFC 2045 §6.7 and §6.8), leniently and in one pass each. */

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

/** The octets of a body; what is not base64 or quoted-printable is answered as it is. */
export function decodeTransfer(body: Uint8Array, encoding: string | null): Uint8Array {
  if (encoding === 'base64') return decodeBase64(body);
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(body);
  return body;
}

/**
 * Octets outside the alphabet are skipped (§6.8), and `=` ends a group, after which another may
 * begin: some programs pad every line.
 */
function decodeBase64(body: Uint8Array): Uint8Array {
  const decoded = new Uint8Array(Math.ceil((body.length * 3) / 4) + 3);
  let length = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < body.length; i++) {
    const octet = body[i]!;
    const sextet = SEXTETS[octet]!;
    if (sextet === NONE) {
      if (octet === EQUALS) held = 0;
      continue;
    }
    bits = ((bits << 6) | sextet) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      decoded[length++] = bits >> held;
    }
  }
  return decoded.subarray(0, length);
}

/** An `=` that begins neither an octet nor a soft line break stays as it is. */
function decodeQuotedPrintable(body: Uint8Array): Uint8Array {
  const decoded = new Uint8Array(body.length);
  let length = 0;
  for (let i = 0; i < body.length; i++) {
    const octet = body[i]!;
    if (octet !== EQUALS) {
      decoded[length++] = octet;
      continue;
    }
    const high = HEX[body[i + 1] ?? 0]!;
    const low = HEX[body[i + 2] ?? 0]!;
    if (high !== NONE && low !== NONE) {
      decoded[length++] = high * 16 + low;
      i += 2;
    } else {
      const skipped = softBreak(body, i + 1);
      if (skipped === null) decoded[length++] = octet;
      else i += skipped;
    }
  }
  return decoded.subarray(0, length);
}

// White space that transport added behind the `=` (§6.7 rule 3); no more than a line may hold.
const MAX_PADDING = 76;

/** The octets up to the end of the line, or of the body, after an `=`; null where more text follows. */
function softBreak(body: Uint8Array, start: number): number | null {
  let i = start;
  while (i - start < MAX_PADDING && (body[i] === 0x20 || body[i] === 0x09)) i++;
  if (body[i] === LF) return i - start + 1;
  if (body[i] === CR && body[i + 1] === LF) return i - start + 2;
  return i === body.length ? i - start : null;
}

// Octets to text by the character set that a part declares.

// Names that mail uses and the WHATWG Encoding Standard, hence TextDecoder, does not know.
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
 * Never throws. Without a declaration UTF-8, which holds US-ASCII; an unknown name is read as
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
