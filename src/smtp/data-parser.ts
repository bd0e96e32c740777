/** The library's command parser with a different implementation of DATA. */

import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';

// Reads the bytes of DATA in chunks of any size: finds the end, removes dot-stuffing, and detects
// false ends.
//
// Only `<CR><LF>.<CR><LF>` ends a message (RFC 5321 §4.1.1.4). If two servers disagree about the
// end, a sender can smuggle in a second message with a forged envelope. A false end is therefore any
// line that would consist of a dot alone if CR, LF and CRLF all ended lines and NUL were ignored.
// The same applies after `<CR><CR><LF>`. What follows a false end is still part of the message, never
// a command.

const TEXT = 0; // within a line
const CR = 1; // after one CR
const CRCR = 2; // after two or more
const LINE = 3; // after CRLF, or at the start of DATA: a dot here may be the end
const CRCRLF = 4; // the start of a line for dot-stuffing, but not for the end
const LOOSE = 5; // at the start of a line for some servers only
const DOT = 6; // a dot at LINE
const LOOSE_DOT = 7; // a dot at CRCRLF or LOOSE
const DOT_CR = 8; // a dot at LINE, then CR: an LF would be the end
const STATE = 0x0f;

const DROP = 0x10; // the byte is not part of the message
const FALSE_END = 0x20;
const END = 0x40;

const BYTE_CLASS_COUNT = 5;
const BYTE_CLASS = new Uint8Array(256);
BYTE_CLASS[0x00] = 1;
BYTE_CLASS[0x0a] = 2;
BYTE_CLASS[0x0d] = 3;
BYTE_CLASS[0x2e] = 4;

// biome-ignore format: a table
const TRANSITIONS = Uint8Array.of(
  //               other              NUL                LF                 CR                dot
  /* TEXT */       TEXT,              TEXT,              LOOSE,             CR,               TEXT,
  /* CR */         TEXT,              LOOSE,             LINE,              CRCR,             LOOSE_DOT,
  /* CRCR */       TEXT,              LOOSE,             CRCRLF,            CRCR,             LOOSE_DOT,
  /* LINE */       TEXT,              LOOSE,             LOOSE,             CR,               DOT | DROP,
  /* CRCRLF */     TEXT,              LOOSE,             LOOSE,             CR,               LOOSE_DOT | DROP,
  /* LOOSE */      TEXT,              LOOSE,             LOOSE,             CR,               LOOSE_DOT,
  /* DOT */        TEXT,              LOOSE_DOT,         LOOSE | FALSE_END, DOT_CR | DROP,    TEXT,
  /* LOOSE_DOT */  TEXT,              LOOSE_DOT,         LOOSE | FALSE_END, CR | FALSE_END,   TEXT,
  /* DOT_CR */     TEXT | FALSE_END,  LOOSE | FALSE_END, LINE | DROP | END, CRCR | FALSE_END, LOOSE_DOT | FALSE_END,
);

interface DataReader {
  /** Whether the message has a false end and must be rejected. */
  readonly hasFalseEnd: boolean;
  /** Whether only CR and LF followed the last false end: the client may be waiting for a reply. */
  readonly atFalseEnd: boolean;
  /**
   * Reads the next bytes. `content` is the part that belongs to the message, without dot-stuffing;
   * `rest` is what follows the end, or null if there was no end.
   */
  read(chunk: Buffer): { content: Buffer; rest: Buffer | null };
}

/** Creates a reader for one message, from the first byte after the reply to DATA. */
export function createDataReader(): DataReader {
  let state = LINE;
  let falseEnd = false;
  let atFalseEnd = false;

  function read(chunk: Buffer): { content: Buffer; rest: Buffer | null } {
    const content = Buffer.allocUnsafe(chunk.length);
    let contentLength = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      const transition = TRANSITIONS[state * BYTE_CLASS_COUNT + BYTE_CLASS[byte]!]!;
      state = transition & STATE;
      if (!(transition & DROP)) content[contentLength++] = byte;
      if (transition & END)
        return { content: content.subarray(0, contentLength), rest: chunk.subarray(i + 1) };
      const isLineEnd = byte === 0x0a || byte === 0x0d;
      if (transition & FALSE_END) falseEnd = atFalseEnd = true;
      if (!isLineEnd) atFalseEnd = false;
    }
    return { content: content.subarray(0, contentLength), rest: null };
  }

  return {
    read,
    get hasFalseEnd() {
      return falseEnd;
    },
    get atFalseEnd() {
      return atFalseEnd;
    },
  };
}

const EMPTY_BUFFER = Buffer.alloc(0);

/**
 * The library also removes dot-stuffing after a bare LF and ignores false ends. This class replaces
 * the one method that receives the bytes of DATA, with or without TLS.
 */
export class DataParser extends SMTPStream {
  /** The reader of the current or last message. */
  reader: DataReader = createDataReader();

  /** Called for each chunk of DATA; `ended` is true for the last. */
  onData: (ended: boolean) => void = () => {};

  get isReadingData(): boolean {
    return this._dataMode;
  }

  override startDataMode(maxBytes?: number | string | null) {
    this.reader = createDataReader();
    return super.startDataMode(maxBytes);
  }

  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const { content: chunkContent, rest } = this.reader.read(chunk);
    // A message with a false end is rejected whatever follows, so the rest is not buffered.
    const content = this.reader.hasFalseEnd ? EMPTY_BUFFER : chunkContent;
    this._countDataBytes(content.length);
    this.onData(rest !== null);
    if (rest !== null) this._endDataMode(content, rest, done);
    else this.writeContent(content, done);
  }

  private writeContent(content: Buffer, done: () => void): void {
    const stream = this._dataStream;
    const proceed = () => {
      stream?.off('drain', proceed).off('close', proceed);
      done();
    };
    if (!stream?.writable || content.length === 0 || stream.write(content)) proceed();
    else stream.on('drain', proceed).on('close', proceed);
  }
}
