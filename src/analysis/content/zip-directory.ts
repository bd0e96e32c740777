/** The names in a ZIP archive and whether they are encrypted, from its central directory (APPNOTE §4.3). */

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

export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);

/** Decompresses nothing: only what the archive says of itself. Any bytes are taken. */
export function readZipDirectory(bytes: Uint8Array): ZipDirectory {
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
