/** The library's parser of commands, with our own reading of DATA in the place of its own. */

import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { createDataReader, type DataReader } from './end-of-data.ts';

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
