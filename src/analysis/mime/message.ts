/** The message taken apart once for all checks: header fields, parts, and the lines as they came. */

export interface HeaderField {
  /** The name as written; empty for a line of the header that is no field (no colon, a bad name). */
  name: string;
  /** The name in lower case. */
  key: string;
  /**
   * The value unfolded (RFC 5322 §2.2.3), not decoded, trimmed; bytes above 127 read as UTF-8, a
   * bare CR as a space, NUL as U+FFFD. Of a line that is no field, the whole line.
   */
  value: string;
  /**
   * The whole field as it came, line ends and folding included, without the final line end; one
   * character for each octet (Latin-1), so that nothing is lost.
   */
  raw: string;
}

export interface Part {
  /** `text/plain`, lower case; `text/plain` where nothing is declared (RFC 2045 §5.2). */
  type: string;
  /** As declared, lower case; null where nothing is declared. */
  charset: string | null;
  /** The declared Content-Transfer-Encoding, lower case; null where nothing is declared. */
  encoding: string | null;
  disposition: string | null;
  filename: string | null;
  contentId: string | null;
  /** Octets after decoding. */
  size: number;
  /** Decoded; where nothing had to be, a view of the message itself: not to be changed. */
  content: Uint8Array;
  /** Where the body of the part lies in the message as it came, still encoded. */
  start: number;
  end: number;
}

/** What of the message is not as RFC 5322 and 2045 want lines to be; offsets count from 0. */
export interface LineFacts {
  count: number;
  /** The longest line in octets without its end, and the number of the first such line, from 1. */
  longest: number;
  longestLine: number;
  over998: number;
  bareCr: number;
  bareLf: number;
  nul: number;
  /** Octets above 127 in the header block, and after it. */
  eightBitHeader: number;
  eightBitBody: number;
}

/** Octets of a line without its end: the MUST of RFC 5322 §2.1.1. */
export const MAX_LINE_OCTETS = 998;

/** Limits on what is parsed; what lies beyond is reported, never a crash. */
export const LIMITS = { depth: 50, parts: 1000, headerBytes: 1024 * 1024 } as const;

export interface Message {
  size: number;
  headers: HeaderField[];
  /** Octets of the header block without the empty line that ends it, and where the body starts. */
  headerBytes: number;
  bodyStart: number;
  lines: LineFacts;
  /** The text a reader without HTML sees; null where there is no such part. */
  text: string | null;
  /** The HTML as a string; several inline HTML parts are joined as clients show them. */
  html: string | null;
  /** Octets of the HTML part after decoding its transfer encoding; 0 without one. */
  htmlSize: number;
  /** The leaves of the MIME tree in their order; an attached message is one part. */
  parts: Part[];
  /**
   * The limits that the message passes, as objects of "The message has …" ("50,000 MIME parts, of
   * which 1,000 were looked at"); headers, parts, text and html are then incomplete.
   */
  limits: string[];
  /**
   * The addresses of the first From field: decoded display name (or '') and address (or '' where
   * there is none); groups flattened. Read leniently: the `from` check judges the syntax.
   */
  from: { name: string; address: string }[];
  /** The first Subject field with its encoded words decoded. */
  subject: string | null;
}

/** All fields of that name (any case), in the order of the message. */
export function fields(message: Message, name: string): HeaderField[] {
  const key = name.toLowerCase();
  return message.headers.filter((field) => field.key === key);
}

/** The first field's value of that name, or null. */
export function fieldValue(message: Message, name: string): string | null {
  return fields(message, name)[0]?.value ?? null;
}
