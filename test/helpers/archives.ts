/** Builds archives and other files byte by byte, for tests: obsolete formats and broken files. */

interface Member {
  name: string;
  encrypted?: boolean;
  content?: string;
}

/** A ZIP archive with stored files (APPNOTE §4.3). */
export function zip(...members: Member[]): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const { name, encrypted = false, content = '' } of members) {
    const [path, data] = [Buffer.from(name), Buffer.from(content)];
    const flags = 0x0800 | (encrypted ? 1 : 0);
    const local = Buffer.alloc(30);
    local.write('PK\u0003\u0004', 'latin1');
    local.writeUInt16LE(flags, 6);
    local.writeUInt32LE(data.length, 18);
    local.writeUInt32LE(data.length, 22);
    local.writeUInt16LE(path.length, 26);
    const entry = Buffer.alloc(46);
    entry.write('PK\u0001\u0002', 'latin1');
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(path.length, 28);
    entry.writeUInt32LE(at, 42);
    bodies.push(local, path, data);
    entries.push(entry, path);
    at += local.length + path.length + data.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(Math.min(members.length, 0xffff), 8);
  end.writeUInt16LE(Math.min(members.length, 0xffff), 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, directory, end]);
}

/** The start of a Windows executable. */
export function windowsProgram(): Buffer {
  const data = Buffer.alloc(256);
  data.write('MZ', 'latin1');
  data.writeUInt32LE(0x80, 0x3c);
  data.write('PE\u0000\u0000', 0x80, 'latin1');
  return data;
}

/** An old Office file (compound file) with a stream of this name. */
export const compoundFile = (stream: string): Buffer =>
  Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(1016),
    Buffer.from(stream, 'utf16le'),
    Buffer.alloc(100),
  ]);

/** A RAR 4 archive: the archive header and a file header, each with flags. */
export function rar4(archiveFlags: number, fileFlags: number): Buffer {
  const header = (type: number, flags: number, size: number) => {
    const data = Buffer.alloc(size);
    data[2] = type;
    data.writeUInt16LE(flags, 3);
    data.writeUInt16LE(size, 5);
    return data;
  };
  return Buffer.concat([
    Buffer.from('526172211a0700', 'hex'),
    header(0x73, archiveFlags, 13),
    header(0x74, fileFlags, 40),
  ]);
}

/** A RAR 5 archive with these headers, each shorter than 128 bytes. */
export function rar5(...headers: number[][]): Buffer {
  const blocks = headers.map((header) => Buffer.from([0, 0, 0, 0, header.length, ...header]));
  return Buffer.concat([Buffer.from('526172211a070100', 'hex'), ...blocks, Buffer.alloc(20)]);
}

/** A 7z archive with this header (hex) at its end. */
export function sevenZip(header: string): Buffer {
  const start = Buffer.alloc(32);
  start.write('377abcaf271c0004', 'hex');
  start.writeBigUInt64LE(10n, 12);
  start.writeBigUInt64LE(BigInt(header.length / 2), 20);
  return Buffer.concat([start, Buffer.alloc(10), Buffer.from(header, 'hex')]);
}
