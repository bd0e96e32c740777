/** The parsed message that all checks share: header fields, MIME parts, and facts about its lines. */

export interface HeaderField {
  /** The name as written; empty if the line is not a field (no colon, an invalid name). */
  name: string;
  /** The name in lower case. */
  key: string;
  /**
   * The unfolded (RFC 5322 §2.2.3) and trimmed value, not decoded. Bytes above 127 are read as UTF-8, a
   * bare CR as a space, NUL as U+FFFD. If the line is not a field, the whole line.
   */
  value: string;
  /**
   * The whole field as received, including folding, without the final line break. Lossless: one
   * character for each octet (Latin-1).
   */
  raw: string;
}

/** A header with its body: a part or a multipart. */
export interface Entity {
  /** The fields of its header; for the outermost, those of the message. */
  fields: HeaderField[];
  /** The offsets of the encoded body in the message. */
  start: number;
  end: number;
}

/** An entity with parts. */
export interface Multipart extends Entity {
  /** In Latin-1. */
  boundary: string;
  /** The number of its parts; 0 if its boundary never occurs. */
  children: number;
  /** How many multiparts surround it. */
  level: number;
  /** Whether its closing delimiter was found. */
  closed: boolean;
  /** The offset of its first delimiter line; null without one. */
  firstDelimiter: number | null;
}

export interface Part extends Entity {
  /** In lower case; `text/plain` if not declared (RFC 2045 §5.2). */
  type: string;
  /** As declared, in lower case; null if not declared. */
  charset: string | null;
  /** The Content-Transfer-Encoding in lower case; null if not declared. */
  encoding: string | null;
  disposition: string | null;
  filename: string | null;
  contentId: string | null;
  /** Bytes after decoding. */
  size: number;
  /** Decoded. Do not modify: it may be a view of the message itself. */
  content: Uint8Array;
}

/** How the lines of the message deviate from RFC 5322 and RFC 2045. */
export interface LineFacts {
  count: number;
  /** The length of the longest line in bytes, without its line break. */
  longest: number;
  /** The number of the first line with that length, from 1. */
  longestLine: number;
  /** Lines longer than MAX_LINE_OCTETS. */
  over998: number;
  bareCr: number;
  bareLf: number;
  nul: number;
  /** Bytes above 127. */
  eightBitHeader: number;
  eightBitBody: number;
}

/** Without the line break (RFC 5322 §2.1.1). */
export const MAX_LINE_OCTETS = 998;

/** Limits of the parser. Messages beyond them are parsed in part and reported. */
export const LIMITS = {
  depth: 50,
  parts: 1000,
  headerBytes: 1024 * 1024,
  /** Of all text parts together, and of all HTML parts: more than any client shows. */
  textBytes: 6 * 1024 * 1024,
} as const;

export interface Message {
  size: number;
  headers: HeaderField[];
  /** Without the empty line that ends the header block. */
  headerBytes: number;
  bodyStart: number;
  lines: LineFacts;
  /** What a reader without HTML sees; null if there is no text part. */
  text: string | null;
  /** Several inline HTML parts are joined, as email clients show them. */
  html: string | null;
  /** Bytes of the HTML parts after transfer decoding; 0 without HTML. */
  htmlSize: number;
  /** The leaves of the MIME tree in order; an attached message is one part. */
  parts: Part[];
  /** The multiparts, in the order in which they end. */
  multiparts: Multipart[];
  /**
   * The limits that the message exceeds, continuing "The message has …" ("50,000 MIME parts, of which
   * 1,000 were read"). Headers, parts, text and html are then incomplete.
   */
  exceededLimits: string[];
  /**
   * The mailboxes of the first From field, read leniently: the `from` check validates the syntax. The
   * display name is decoded. Both are '' if missing. Groups are flattened.
   */
  from: { name: string; address: string }[];
  /** The first Subject field, with encoded words decoded. */
  subject: string | null;
}

/** All fields with this name (case-insensitive), in the order of the message. */
export function fields(message: Pick<Message, 'headers'>, name: string): HeaderField[] {
  const key = name.toLowerCase();
  return message.headers.filter((field) => field.key === key);
}

/** The value of the first field with this name, or null. */
export function fieldValue(message: Message, name: string): string | null {
  return fields(message, name)[0]?.value ?? null;
}
