/** The messages and files that carry reports: files of any name, folders, mbox files, and standard input. */

import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../lib/errors.ts';
import { type Io, UsageError } from '../command.ts';

export interface FeedbackFile {
  /** The path; of a message in an mbox file with its number. */
  name: string;
  bytes: Uint8Array;
  /** Why it is not read, as a sentence; null for a file that is. */
  problem: string | null;
}

/** As the service accepts it by default. */
const MAX_BYTES = 15 * 1024 * 1024;

/** Reads one file at a time. Throws a UsageError for a path that cannot be read. */
export async function* feedbackFiles(paths: string[], io: Io): AsyncGenerator<FeedbackFile> {
  for (const path of paths) {
    if (path === '-') yield* split('-', await io.stdin(MAX_BYTES));
    else yield* filesAt(path);
  }
}

function* filesAt(path: string): Generator<FeedbackFile> {
  const stats = attempt(path, () => statSync(path));
  if (stats.isDirectory()) {
    for (const name of attempt(path, () => readdirSync(path).sort()))
      if (!name.startsWith('.')) yield* filesAt(join(path, name));
  } else if (isMbox(path)) yield* mboxMessages(path);
  else if (stats.size > MAX_BYTES) yield { name: path, bytes: EMPTY, problem: TOO_LARGE };
  else
    yield fileOf(
      path,
      attempt(path, () => readFileSync(path)),
    );
}

const EMPTY = new Uint8Array();
const TOO_LARGE = 'The file is larger than 15 MiB.';

const fileOf = (name: string, bytes: Uint8Array): FeedbackFile => ({
  name,
  bytes,
  problem: bytes.length === 0 ? 'The file is empty.' : null,
});

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`Cannot read ${path}: ${errorMessage(error)}`);
  }
}

// mbox (RFC 4155): messages that begin with a line such as `From user@example.com Sat Nov 21 10:00:00 2026`.

const SEPARATOR = Buffer.from('\nFrom ');
const PIECE_BYTES = 1024 * 1024;

function isMbox(path: string): boolean {
  const file = attempt(path, () => openSync(path, 'r'));
  try {
    const start = Buffer.alloc(5);
    readSync(file, start, 0, 5, 0);
    return start.toString('latin1') === 'From ';
  } finally {
    closeSync(file);
  }
}

/** Reads piece by piece: an mbox file can be larger than the memory. */
function* mboxMessages(path: string): Generator<FeedbackFile> {
  const file = attempt(path, () => openSync(path, 'r'));
  try {
    let buffered: Buffer = Buffer.alloc(0);
    let number = 0;
    for (;;) {
      const piece = Buffer.alloc(PIECE_BYTES);
      const read = readSync(file, piece, 0, PIECE_BYTES, null);
      buffered = Buffer.concat([buffered, piece.subarray(0, read)]);
      for (let end = buffered.indexOf(SEPARATOR); end >= 0; end = buffered.indexOf(SEPARATOR)) {
        number += 1;
        yield mboxMessage(path, number, buffered.subarray(0, end + 1));
        buffered = buffered.subarray(end + 1);
      }
      if (read === 0) break;
      // What is too long for a report is skipped up to the next message.
      if (buffered.length > 4 * MAX_BYTES) buffered = buffered.subarray(-SEPARATOR.length);
    }
    if (buffered.length > SEPARATOR.length) yield mboxMessage(path, number + 1, buffered);
  } finally {
    closeSync(file);
  }
}

function mboxMessage(path: string, number: number, bytes: Buffer): FeedbackFile {
  const start = bytes.indexOf(0x0a) + 1;
  // A line that begins with "From " was escaped.
  const text = bytes
    .subarray(start)
    .toString('latin1')
    .replace(/^>(>*From )/gm, '$1');
  return fileOf(`${path} (message ${number})`, Buffer.from(text, 'latin1'));
}

function* split(name: string, bytes: Uint8Array): Generator<FeedbackFile> {
  const buffer = Buffer.from(bytes);
  if (buffer.subarray(0, 5).toString('latin1') !== 'From ') {
    yield fileOf(name, bytes);
    return;
  }
  let start = 0;
  let number = 0;
  while (start < buffer.length) {
    const end = buffer.indexOf(SEPARATOR, start);
    number += 1;
    yield mboxMessage(name, number, buffer.subarray(start, end < 0 ? undefined : end + 1));
    if (end < 0) return;
    start = end + 1;
  }
}
