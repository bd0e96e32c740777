/** The text of an XML or JSON document in its character set. */

import { decodeText, isKnownCharset } from '../../analysis/mime/decode.ts';

const DECLARED = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i;

/** By the byte-order mark, or else the XML declaration (XML 1.0 appendix F), or else UTF-8. */
export function documentText(bytes: Uint8Array): { text: string; repaired: string[] } {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return plain(decodeText(bytes.subarray(3), 'utf-8'));
  if (a === 0xff && b === 0xfe) return plain(decodeText(bytes.subarray(2), 'utf-16le'));
  if (a === 0xfe && b === 0xff) return plain(decodeText(bytes.subarray(2), 'utf-16be'));
  // XML begins with "<", so a NUL beside it shows UTF-16 without a mark.
  if (b === 0 && a !== 0) return plain(decodeText(bytes, 'utf-16le'));
  if (a === 0 && b !== 0) return plain(decodeText(bytes, 'utf-16be'));
  const start = Buffer.from(bytes.subarray(0, 300)).toString('latin1');
  const declared = DECLARED.exec(start)?.[1] ?? 'utf-8';
  // A declaration that can be read byte by byte is not UTF-16.
  const isWrong = /^utf-?16/i.test(declared);
  const charset = isWrong || !isKnownCharset(declared) ? 'utf-8' : declared;
  const repaired =
    charset === declared ? [] : [`the encoding “${declared}”, which it does not have`];
  return { text: decodeText(bytes, charset), repaired };
}

const plain = (text: string) => ({ text, repaired: [] });
