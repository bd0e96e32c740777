/** What the octets of a file say that its name may not: programs, macros, encryption. */

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

// The names in a ZIP archive and whether they are encrypted, from its central directory (APPNOTE §4.3).

interface ZipDirectory {
  members: { name: string; encrypted: boolean }[];
  /** Not all of it could be read: it is damaged, or there is more than is looked at. */
  incomplete: boolean;
}

const MAX_MEMBERS = 5000;
const END_RECORD = 22;
/** The comment after the end record is at most this long. */
const MAX_COMMENT = 65_535;
const ENCRYPTED = 0x0001;
const UTF8 = 0x0800;

const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);

/** Decompresses nothing: only what the archive says of itself. Any bytes are taken. */
function readZipDirectory(bytes: Uint8Array): ZipDirectory {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tail = Math.max(0, data.length - END_RECORD - MAX_COMMENT);
  const found = data.subarray(tail).lastIndexOf('504b0506', undefined, 'hex');
  const end = tail + found;
  if (found < 0 || end + END_RECORD > data.length) return firstMember(data);
  const size = data.readUInt32LE(end + 12);
  const said = data.readUInt32LE(end + 16);
  // What stands before the archive, as in one that unpacks itself, moves all places.
  let at = end - size >= 0 && isEntry(data, end - size) ? end - size : said;
  const members: ZipDirectory['members'] = [];
  while (isEntry(data, at)) {
    if (members.length >= MAX_MEMBERS) return { members, incomplete: true };
    const flags = data.readUInt16LE(at + 8);
    const nameLength = data.readUInt16LE(at + 28);
    const next = at + 46 + nameLength + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
    members.push(member(data.subarray(at + 46, at + 46 + nameLength), flags));
    at = next;
  }
  return { members, incomplete: members.length < data.readUInt16LE(end + 10) };
}

const isEntry = (data: Buffer, at: number): boolean =>
  at >= 0 && at + 46 <= data.length && data.readUInt32LE(at) === 0x02014b50;

const member = (name: Buffer, flags: number) => ({
  name: name.toString(flags & UTF8 ? 'utf8' : 'latin1').slice(-300),
  encrypted: (flags & ENCRYPTED) !== 0,
});

/** A cut archive has no directory any more, but tells of its first file. */
function firstMember(data: Buffer): ZipDirectory {
  if (data.length < 30 || data[2] !== 3) return { members: [], incomplete: true };
  const name = data.subarray(30, 30 + data.readUInt16LE(26));
  return { members: [member(name, data.readUInt16LE(6))], incomplete: true };
}
