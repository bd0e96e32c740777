/**
 * Replaces the packages `iconv-lite` and `encoding-japanese` in the executable: Node has these decoders built in, and the
 * tables add 600 KB. libmime uses them for parameters of header fields, and imapflow for names of mailboxes.
 */

const codecs = new Map<string, object>();

/** libmime compares codecs, and reads `decoder`. */
function getCodec(name: string): object {
  const known = codecs.get(name);
  if (known) return known;
  const codec = { decoder: {} };
  codecs.set(name, codec);
  return codec;
}

/** The name that imapflow gives to modified UTF-7 (RFC 3501 §5.1.3). */
const MAILBOX_NAME = 'utf-7-imap';

/** Throws for an unknown character set, as both packages do. */
function decode(bytes: Uint8Array, charset: string): string {
  if (charset === MAILBOX_NAME) return decodeMailboxName(Buffer.from(bytes).toString());
  return new TextDecoder(charset).decode(bytes);
}

const convert = (bytes: Uint8Array, { from }: { from: string }): string => decode(bytes, from);

function encode(text: string, charset: string): Buffer {
  if (charset !== MAILBOX_NAME) throw new Error(`Cannot encode ${charset}`);
  return Buffer.from(encodeMailboxName(text));
}

/** Encodes all but printable ASCII as UTF-16 in Base64, with `,` instead of `/` and without padding. */
const encodeMailboxName = (name: string): string =>
  name.replace(/&|[^ -~]+/g, (part) => {
    if (part === '&') return '&-';
    const base64 = Buffer.from(part, 'utf16le').swap16().toString('base64');
    return `&${base64.replace(/=+$/, '').replaceAll('/', ',')}-`;
  });

/** Accepts a part without `-` at its end, as `iconv-lite` does. */
const decodeMailboxName = (name: string): string =>
  name.replace(/&([A-Za-z0-9+/,]*)(-?)/g, (part, base64: string) => {
    if (part === '&-') return '&';
    const bytes = Buffer.from(base64.replaceAll(',', '/'), 'base64');
    // An incomplete last character is dropped.
    return bytes
      .subarray(0, bytes.length & ~1)
      .swap16()
      .toString('utf16le');
  });

export default { getCodec, decode, convert, encode };
