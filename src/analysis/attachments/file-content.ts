/** Detects from a file's bytes what its name can hide: programs, macros, encryption. */

interface FileContent {
  /** The kind of program, by its magic number: "a Windows program". */
  program: string | null;
  macros: boolean;
  /** An archive or document that needs a password to open. */
  encrypted: boolean;
  /** File names in an archive. */
  members: string[];
  /** `members` lacks some files of the archive. */
  incomplete: boolean;
}

const PLAIN: FileContent = {
  program: null,
  macros: false,
  encrypted: false,
  members: [],
  incomplete: false,
};

/** Never decompresses anything. Runs in linear time. */
export function readFileContent(bytes: Uint8Array): FileContent {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const program = detectProgram(data);
  if (program) return { ...PLAIN, program };
  if (isZip(data)) return readZip(data);
  if (startsWith(data, 'd0cf11e0a1b11ae1')) return readCompoundFile(data);
  if (startsWith(data, '526172211a07')) return { ...PLAIN, encrypted: isEncryptedRar(data) };
  if (startsWith(data, '377abcaf271c')) return { ...PLAIN, encrypted: isEncrypted7z(data) };
  return PLAIN;
}

const startsWith = (data: Buffer, hex: string): boolean =>
  data.subarray(0, hex.length / 2).toString('hex') === hex;

function detectProgram(data: Buffer): string | null {
  // Text may begin with the letters MZ, so the offset of the second header must be valid too.
  if (startsWith(data, '4d5a') && data.length >= 64 && isPe(data)) return 'a Windows program';
  if (startsWith(data, '7f454c46')) return 'a Linux program';
  if (/^(?:feedfac[ef]|c[ef]faedfe)$/.test(data.subarray(0, 4).toString('hex')))
    return 'a macOS program';
  if (/^#![ \t]*\/[^\n]{1,100}\n/.test(data.subarray(0, 110).toString('latin1'))) return 'a script';
  return null;
}

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
  return {
    ...PLAIN,
    macros: members.some(({ name }) => MACROS.test(name)),
    encrypted: members.some(({ encrypted }) => encrypted),
    members: members.map(({ name }) => name),
    incomplete,
  };
}

/** The old Office format [MS-CFB] names its streams in UTF-16. */
function readCompoundFile(data: Buffer): FileContent {
  const has = (name: string) => data.includes(name, 0, 'utf16le');
  return { ...PLAIN, macros: has('_VBA_PROJECT'), encrypted: has('EncryptedPackage') };
}

/** Whether the file names or the first file of a RAR archive (version 4 or 5) are encrypted. */
function isEncryptedRar(data: Buffer): boolean {
  return data[6] === 0 ? isEncryptedRar4(data) : isEncryptedRar5(data);
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
    const length = flags.value & 2 ? readVint(data, extra.end).value : 0;
    at = end + length;
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

/** The header at the end of a 7z archive names the encryption method, unless it is compressed itself. */
function isEncrypted7z(data: Buffer): boolean {
  if (data.length < 32) return false;
  const start = 32 + Number(data.readBigUInt64LE(12));
  const end = start + Number(data.readBigUInt64LE(20));
  return data.subarray(start, Math.min(end, start + 1024 * 1024)).includes('06f10701', 0, 'hex');
}

// ZIP: file names and encryption flags from the central directory (APPNOTE §4.3).

interface ZipDirectory {
  members: { name: string; encrypted: boolean }[];
  /** The directory is damaged, or has more than MAX_MEMBERS entries. */
  incomplete: boolean;
}

const MAX_MEMBERS = 5000;
const END_RECORD = 22;
/** Length of the comment after the end record. */
const MAX_COMMENT = 65_535;
const ENCRYPTED = 0x0001;
const UTF8 = 0x0800;

const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);

function readZipDirectory(bytes: Uint8Array): ZipDirectory {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tail = Math.max(0, data.length - END_RECORD - MAX_COMMENT);
  const found = data.subarray(tail).lastIndexOf('504b0506', undefined, 'hex');
  const end = tail + found;
  if (found < 0 || end + END_RECORD > data.length) return readFirstMember(data);
  const size = data.readUInt32LE(end + 12);
  const declared = data.readUInt32LE(end + 16);
  // Data before the archive, as in a self-extracting one, shifts all offsets.
  let at = end - size >= 0 && isEntry(data, end - size) ? end - size : declared;
  const members: ZipDirectory['members'] = [];
  while (isEntry(data, at)) {
    if (members.length >= MAX_MEMBERS) return { members, incomplete: true };
    const flags = data.readUInt16LE(at + 8);
    const nameLength = data.readUInt16LE(at + 28);
    const next = at + 46 + nameLength + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
    members.push(toMember(data.subarray(at + 46, at + 46 + nameLength), flags));
    at = next;
  }
  return { members, incomplete: members.length < data.readUInt16LE(end + 10) };
}

const isEntry = (data: Buffer, at: number): boolean =>
  at >= 0 && at + 46 <= data.length && data.readUInt32LE(at) === 0x02014b50;

const toMember = (name: Buffer, flags: number) => ({
  name: name.toString(flags & UTF8 ? 'utf8' : 'latin1').slice(-300),
  encrypted: (flags & ENCRYPTED) !== 0,
});

/** A truncated archive has lost its directory, but its first file header is there. */
function readFirstMember(data: Buffer): ZipDirectory {
  if (data.length < 30 || data[2] !== 3) return { members: [], incomplete: true };
  const name = data.subarray(30, 30 + data.readUInt16LE(26));
  return { members: [toMember(name, data.readUInt16LE(6))], incomplete: true };
}
