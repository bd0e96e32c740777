/** Finds the lines that divide multiparts (RFC 2046 §5.1.1), by the boundaries open at the moment. */

const LF = 0x0a;
const LINE_START = Buffer.from('\n--');

// RFC 2046 allows 70; a longer line is not worth a look.
const MAX_BOUNDARY = 250;

export interface Delimiter {
  /** Which of the open multiparts it belongs to, counted from the outermost. */
  level: number;
  /** `--boundary--`: the multipart ends here. */
  closes: boolean;
  /** Where its line starts, and where the next one does. */
  start: number;
  next: number;
}

/** The level of each open multipart by its boundary; of two alike the inner one's. */
export type OpenBoundaries = Map<string, number>;

/** The next delimiter line at or after `from`, which is the start of a line; null at the end. */
export function findDelimiter(bytes: Buffer, from: number, open: OpenBoundaries): Delimiter | null {
  if (open.size === 0) return null;
  // The body never starts at offset 0: a line end of the header is before it.
  let at = bytes.indexOf(LINE_START, Math.max(from - 1, 0));
  while (at >= 0) {
    const found = delimiterAt(bytes, at + 1, open);
    if (found) return found;
    at = bytes.indexOf(LINE_START, at + 1);
  }
  return null;
}

/** The delimiter that the line at `start` is, or null. A boundary may itself end in `--`. */
export function delimiterAt(bytes: Buffer, start: number, open: OpenBoundaries): Delimiter | null {
  if (bytes[start] !== 0x2d || bytes[start + 1] !== 0x2d) return null;
  const lf = bytes.indexOf(LF, start);
  const next = lf < 0 ? bytes.length : lf + 1;
  if (next - start > MAX_BOUNDARY) return null;
  const text = bytes.toString('latin1', start + 2, next).trimEnd();
  const opened = open.get(text);
  if (opened !== undefined) return { level: opened, closes: false, start, next };
  const closed = text.endsWith('--') ? open.get(text.slice(0, -2)) : undefined;
  return closed === undefined ? null : { level: closed, closes: true, start, next };
}
