/** The library's parser of commands, with our own reading of DATA in the place of its own. */

import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';

// Reads the bytes of DATA as they come over the wire: finds the end, undoes the dot-stuffing, and
// notices every false end, in whatever pieces it comes.
//
// Only `<CR><LF>.<CR><LF>` ends a message (RFC 5321 §4.1.1.4). Where one server takes something
// else for the end and another does not, a second message with a forged envelope can be smuggled in
// between the two. So a line that holds nothing but a dot counts as a false end if any of CR, LF
// and CRLF were taken as line ends and NUL were skipped, and likewise after `<CR><CR><LF>`. What
// follows a false end is still message, never a command.

const TEXT = 0; // within a line
const CR = 1; // after one CR
const CRCR = 2; // after two or more
const LINE = 3; // after CRLF, or at the start of DATA: a dot here may be the end
const STUTTER = 4; // after CRCRLF: a line for dot-stuffing, but not for the end
const LOOSE = 5; // at what only some servers take for the start of a line
const DOT = 6; // a dot at LINE
const LOOSE_DOT = 7; // a dot at STUTTER or LOOSE
const DOT_CR = 8; // a dot at LINE and a CR: a LF makes it the end
const STATE = 0x0f;

const DROP = 0x10; // the byte is not part of the message
const FALSE_END = 0x20;
const END = 0x40;

const KINDS = 5;
const KIND = new Uint8Array(256);
KIND[0x00] = 1;
KIND[0x0a] = 2;
KIND[0x0d] = 3;
KIND[0x2e] = 4;

// biome-ignore format: a table
const NEXT = Uint8Array.of(
  //               other              NUL                LF                 CR                dot
  /* TEXT */       TEXT,              TEXT,              LOOSE,             CR,               TEXT,
  /* CR */         TEXT,              LOOSE,             LINE,              CRCR,             LOOSE_DOT,
  /* CRCR */       TEXT,              LOOSE,             STUTTER,           CRCR,             LOOSE_DOT,
  /* LINE */       TEXT,              LOOSE,             LOOSE,             CR,               DOT | DROP,
  /* STUTTER */    TEXT,              LOOSE,             LOOSE,             CR,               LOOSE_DOT | DROP,
  /* LOOSE */      TEXT,              LOOSE,             LOOSE,             CR,               LOOSE_DOT,
  /* DOT */        TEXT,              LOOSE_DOT,         LOOSE | FALSE_END, DOT_CR | DROP,    TEXT,
  /* LOOSE_DOT */  TEXT,              LOOSE_DOT,         LOOSE | FALSE_END, CR | FALSE_END,   TEXT,
  /* DOT_CR */     TEXT | FALSE_END,  LOOSE | FALSE_END, LINE | DROP | END, CRCR | FALSE_END, LOOSE_DOT | FALSE_END,
);

interface DataReader {
  /** There was a false end somewhere: the message has to be refused. */
  readonly falseEnd: boolean;
  /** Nothing but line ends came after the last false end: the client may take it for the end. */
  readonly atFalseEnd: boolean;
  /**
   * Takes the next bytes. `content` is what of them belongs to the message, unstuffed; `rest` is
   * what follows the end, or null as long as there was none.
   */
  read(chunk: Buffer): { content: Buffer; rest: Buffer | null };
}

/** A reader for one message, from the first byte after the reply to DATA. */
export function createDataReader(): DataReader {
  let state = LINE;
  let falseEnd = false;
  let atFalseEnd = false;

  function read(chunk: Buffer): { content: Buffer; rest: Buffer | null } {
    const content = Buffer.allocUnsafe(chunk.length);
    let kept = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      const step = NEXT[state * KINDS + KIND[byte]!]!;
      state = step & STATE;
      if (!(step & DROP)) content[kept++] = byte;
      if (step & END) return { content: content.subarray(0, kept), rest: chunk.subarray(i + 1) };
      const lineEnd = byte === 0x0a || byte === 0x0d;
      if (step & FALSE_END) falseEnd = atFalseEnd = true;
      if (!lineEnd) atFalseEnd = false;
    }
    return { content: content.subarray(0, kept), rest: null };
  }

  return {
    read,
    get falseEnd() {
      return falseEnd;
    },
    get atFalseEnd() {
      return atFalseEnd;
    },
  };
}

const NOTHING = Buffer.alloc(0);

/**
 * The library unstuffs dots after bare LF too and takes no notice of false ends, so this replaces
 * the one method through which it feeds the bytes of DATA, plain or from TLS.
 */
export class DataParser extends SMTPStream {
  /** Of the message at hand, or of the last one. */
  reader: DataReader = createDataReader();

  /** Called for each piece of DATA; `ended` with the last. */
  onData: (ended: boolean) => void = () => {};

  get readsData(): boolean {
    return this._dataMode;
  }

  override startDataMode(maxBytes?: number | string | null) {
    this.reader = createDataReader();
    return super.startDataMode(maxBytes);
  }

  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const { content: read, rest } = this.reader.read(chunk);
    // A message with a false end is refused whatever follows: nothing more of it is kept.
    const content = this.reader.falseEnd ? NOTHING : read;
    this._countDataBytes(content.length);
    this.onData(rest !== null);
    if (rest !== null) this._endDataMode(content, rest, done);
    else this.pass(content, done);
  }

  private pass(content: Buffer, done: () => void): void {
    const stream = this._dataStream;
    const proceed = () => {
      stream?.off('drain', proceed).off('close', proceed);
      done();
    };
    if (!stream?.writable || content.length === 0 || stream.write(content)) proceed();
    else stream.on('drain', proceed).on('close', proceed);
  }
}
