/**
 * Containers of reports: gzip, zip, or nothing. Only the first bytes decide, because content types and file names are
 * often wrong.
 */

import { constants, crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { type Budget, LIMITS, RefusedError, spend, tooLarge } from './limits.ts';
import { documentText } from './text.ts';

/** A file that may be a report. */
export interface ReportFile {
  format: 'xml' | 'json';
  /** The name in the archive; null if the file was not in one. */
  name: string | null;
  text: string;
  /** What had to be repaired to unpack it. */
  repaired: string[];
}

type Kind = 'gzip' | 'zip' | 'xml' | 'json';

/** What the first bytes are; null for anything that cannot contain a report. */
export function kindOf(bytes: Uint8Array): Kind | null {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
  if (bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4) return 'zip';
  const first = /^[\uFEFF\s\0\u00ef\u00bb\u00bf\u00fe\u00ff]*([<{])/.exec(
    Buffer.from(bytes.subarray(0, 512)).toString('latin1'),
  )?.[1];
  return first === '<' ? 'xml' : first === '{' ? 'json' : null;
}

/** The files in a container, at most two layers deep. Throws RefusedError. */
export async function unpack(bytes: Uint8Array, budget: Budget, layers = 0): Promise<ReportFile[]> {
  const kind = kindOf(bytes);
  if (kind === null) return [];
  if (kind === 'xml' || kind === 'json') {
    if (layers === 0) spend(budget, bytes.length);
    return [{ format: kind, name: null, ...documentText(bytes) }];
  }
  if (layers === LIMITS.layers)
    throw new RefusedError('unsupported', 'The file is packed more than twice.');
  const repaired: string[] = [];
  const members =
    kind === 'zip'
      ? await unzip(bytes, budget)
      : [{ name: null, content: gunzip(bytes, budget, repaired) }];
  const files: ReportFile[] = [];
  for (const { name, content } of members)
    for (const file of await unpack(content, budget, layers + 1))
      files.push({ ...file, name: file.name ?? name, repaired: [...repaired, ...file.repaired] });
  return files;
}

// gzip (RFC 1952).

function gunzip(bytes: Uint8Array, budget: Budget, repaired: string[]): Uint8Array {
  const limit = { maxOutputLength: Math.max(budget.left, 1) };
  let content: Uint8Array;
  try {
    content = gunzipSync(bytes, limit);
  } catch (error) {
    if (isTooLarge(error)) throw tooLarge();
    content = lenientGunzip(bytes, limit, repaired);
  }
  spend(budget, content.length);
  return content;
}

/** As far as the data goes: the content decides whether it is complete. */
function lenientGunzip(
  bytes: Uint8Array,
  limit: { maxOutputLength: number },
  repaired: string[],
): Uint8Array {
  const data = bytes.subarray(gzipHeaderLength(bytes));
  try {
    const options = { ...limit, finishFlush: constants.Z_SYNC_FLUSH, info: true };
    const { buffer, engine } = inflateRawSync(data, options) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    const end = data.subarray(engine.bytesWritten);
    if (end.length < 8) repaired.push('incomplete gzip data');
    else if (Buffer.from(end).readUInt32LE(0) === crc32(buffer))
      repaired.push('bytes after the gzip data');
    else repaired.push('a wrong checksum of gzip data');
    return buffer;
  } catch (error) {
    if (isTooLarge(error)) throw tooLarge();
    throw new RefusedError('unreadable', 'The gzip data is damaged.');
  }
}

const isTooLarge = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';

/** RFC 1952 §2.3. */
function gzipHeaderLength(bytes: Uint8Array): number {
  const flags = bytes[3] ?? 0;
  let at = 10;
  if (flags & 4) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0);
  for (const flag of [8, 16]) if (flags & flag) at = bytes.indexOf(0, at) + 1 || bytes.length;
  return flags & 2 ? at + 2 : at;
}

// zip.

const REPORT_NAME = /\.(?:xml|json)$/i;

interface Member {
  name: string;
  content: Uint8Array;
}

async function unzip(bytes: Uint8Array, budget: Budget): Promise<Member[]> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    const file = await fromBufferPromise(buffer, { lazyEntries: true, strictFileNames: false });
    const entries = await entriesOf(file);
    requireSeparate(entries, bytes.length);
    const named = entries.filter(({ fileName }) => REPORT_NAME.test(fileName));
    // Names are often wrong, so without a good one all members are looked at.
    const chosen = named.length > 0 ? named : entries;
    if (chosen.length > LIMITS.members)
      throw new RefusedError('too_many', `The zip archive has ${chosen.length} files.`);
    const members: Member[] = [];
    for (const entry of chosen)
      members.push({ name: entry.fileName, content: await readMember(file, entry, budget) });
    return members;
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    throw new RefusedError('unreadable', 'The zip archive is damaged.');
  }
}

/** Regular files, without those that macOS adds. */
async function entriesOf(file: ZipFile): Promise<Entry[]> {
  if (file.entryCount > LIMITS.entries)
    throw new RefusedError('too_many', `The zip archive has ${file.entryCount} files.`);
  const entries: Entry[] = [];
  for await (const entry of file.eachEntry())
    if (!/\/$|^__MACOSX\/|(?:^|\/)\._/.test(entry.fileName)) entries.push(entry);
  return entries;
}

/** Bombs refer to the same data many times. */
function requireSeparate(entries: Entry[], size: number): void {
  const sorted = entries.toSorted(
    (a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader,
  );
  let end = 0;
  for (const { relativeOffsetOfLocalHeader: start, compressedSize } of sorted) {
    if (start < end || start + compressedSize > size)
      throw new RefusedError('unreadable', 'The files in the zip archive overlap.');
    end = start + compressedSize;
  }
}

async function readMember(file: ZipFile, entry: Entry, budget: Budget): Promise<Uint8Array> {
  if (entry.isEncrypted()) throw new RefusedError('unsupported', 'The zip archive has a password.');
  if (entry.uncompressedSize > budget.left) throw tooLarge();
  const stream = await file.openReadStreamPromise(entry);
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    spend(budget, chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
