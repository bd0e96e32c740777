/** Detects from a file's bytes what its name can hide: programs, macros, encryption. */

import { constants, inflateRawSync } from 'node:zlib';

export interface FileContent {
  /** The kind of program, by its magic number: "a Windows program". */
  program: string | null;
  /** The kind of archive: "a ZIP archive". Documents in a ZIP container count. */
  archive: string | null;
  macros: boolean;
  /** An archive or document that needs a password to open. */
  encrypted: boolean;
  /** File names in an archive. */
  members: string[];
  /** Whether `members` lacks some files of the archive. */
  incomplete: boolean;
}

const DEFAULTS: FileContent = {
  program: null,
  archive: null,
  macros: false,
  encrypted: false,
  members: [],
  incomplete: false,
};

/** Decompresses nothing but nested archives, and those within a limit. Runs in linear time. */
export function readFileContent(bytes: Uint8Array): FileContent {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const program = detectProgram(data);
  if (program) return { ...DEFAULTS, program };
  if (isZip(data)) return readZip(data);
  if (startsWith(data, 'd0cf11e0a1b11ae1')) return readCompoundFile(data);
  if (startsWith(data, '526172211a07'))
    return { ...DEFAULTS, archive: 'a RAR archive', ...readRar(data) };
  if (startsWith(data, '377abcaf271c'))
    return { ...DEFAULTS, archive: 'a 7z archive', ...read7z(data) };
  return readUnixArchive(data);
}

const startsWith = (data: Buffer, hex: string): boolean =>
  data.subarray(0, hex.length / 2).toString('hex') === hex;

function detectProgram(data: Buffer): string | null {
  // Text may begin with the letters MZ, so the offset of the second header must be valid too.
  if (startsWith(data, '4d5a') && data.length >= 64 && isPe(data)) return 'a Windows program';
  if (startsWith(data, '7f454c46')) return 'a Linux program';
  if (startsWith(data, '4c0000000114020000000000c000000000000046')) return 'a Windows shortcut';
  if (startsWith(data, '49545346') && data.length > 96) return 'a compiled help file';
  if (startsWith(data, '4d53434600000000')) return 'a cabinet file';
  if (data.toString('latin1', ISO_VOLUME, ISO_VOLUME + 5) === 'CD001') return 'a disk image';
  if (isTestVirus(data)) return 'the EICAR test virus';
  if (/^(?:feedfac[ef]|c[ef]faedfe)$/.test(data.subarray(0, 4).toString('hex')))
    return 'a macOS program';
  if (/^#![ \t]*\/[^\n]{1,100}\n/.test(data.subarray(0, 110).toString('latin1'))) return 'a script';
  return null;
}

/** Where a disk image (ISO 9660) names its format. */
const ISO_VOLUME = 32_769;

/** The text that virus scanners report as a virus, split because they would report this file too. */
const TEST_VIRUS = ['EICAR-STANDARD', 'ANTIVIRUS-TEST-FILE!$H+H*'].join('-');

/** It must be at the start, perhaps after white space or a byte order mark. */
const isTestVirus = (data: Buffer): boolean => data.subarray(0, 128).includes(TEST_VIRUS);

/** PE or one of the older formats (NE, LE, LX). */
function isPe(data: Buffer): boolean {
  const at = data.readUInt32LE(0x3c);
  if (at + 2 > data.length) return data.includes(0);
  return /^(?:PE|NE|LE|LX)$/.test(data.toString('latin1', at, at + 2)) || data.includes(0);
}

/** Where Office and OpenDocument files keep macros. */
const MACROS = /(?:^|[\\/])vbaProject\.bin$|^(?:Basic|Scripts)\/.{1,100}\/./i;

function readZip(data: Buffer): FileContent {
  const { members, incomplete } = readZipDirectory(data);
  const nested = nestedMembers(data, members);
  return {
    ...DEFAULTS,
    archive: 'a ZIP archive',
    macros: members.some(({ name }) => MACROS.test(name)),
    encrypted: members.some(({ encrypted }) => encrypted),
    members: [...members.map(({ name }) => name), ...nested],
    incomplete,
  };
}

/** The old Office format [MS-CFB] names its streams in UTF-16. */
function readCompoundFile(data: Buffer): FileContent {
  const has = (name: string) => data.includes(name, 0, 'utf16le');
  return { ...DEFAULTS, macros: has('_VBA_PROJECT'), encrypted: has('EncryptedPackage') };
}

type ArchiveContent = Pick<FileContent, 'encrypted' | 'members'>;

/** The first file names of a RAR archive (version 4 or 5), and whether names or files are encrypted. */
function readRar(data: Buffer): ArchiveContent {
  return data[6] === 0
    ? { encrypted: isEncryptedRar4(data), members: rar4Members(data) }
    : { encrypted: isEncryptedRar5(data), members: rar5Members(data) };
}

/** Each header has a CRC (2), type (1), flags (2) and size (2); data may follow. */
function rar4Members(data: Buffer): string[] {
  const members: string[] = [];
  for (let at = 7; at + 32 <= data.length && members.length < MAX_MEMBERS; ) {
    const [type, flags, size] = [
      data[at + 2],
      data.readUInt16LE(at + 3),
      data.readUInt16LE(at + 5),
    ];
    const isFile = type === 0x74;
    if (isFile) {
      const start = at + 32 + (flags & 0x100 ? 8 : 0);
      const name = data.toString('latin1', start, start + data.readUInt16LE(at + 26));
      members.push(name.split('\0')[0]!.slice(-300));
    }
    if (size < 7) break;
    at += size + (isFile || flags & 0x8000 ? data.readUInt32LE(at + 7) : 0);
  }
  return members;
}

/** File headers (type 2): flags, size, attributes, [time], [checksum], compression, system, name. */
function rar5Members(data: Buffer): string[] {
  const members: string[] = [];
  for (let at = 8; at + 8 < data.length && members.length < MAX_MEMBERS; ) {
    const size = readVint(data, at + 4);
    const type = readVint(data, size.end);
    const flags = readVint(data, type.end);
    const extra = flags.value & 1 ? readVint(data, flags.end) : { value: 0, end: flags.end };
    const body = flags.value & 2 ? readVint(data, extra.end) : { value: 0, end: extra.end };
    const end = size.end + size.value;
    if (size.value === 0 || type.value === 4) break;
    if (type.value === 2) members.push(rar5Name(data.subarray(0, end), body.end));
    at = end + body.value;
  }
  return members.filter((name) => name !== '');
}

function rar5Name(data: Buffer, start: number): string {
  const flags = readVint(data, start);
  const attributes = readVint(data, readVint(data, flags.end).end);
  const times = attributes.end + (flags.value & 2 ? 4 : 0) + (flags.value & 4 ? 4 : 0);
  const system = readVint(data, readVint(data, times).end);
  const length = readVint(data, system.end);
  return data.toString('utf8', length.end, length.end + Math.min(length.value, 300));
}

function isEncryptedRar4(data: Buffer): boolean {
  // CRC (2), type (1), flags (2), size (2). The archive header comes first, then usually a file header.
  if (data.length < 20) return false;
  if (data[9] === 0x73 && data.readUInt16LE(10) & 0x0080) return true;
  const next = 7 + data.readUInt16LE(12);
  return (
    next + 5 <= data.length && data[next + 2] === 0x74 && (data.readUInt16LE(next + 3) & 4) !== 0
  );
}

function isEncryptedRar5(data: Buffer): boolean {
  let at = 8;
  // The archive header, perhaps another header, then the header of the first file.
  for (let i = 0; i < 4 && at + 8 < data.length; i += 1) {
    const size = readVint(data, at + 4);
    const type = readVint(data, size.end);
    const flags = readVint(data, type.end);
    // Type 4: all further headers are encrypted.
    if (type.value === 4) return true;
    const extra = flags.value & 1 ? readVint(data, flags.end) : { value: 0, end: flags.end };
    const end = size.end + size.value;
    if (type.value === 2) return hasEncryptionRecord(data, end - extra.value, end);
    const dataLength = flags.value & 2 ? readVint(data, extra.end).value : 0;
    at = end + dataLength;
  }
  return false;
}

/** The extra area of a file header is a list of records: size, type (1 is encryption), data. */
function hasEncryptionRecord(data: Buffer, start: number, end: number): boolean {
  let at = start;
  for (let i = 0; i < 20 && at > 0 && at < Math.min(end, data.length); i += 1) {
    const size = readVint(data, at);
    if (readVint(data, size.end).value === 1) return true;
    at = size.end + size.value;
  }
  return false;
}

/** Little-endian, seven bits per byte. The highest bit means that another byte follows. */
function readVint(data: Buffer, at: number): { value: number; end: number } {
  let value = 0;
  for (let i = 0; i < 5; i += 1) {
    const octet = data[at + i] ?? 0;
    value += (octet & 0x7f) * 2 ** (7 * i);
    if (octet < 0x80) return { value, end: at + i + 1 };
  }
  return { value, end: at + 5 };
}

/**
 * The header at the end of a 7z archive names the encryption method and the files (in UTF-16), unless it
 * is compressed itself.
 */
function read7z(data: Buffer): ArchiveContent {
  if (data.length < 32) return { encrypted: false, members: [] };
  const start = 32 + Number(data.readBigUInt64LE(12));
  const end = start + Number(data.readBigUInt64LE(20));
  const header = data.subarray(start, Math.min(end, start + 1024 * 1024));
  return { encrypted: header.includes('06f10701', 0, 'hex'), members: namesIn7z(header) };
}

/** Property 0x11: size, a byte 0, then the names, each with a final NUL. */
function namesIn7z(header: Buffer): string[] {
  for (let at = header.indexOf(0x11); at >= 0; at = header.indexOf(0x11, at + 1)) {
    const size = header[at + 1] ?? 0;
    const names = header.subarray(at + 3, at + 2 + size);
    if (size > 4 && header[at + 2] === 0 && names.length === size - 1 && names.at(-1) === 0)
      return names.toString('utf16le').split('\0').slice(0, -1);
  }
  return [];
}

// tar and gzip: names of their files.

const TAR_BLOCK = 512;

function readUnixArchive(data: Buffer): FileContent {
  if (startsWith(data, '1f8b08'))
    return { ...DEFAULTS, archive: 'a gzip archive', members: gzipMember(data) };
  if (/^BZh[1-9]1AY&SY/.test(data.toString('latin1', 0, 10)))
    return { ...DEFAULTS, archive: 'a bzip2 archive' };
  if (startsWith(data, 'fd377a585a00')) return { ...DEFAULTS, archive: 'an xz archive' };
  if (data.toString('latin1', 257, 262) !== 'ustar') return DEFAULTS;
  return { ...DEFAULTS, archive: 'a tar archive', members: tarMembers(data) };
}

/** The original file name, if flag 8 says that there is one (RFC 1952 §2.3). */
function gzipMember(data: Buffer): string[] {
  const flags = data[3] ?? 0;
  if (!(flags & 8) || flags & 4) return [];
  const end = data.indexOf(0, 10);
  return end > 10 && end < 400 ? [data.toString('latin1', 10, end)] : [];
}

function tarMembers(data: Buffer): string[] {
  const members: string[] = [];
  for (let at = 0; at + TAR_BLOCK <= data.length && members.length < MAX_MEMBERS; ) {
    const name = data.toString('utf8', at, at + 100).split('\0')[0]!;
    const size = Number.parseInt(data.toString('latin1', at + 124, at + 136), 8);
    if (name === '' || !(size >= 0)) break;
    members.push(name);
    at += TAR_BLOCK * (1 + Math.ceil(size / TAR_BLOCK));
  }
  return members;
}

// ZIP: file names and encryption flags from the central directory (APPNOTE §4.3).

interface ZipMember {
  name: string;
  encrypted: boolean;
  /** Where its local header begins; null if unknown. */
  at: number | null;
}

interface ZipDirectory {
  members: ZipMember[];
  /** The directory is damaged, or has more than MAX_MEMBERS entries. */
  incomplete: boolean;
}

const MAX_MEMBERS = 5000;
const END_RECORD_SIZE = 22;
/** Length of the comment after the end record. */
const MAX_COMMENT_LENGTH = 65_535;
const ENCRYPTED = 0x0001;
const UTF8 = 0x0800;

const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);

function readZipDirectory(bytes: Uint8Array): ZipDirectory {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tail = Math.max(0, data.length - END_RECORD_SIZE - MAX_COMMENT_LENGTH);
  const indexInTail = data.subarray(tail).lastIndexOf('504b0506', undefined, 'hex');
  const end = tail + indexInTail;
  if (indexInTail < 0 || end + END_RECORD_SIZE > data.length) return readFirstMember(data);
  const size = data.readUInt32LE(end + 12);
  const declaredStart = data.readUInt32LE(end + 16);
  // Data before the archive, as in a self-extracting one, shifts all offsets.
  let at = end - size >= 0 && isEntry(data, end - size) ? end - size : declaredStart;
  const members: ZipMember[] = [];
  // Data before the archive shifts the local headers too.
  const shift = at - declaredStart;
  while (isEntry(data, at)) {
    if (members.length >= MAX_MEMBERS) return { members, incomplete: true };
    const flags = data.readUInt16LE(at + 8);
    const nameLength = data.readUInt16LE(at + 28);
    const next = at + 46 + nameLength + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
    const local = data.readUInt32LE(at + 42) + shift;
    members.push(toMember(data.subarray(at + 46, at + 46 + nameLength), flags, local));
    at = next;
  }
  return { members, incomplete: members.length < data.readUInt16LE(end + 10) };
}

const isEntry = (data: Buffer, at: number): boolean =>
  at >= 0 && at + 46 <= data.length && data.readUInt32LE(at) === 0x02014b50;

const toMember = (name: Buffer, flags: number, at: number | null): ZipMember => ({
  name: name.toString(flags & UTF8 ? 'utf8' : 'latin1').slice(-300),
  encrypted: (flags & ENCRYPTED) !== 0,
  at,
});

/** A truncated archive lacks its directory but still has the headers of its first files. */
function readFirstMember(data: Buffer): ZipDirectory {
  const members: ZipMember[] = [];
  for (
    let at = 0;
    at >= 0 && members.length < MAX_MEMBERS;
    at = data.indexOf(LOCAL_HEADER, at + 4)
  ) {
    if (at + 30 > data.length || data[at + 2] !== 3) break;
    const name = data.subarray(at + 30, at + 30 + data.readUInt16LE(at + 26));
    members.push(toMember(name, data.readUInt16LE(at + 6), at));
  }
  return { members, incomplete: true };
}

// Archives in archives: their file names, decompressed within a limit.

const LOCAL_HEADER = Buffer.from('PK\u0003\u0004', 'latin1');
const NESTED = /\.(?:zip|jar|docx|xlsx|pptx)$/i;
const MAX_NESTED = 10;
const MAX_INFLATED = 1024 * 1024;

/** File names in the first nested ZIP archives that are not encrypted. */
function nestedMembers(data: Buffer, members: ZipMember[]): string[] {
  return members
    .filter(({ name, encrypted }) => NESTED.test(name) && !encrypted)
    .slice(0, MAX_NESTED)
    .flatMap((member) => {
      const content = memberContent(data, member);
      if (!content || !isZip(content)) return [];
      return readZipDirectory(content).members.map(({ name }) => name);
    });
}

function memberContent(data: Buffer, { at }: ZipMember): Buffer | null {
  if (at === null || at < 0 || at + 30 > data.length) return null;
  const start = at + 30 + data.readUInt16LE(at + 26) + data.readUInt16LE(at + 28);
  const body = data.subarray(start, start + (data.readUInt32LE(at + 18) || data.length));
  if (data.readUInt16LE(at + 8) === 0) return body;
  try {
    return inflateRawSync(body, {
      maxOutputLength: MAX_INFLATED,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
  } catch {
    return null;
  }
}
