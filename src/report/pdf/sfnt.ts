/**
 * Reads font files: TrueType and OpenType, WOFF, and the first font of a collection. fontkit unpacks a table of a WOFF
 * font again for each glyph, and cannot make subsets of WOFF2 fonts. So fonts become plain TrueType first.
 */

import { inflateSync } from 'node:zlib';

interface Table {
  tag: string;
  checksum: number;
  bytes: Uint8Array;
}

/** Bounds the memory for one font. The largest fonts of Chinese, Japanese and Korean have 35 MB. */
const MAX_TABLE_BYTES = 40_000_000;

/** The font as TrueType or OpenType. Throws for other formats and damaged files. */
export function plainFont(file: Buffer): Buffer {
  const tag = file.toString('latin1', 0, 4);
  if (tag === 'wOFF') return joinTables(file.readUInt32BE(4), woffTables(file));
  if (tag !== 'ttcf') return file;
  const at = file.readUInt32BE(12);
  return joinTables(file.readUInt32BE(at), sfntTables(file, at));
}

function woffTables(file: Buffer): Table[] {
  return Array.from({ length: file.readUInt16BE(12) }, (_, index) => {
    const entry = 44 + 20 * index;
    const [offset, packed, length, checksum] = [4, 8, 12, 16].map((at) =>
      file.readUInt32BE(entry + at),
    ) as [number, number, number, number];
    const bytes = file.subarray(offset, offset + packed);
    return {
      tag: file.toString('latin1', entry, entry + 4),
      checksum,
      bytes: packed < length ? inflateSync(bytes, { maxOutputLength: MAX_TABLE_BYTES }) : bytes,
    };
  });
}

function sfntTables(file: Buffer, at: number): Table[] {
  return Array.from({ length: file.readUInt16BE(at + 4) }, (_, index) => {
    const entry = at + 12 + 16 * index;
    const offset = file.readUInt32BE(entry + 8);
    return {
      tag: file.toString('latin1', entry, entry + 4),
      checksum: file.readUInt32BE(entry + 4),
      bytes: file.subarray(offset, offset + file.readUInt32BE(entry + 12)),
    };
  });
}

function joinTables(version: number, tables: Table[]): Buffer {
  const head = Buffer.alloc(12 + 16 * tables.length);
  head.writeUInt32BE(version, 0);
  head.writeUInt16BE(tables.length, 4);
  const parts: Uint8Array[] = [head];
  let offset = head.length;
  tables.forEach(({ tag, checksum, bytes }, index) => {
    const entry = 12 + 16 * index;
    head.write(tag, entry, 'latin1');
    [checksum, offset, bytes.length].forEach((value, field) => {
      head.writeUInt32BE(value, entry + 4 + 4 * field);
    });
    const padding = -bytes.length & 3;
    parts.push(bytes, new Uint8Array(padding));
    offset += bytes.length + padding;
  });
  return Buffer.concat(parts);
}
