/** Octets above 127 that nothing in the message declares (RFC 2045 §2.7, §6.2; RFC 6532). */

import { isUtf8 } from 'node:buffer';
import type { Message, Part } from '../message.ts';

export interface EightBit {
  /** Header fields with such octets, by name; each once. */
  headerFields: string[];
  /** Whether those fields are UTF-8, as mail with SMTPUTF8 may have them. */
  headerIsUtf8: boolean;
  /** Octets in parts that declare no 8bit or binary encoding. */
  undeclaredEncoding: number;
  /** Octets in text parts that declare such an encoding but no character set. */
  undeclaredCharset: number;
  /** Octets in the body outside every part: before the first, between them, in their headers. */
  outsideParts: number;
}

/** Counts them over the message as it came; a message of 7-bit octets alone is not read again. */
export function findEightBit(raw: Uint8Array, message: Message): EightBit {
  const found: EightBit = {
    headerFields: [],
    headerIsUtf8: true,
    undeclaredEncoding: 0,
    undeclaredCharset: 0,
    outsideParts: 0,
  };
  if (message.lines.eightBitHeader > 0) readHeader(raw, message, found);
  if (message.lines.eightBitBody > 0) readBody(raw, message, found);
  return found;
}

function readHeader(raw: Uint8Array, message: Message, found: EightBit): void {
  const affected = message.headers.filter((field) => /[\x80-\xff]/.test(field.raw));
  const names = affected.map(({ name }) => name || '(a line that is no field)');
  found.headerFields = [...new Set(names)];
  found.headerIsUtf8 = isUtf8(raw.subarray(0, message.headerBytes));
}

function readBody(raw: Uint8Array, message: Message, found: EightBit): void {
  let inParts = 0;
  for (const part of message.parts) {
    const count = countEightBit(raw.subarray(part.start, part.end));
    inParts += count;
    if (!declaresEightBit(part)) found.undeclaredEncoding += count;
    else if (part.type.startsWith('text/') && part.charset === null)
      found.undeclaredCharset += count;
  }
  // Beyond a limit the rest was not divided into parts, so nothing can be said of it.
  if (message.limits.length === 0) found.outsideParts = message.lines.eightBitBody - inParts;
}

const declaresEightBit = (part: Part): boolean =>
  part.encoding === '8bit' || part.encoding === 'binary';

function countEightBit(octets: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < octets.length; i++) if (octets[i]! >= 0x80) count++;
  return count;
}
