/** A saved message as it arrived, without what its receiver added. */

import { scanHeaders } from '../mime/headers.ts';
import { readReceipt } from './receipt.ts';

export interface ArrivedMessage {
  raw: Uint8Array;
  /** Maps a line number of `raw` to that in the file; both count from 1. */
  lineInFile(line: number): number;
}

/** All checks read this message, so none judges the fields of the receiver as the sender's. */
export function arrivedMessage(file: Uint8Array): ArrivedMessage {
  const { headers } = scanHeaders(file);
  const added = new Set(readReceipt(headers)?.addedFields);
  if (added.size === 0) return { raw: file, lineInFile: (line) => line };
  const kept: Uint8Array[] = [];
  /** The first line and the number of lines of each removed field. */
  const removed: [first: number, count: number][] = [];
  let offset = 0;
  let line = 1;
  for (const [index, { raw }] of headers.entries()) {
    const end = endOfLine(file, offset + raw.length);
    const count = raw.split('\n').length;
    if (added.has(index)) removed.push([line, count]);
    else kept.push(file.subarray(offset, end));
    offset = end;
    line += count;
  }
  kept.push(file.subarray(offset));
  return {
    raw: Buffer.concat(kept),
    lineInFile: (number) =>
      removed.reduce((sum, [first, count]) => (sum >= first ? sum + count : sum), number),
  };
}

/** The offset behind the line break at the end of a field. */
function endOfLine(bytes: Uint8Array, offset: number): number {
  const lf = bytes.indexOf(0x0a, offset);
  return lf < 0 ? bytes.length : lf + 1;
}
