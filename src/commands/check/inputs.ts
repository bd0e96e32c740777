/** Finds the messages that the arguments name, and reads them one at a time. */

import {
  closeSync,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { notAMessage } from '../../mailtests/message-file.ts';
import { type Io, UsageError } from '../command.ts';
import { readHtmlTemplate } from './html-template.ts';

export interface MessageSource {
  /** The path as reports show it; `-` is standard input. */
  name: string;
  /** Absolute; null for standard input. */
  path: string | null;
  /** 0 if it is not known yet, as for a pipe. */
  size: number;
  /** Whether it is checked as a template and not as a message that was sent. */
  isTemplate: boolean;
  /** Throws a UsageError if the file cannot be read, is empty, is too large, or is not a message. HTML is wrapped in one. */
  read(): Promise<Uint8Array>;
}

export const MAX_MESSAGE_BYTES = 25 * 1024 * 1024;
/** What is kept for each message until the end of a run is small, but not nothing. */
const MAX_MESSAGES = 10_000;
/** They can contain thousands of messages that nobody sends, such as the fixtures of libraries. */
const IGNORED_FOLDERS = new Set(['.git', 'node_modules']);

export interface Inputs {
  sources: MessageSource[];
  /** Exactly one message was named, and not through a folder. */
  isSingle: boolean;
}

export interface InputOptions {
  /** All files are templates, and folders are searched for HTML too. An HTML file always is one. */
  template?: boolean | undefined;
}

const HTML_FILE = /\.html?$/i;

/**
 * The messages in the order of the arguments, those of a folder by name, each once. A folder that cannot be read
 * is a source whose `read` throws.
 */
export function findMessages(args: string[], io: Io, options: InputOptions = {}): Inputs {
  const sources = new Map<string, MessageSource>();
  const add = (source: MessageSource) => {
    const key = source.path ?? '-';
    if (sources.has(key)) return;
    if (sources.size === MAX_MESSAGES)
      throw new UsageError(`More than ${MAX_MESSAGES} messages. Check them in several runs`);
    sources.set(key, source);
  };
  let isFolder = false;
  for (const arg of args) {
    if (arg === '-') add(standardInput(io, options));
    else if (!statSync(arg, { throwIfNoEntry: false })?.isDirectory())
      add(fileSource(arg, options));
    else {
      isFolder = true;
      for (const source of messagesIn(arg, options)) add(source);
    }
  }
  return { sources: [...sources.values()], isSingle: sources.size === 1 && !isFolder };
}

function standardInput(io: Io, { template = false }: InputOptions): MessageSource {
  let bytes: Promise<Uint8Array> | undefined;
  return {
    name: '-',
    path: null,
    size: 0,
    isTemplate: template,
    async read() {
      bytes ??= io.stdin(MAX_MESSAGE_BYTES);
      return validMessage('Standard input', Uint8Array.from(await bytes), template);
    },
  };
}

export function fileSource(file: string, { template = false }: InputOptions = {}): MessageSource {
  const isTemplate = template || HTML_FILE.test(file);
  const stats = statSync(file, { throwIfNoEntry: false });
  let kept: Uint8Array | undefined;
  return {
    name: shownPath(file),
    path: resolve(file),
    size: stats?.isFile() ? stats.size : 0,
    isTemplate,
    async read() {
      if (kept) return Uint8Array.from(kept);
      const bytes = validMessage(file, readFile(file), isTemplate);
      // A pipe can be read only once.
      if (!stats?.isFile()) kept = Uint8Array.from(bytes);
      return bytes;
    },
  };
}

/** Relative to the current folder, with slashes, so that a baseline fits on every machine. */
function shownPath(file: string): string {
  const path = relative('', file);
  return path.startsWith('..') || path === '' ? file : path.split(sep).join('/');
}

function* messagesIn(folder: string, options: InputOptions): Generator<MessageSource> {
  let isEmpty = true;
  for (const entry of walk(folder, options)) {
    isEmpty = false;
    yield 'file' in entry
      ? fileSource(entry.file, options)
      : brokenSource(entry.folder, entry.problem);
  }
  if (isEmpty)
    yield brokenSource(
      folder,
      `${folder} contains no .eml${options.template ? ' or .html' : ''} files`,
    );
}

/** A folder without messages. It must not look like one that has been checked. */
const brokenSource = (folder: string, problem: string): MessageSource => ({
  name: shownPath(folder),
  path: resolve(folder),
  size: 0,
  isTemplate: false,
  read: async () => {
    throw new UsageError(problem);
  },
});

/** Links to folders are not followed, because they can lead in circles. Links to files are. */
function* walk(
  folder: string,
  options: InputOptions,
): Generator<{ file: string } | { folder: string; problem: string }> {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    yield { folder, problem: unreadable(folder, (error as NodeJS.ErrnoException).code) };
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!IGNORED_FOLDERS.has(entry.name)) yield* walk(path, options);
    } else if (isMessageFile(entry.name, options) && (entry.isFile() || isLinkToFile(entry, path)))
      yield { file: path };
  }
}

const isMessageFile = (name: string, { template = false }: InputOptions): boolean =>
  /\.eml$/i.test(name) || (template && HTML_FILE.test(name));

/** Also a broken link, which is an error of its own. */
const isLinkToFile = (entry: Dirent, path: string): boolean =>
  entry.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })?.isFile() !== false;

function validMessage(name: string, bytes: Uint8Array, isTemplate: boolean): Uint8Array {
  if (bytes.byteLength === 0) throw new UsageError(`${name} is empty`);
  if (bytes.byteLength > MAX_MESSAGE_BYTES) throw new UsageError(`${name} is larger than 26 MB`);
  const html = isTemplate ? readHtmlTemplate(name, bytes) : null;
  if (html) return html;
  const problem = notAMessage(name, bytes);
  if (problem !== null) throw new UsageError(problem + templateHint(problem));
  return bytes;
}

/** Standard input and files with another ending can be HTML too. */
const templateHint = (problem: string): string =>
  problem.includes('HTML page') ? '. To check it as a template, add --template' : '';

function unreadable(file: string, code: string | undefined): string {
  if (code === 'ENOENT') return `${file} does not exist`;
  return code === 'EACCES'
    ? `${file} cannot be read: permission denied`
    : `${file} cannot be read (${code})`;
}

/** Reads at most the maximum and one byte, because a device may never end. */
function readFile(file: string): Uint8Array {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    return readAtMost(descriptor, MAX_MESSAGE_BYTES + 1);
  } catch (error) {
    throw new UsageError(unreadable(file, (error as NodeJS.ErrnoException).code));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const FIRST_BUFFER_BYTES = 64 * 1024;

function readAtMost(descriptor: number, max: number): Uint8Array {
  const expected = fstatSync(descriptor).size + 1;
  let buffer = Buffer.allocUnsafeSlow(Math.min(max, Math.max(expected, FIRST_BUFFER_BYTES)));
  let size = 0;
  for (;;) {
    if (size === buffer.length) {
      if (size === max) break;
      const larger = Buffer.allocUnsafeSlow(Math.min(max, size * 2));
      buffer.copy(larger);
      buffer = larger;
    }
    const read = readSync(descriptor, buffer, size, buffer.length - size, null);
    if (read === 0) break;
    size += read;
  }
  // A copy, because the array moves to another thread with its whole buffer.
  return Uint8Array.prototype.slice.call(buffer, 0, size);
}
