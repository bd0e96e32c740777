/** The few forms of DER (X.690) that a certificate is written in. */

export type Der = Buffer;

/** Tag, length and contents. */
export function element(tag: number, ...contents: Uint8Array[]): Der {
  const body = Buffer.concat(contents);
  if (body.length < 128) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, body]);
}

export const sequence = (...contents: Uint8Array[]): Der => element(0x30, ...contents);
export const set = (...contents: Uint8Array[]): Der => element(0x31, ...contents);
export const octets = (...contents: Uint8Array[]): Der => element(0x04, ...contents);
export const utf8 = (text: string): Der => element(0x0c, Buffer.from(text));
export const bool = (value: boolean): Der => element(0x01, Buffer.of(value ? 0xff : 0));
export const nothing = (): Der => element(0x05);

/** A positive integer, from its bytes: the most significant bit must not be set. */
export const integer = (bytes: Uint8Array): Der => element(0x02, bytes);

/** `unused` of the last byte's bits do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Der => element(0x03, Buffer.of(unused), bytes);

/** `2.5.4.3`. */
export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return element(0x06, Buffer.from(bytes));
}

/** UTCTime up to 2049, GeneralizedTime from then on (RFC 5280 §4.1.2.5); to the second. */
export function time(ms: number): Der {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return digits < '2050'
    ? element(0x17, Buffer.from(digits.slice(2)))
    : element(0x18, Buffer.from(digits));
}
