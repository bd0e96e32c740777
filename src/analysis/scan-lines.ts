/** What of the lines and octets of a message is not as the standards want it, in one pass. */

import type { LineFacts } from './message.ts';
import { THRESHOLDS } from './thresholds.ts';

const LF = 0x0a;
const CR = 0x0d;

/**
 * Counts lines, their lengths and the octets that need declaring. A line ends at LF; a CR right
 * before it belongs to the line end, any other CR to the line. `headerBytes` divides header and
 * body.
 */
export function scanLines(raw: Uint8Array, headerBytes: number): LineFacts {
  const facts: LineFacts = {
    count: 0,
    longest: 0,
    longestLine: 0,
    over998: 0,
    bareCr: 0,
    bareLf: 0,
    nul: 0,
    eightBitHeader: 0,
    eightBitBody: 0,
  };
  let start = 0;
  let carriageReturns = 0;
  let lineEnds = 0;
  for (let i = 0; i < raw.length; i++) {
    const octet = raw[i]!;
    // Nearly every octet is plain text: one comparison each for the common ones.
    if (octet > 0x0d && octet < 0x80) continue;
    if (octet === LF) {
      const afterCr = i > start && raw[i - 1] === CR;
      if (afterCr) lineEnds++;
      else facts.bareLf++;
      endLine(facts, i - start - (afterCr ? 1 : 0));
      start = i + 1;
    } else if (octet === CR) carriageReturns++;
    else if (octet === 0) facts.nul++;
    else if (octet >= 0x80) {
      if (i < headerBytes) facts.eightBitHeader++;
      else facts.eightBitBody++;
    }
  }
  if (start < raw.length) endLine(facts, raw.length - start);
  facts.bareCr = carriageReturns - lineEnds;
  return facts;
}

function endLine(facts: LineFacts, length: number): void {
  facts.count++;
  if (length > THRESHOLDS.lineOctets) facts.over998++;
  if (length > facts.longest) {
    facts.longest = length;
    facts.longestLine = facts.count;
  }
}
