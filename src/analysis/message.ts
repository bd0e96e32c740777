/** The message taken apart once for all checks: header fields, parts, and the lines as they came. */

export interface HeaderField {
  /** The name as written. */
  name: string;
  /** The name in lower case. */
  key: string;
  /** The value unfolded (RFC 5322 §2.2.3), not decoded, trimmed; bytes above 127 read as UTF-8. */
  value: string;
  /** The whole field as it came, CRLF and folding included, without the final line end. */
  raw: string;
}

export interface Part {
  /** `text/plain`, lower case; `text/plain` where nothing is declared (RFC 2045 §5.2). */
  type: string;
  charset: string | null;
  encoding: string | null;
  disposition: string | null;
  filename: string | null;
  contentId: string | null;
  /** Octets after decoding. */
  size: number;
  content: Uint8Array;
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
  /** Octets above 127 in the header block. */
  eightBitHeader: number;
}

/** Limits on what is parsed; what lies beyond is reported, never a crash. */
export const LIMITS = { depth: 50, parts: 1000, headerBytes: 1024 * 1024 } as const;

export interface Message {
  size: number;
  headers: HeaderField[];
  /** Octets of the header block, and where the body starts. */
  headerBytes: number;
  bodyStart: number;
  lines: LineFacts;
  /** The text a reader without HTML sees; null where there is no such part. */
  text: string | null;
  html: string | null;
  /** Octets of the HTML part after decoding its transfer encoding; 0 without one. */
  htmlSize: number;
  parts: Part[];
  /** The limits that the message passes, in words ("more than 1,000 MIME parts"); parts, text and html are then incomplete. */
  limits: string[];
  /** Addresses in From, parsed: display name and address; groups flattened. */
  from: { name: string; address: string }[];
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
