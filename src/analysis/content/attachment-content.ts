/** What the octets of a file say that its name may not: programs, macros, encryption. */

import { isZip, readZipDirectory } from './zip-directory.ts';

interface FileContent {
  /** It is a program, by how it begins. */
  program: string | null;
  /** An Office document with macros. */
  macros: boolean;
  /** An archive or a document that nobody can look into without a password. */
  encrypted: boolean;
  /** Names in an archive. */
  members: string[];
  /** There is more in the archive than could be looked at. */
  incomplete: boolean;
}

const NOTHING: FileContent = {
  program: null,
  macros: false,
  encrypted: false,
  members: [],
  incomplete: false,
};

/** Never decompresses anything; linear in the size. */
export function readFileContent(bytes: Uint8Array): FileContent {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const program = programOf(data);
  if (program) return { ...NOTHING, program };
  if (isZip(data)) return readZip(data);
  if (startsWith(data, 'd0cf11e0a1b11ae1')) return readCompoundFile(data);
  if (startsWith(data, '526172211a07')) return { ...NOTHING, encrypted: isEncryptedRar(data) };
  if (startsWith(data, '377abcaf271c')) return { ...NOTHING, encrypted: isEncrypted7z(data) };
  return NOTHING;
}

const startsWith = (data: Buffer, hex: string): boolean =>
  data.subarray(0, hex.length / 2).toString('hex') === hex;

function programOf(data: Buffer): string | null {
  // Text may begin with the letters MZ: a program has the place of its second header.
  if (startsWith(data, '4d5a') && data.length >= 64 && isPe(data)) return 'a Windows program';
  if (startsWith(data, '7f454c46')) return 'a Linux program';
  if (/^(?:feedfac[ef]|c[ef]faedfe)$/.test(data.subarray(0, 4).toString('hex')))
    return 'a macOS program';
  if (/^#![ \t]*\/[^\n]{1,100}\n/.test(data.subarray(0, 110).toString('latin1'))) return 'a script';
  return null;
}

/** PE, or one of the older formats, whose header lies below 64 kB too. */
function isPe(data: Buffer): boolean {
  const at = data.readUInt32LE(0x3c);
  if (at + 2 > data.length) return data.includes(0);
  return /^(?:PE|NE|LE|LX)$/.test(data.toString('latin1', at, at + 2)) || data.includes(0);
}

/** Where Office and OpenDocument keep them. */
const MACROS = /(?:^|[\\/])vbaProject\.bin$|^(?:Basic|Scripts)\/.{1,100}\/./i;

function readZip(data: Buffer): FileContent {
  const { members, incomplete } = readZipDirectory(data);
  return {
    ...NOTHING,
    macros: members.some(({ name }) => MACROS.test(name)),
    encrypted: members.some(({ encrypted }) => encrypted),
    members: members.map(({ name }) => name),
    incomplete,
  };
}

/** The old Office format [MS-CFB]: names of its streams are in UTF-16. */
function readCompoundFile(data: Buffer): FileContent {
  const has = (name: string) => data.includes(name, 0, 'utf16le');
  return { ...NOTHING, macros: has('_VBA_PROJECT'), encrypted: has('EncryptedPackage') };
}

/** Whether the names, or the first file, of a RAR archive (4 or 5) are encrypted. */
function isEncryptedRar(data: Buffer): boolean {
  return data[6] === 0 ? isEncryptedRar4(data) : isEncryptedRar5(data);
}

function isEncryptedRar4(data: Buffer): boolean {
  // CRC (2), type (1), flags (2), size (2); the archive's header is the first, a file's mostly the next.
  if (data.length < 20) return false;
  if (data[9] === 0x73 && data.readUInt16LE(10) & 0x0080) return true;
  const next = 7 + data.readUInt16LE(12);
  return (
    next + 5 <= data.length && data[next + 2] === 0x74 && (data.readUInt16LE(next + 3) & 4) !== 0
  );
}

function isEncryptedRar5(data: Buffer): boolean {
  let at = 8;
  // The header of the archive, perhaps one more, then that of the first file.
  for (let i = 0; i < 4 && at + 8 < data.length; i += 1) {
    const size = readVint(data, at + 4);
    const type = readVint(data, size.end);
    const flags = readVint(data, type.end);
    // 4: all further headers are encrypted.
    if (type.value === 4) return true;
    const extra = flags.value & 1 ? readVint(data, flags.end) : { value: 0, end: flags.end };
    const end = size.end + size.value;
    if (type.value === 2) return hasEncryptionRecord(data, end - extra.value, end);
    const length = flags.value & 2 ? readVint(data, extra.end).value : 0;
    at = end + length;
  }
  return false;
}

/** The extra area of a file's header is a list of records: size, type (1 is encryption), data. */
function hasEncryptionRecord(data: Buffer, start: number, end: number): boolean {
  let at = start;
  for (let i = 0; i < 20 && at > 0 && at < Math.min(end, data.length); i += 1) {
    const size = readVint(data, at);
    if (readVint(data, size.end).value === 1) return true;
    at = size.end + size.value;
  }
  return false;
}

/** Seven bits in each octet, the lowest first; the highest bit says that one more follows. */
function readVint(data: Buffer, at: number): { value: number; end: number } {
  let value = 0;
  for (let i = 0; i < 5; i += 1) {
    const octet = data[at + i] ?? 0;
    value += (octet & 0x7f) * 2 ** (7 * i);
    if (octet < 0x80) return { value, end: at + i + 1 };
  }
  return { value, end: at + 5 };
}

/** The header at the end of a 7z archive names the method of encryption, unless it is packed itself. */
function isEncrypted7z(data: Buffer): boolean {
  if (data.length < 32) return false;
  const start = 32 + Number(data.readBigUInt64LE(12));
  const end = start + Number(data.readBigUInt64LE(20));
  return data.subarray(start, Math.min(end, start + 1024 * 1024)).includes('06f10701', 0, 'hex');
}
