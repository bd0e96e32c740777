/** Reads Content-Type and Content-Disposition: a value with parameters (RFC 2045 §5.1, RFC 2183). */

import { joinContinuations } from './parameter-continuations.ts';

export interface StructuredField {
  /** `text/plain`, lower case, without comments; may be empty. */
  value: string;
  /** By name in lower case; RFC 2231 forms joined and decoded; of two alike the first. */
  params: Map<string, string>;
}

// Longer than any honest one: what a hostile field holds beyond is not looked at.
const MAX_LENGTH = 16 * 1024;

/** Takes the unfolded value apart, leniently; never throws. */
export function parseStructuredField(text: string): StructuredField {
  const [value = '', ...rest] = splitAtSemicolons(text.slice(0, MAX_LENGTH));
  const params = new Map<string, string>();
  for (const item of rest) {
    const equals = item.indexOf('=');
    if (equals < 1) continue;
    const name = item.slice(0, equals).trim().toLowerCase();
    if (!params.has(name)) params.set(name, item.slice(equals + 1).trim());
  }
  return { value: value.trim().toLowerCase(), params: joinContinuations(params) };
}

/** The pieces between semicolons; quoted strings without their quotes, comments dropped. */
function splitAtSemicolons(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  let quoted = false;
  let comment = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '\\' && (quoted || comment > 0)) {
      i++;
      if (quoted) piece += text[i] ?? '';
    } else if (comment > 0) {
      if (char === '(') comment++;
      else if (char === ')') comment--;
    } else if (char === '"') quoted = !quoted;
    else if (quoted) piece += char;
    else if (char === '(' && opensComment(piece)) comment = 1;
    else if (char === ';') {
      pieces.push(piece);
      piece = '';
    } else piece += char;
  }
  return [...pieces, piece];
}

/** In `filename=Invoice(1).pdf` the parenthesis is part of the name, as everybody reads it. */
function opensComment(piece: string): boolean {
  return !piece.includes('=') || /[=\s]$/.test(piece);
}
