/**
 * Fonts of the system, for scripts that the executable has no font for. Until a text needs a font, only the tables that
 * list its characters are read.
 */

import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { FontSource } from './bundled-fonts.ts';
import { type CodePoints, includesCodePoint } from './code-points.ts';
import type { SystemFonts } from './fonts.ts';
import { plainFont } from './sfnt.ts';

/** The paths of the administrator, then where fontconfig looks, and the folders of macOS and Windows. */
export function fontPaths(configured: string[]): string[] {
  const home = homedir();
  return [
    ...configured,
    '/usr/share/fonts',
    '/usr/local/share/fonts',
    join(home, '.local/share/fonts'),
    join(home, '.fonts'),
    '/System/Library/Fonts',
    '/Library/Fonts',
    join(home, 'Library/Fonts'),
    'C:/Windows/Fonts',
    join(home, 'AppData/Local/Microsoft/Windows/Fonts'),
  ];
}

const MAX_FILES = 4000;
const MAX_FONT_BYTES = 40_000_000;
/** The largest character tables have 400 KB. */
const MAX_TABLE_BYTES = 1_000_000;

interface SystemFont extends FontSource {
  rank: number;
}

/** Looks at the files of `paths` (folders or files) when it first searches for a character. Earlier paths come first. */
export function createSystemFonts(paths: string[]): SystemFonts {
  let fonts: SystemFont[] | undefined;
  return {
    find(codePoints) {
      fonts ??= fontsIn(paths);
      return fonts.filter((font) => codePoints.every(font.covers));
    },
  };
}

/** Regular fonts without serifs first, within each path. */
function fontsIn(paths: string[]): SystemFont[] {
  let remaining = MAX_FILES;
  return paths.flatMap((path) => {
    const files = fontFiles(path).slice(0, remaining);
    remaining -= files.length;
    return files
      .flatMap((file): SystemFont[] => {
        const codePoints = codePointsOf(file);
        if (codePoints === null) return [];
        return [
          {
            name: file,
            rank: rankOf(basename(file)),
            covers: (codePoint) => includesCodePoint(codePoints, codePoint),
            read: () => plainFont(readFileSync(file)),
          },
        ];
      })
      .sort((a, b) => a.rank - b.rank);
  });
}

/** A bold, slanted or narrow font only if there is no other. */
function rankOf(name: string): number {
  if (/bold|black|heavy|italic|oblique|light|thin|condensed|narrow/i.test(name)) return 3;
  if (/serif|mono|color/i.test(name)) return 2;
  return /sans/i.test(name) ? 0 : 1;
}

/** In order of their names, so that the same fonts are used each time. Unreadable folders have none. */
function fontFiles(path: string): string[] {
  try {
    if (statSync(path).isFile()) return [path];
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ttf|otf|ttc|otc|woff)$/i.test(name))
      .sort()
      .map((name) => join(path, name));
  } catch {
    return [];
  }
}

/** null for files that cannot be embedded: damaged, too large, without outlines, or protected by their license. */
function codePointsOf(file: string): CodePoints | null {
  try {
    return withFile(file, (read, size) => {
      if (size > MAX_FONT_BYTES) return null;
      if (read(0, 4).toString('latin1') === 'wOFF')
        return readCodePoints(tablesIn(plainFont(read(0, size))));
      return readCodePoints(tablesOf(read));
    });
  } catch {
    return null;
  }
}

type Read = (offset: number, length: number) => Buffer;
/** The bytes of a table; null if the font has none of this name. */
type Tables = (tag: string, length?: number) => Buffer | null;

function withFile<T>(file: string, use: (read: Read, size: number) => T): T {
  // A pipe would block the thread.
  if (!statSync(file).isFile()) throw new Error(`${file} is not a file`);
  const descriptor = openSync(file, 'r');
  try {
    return use((offset, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
    }, fstatSync(descriptor).size);
  } finally {
    closeSync(descriptor);
  }
}

const tablesIn = (font: Buffer): Tables => tablesOf((at, length) => font.subarray(at, at + length));

function tablesOf(read: Read): Tables {
  const isCollection = read(0, 4).toString('latin1') === 'ttcf';
  const start = isCollection ? read(12, 4).readUInt32BE(0) : 0;
  const head = read(start + 12, 16 * read(start + 4, 2).readUInt16BE(0));
  const entries = new Map<string, { offset: number; size: number }>();
  for (let at = 0; at < head.length; at += 16)
    entries.set(head.toString('latin1', at, at + 4), {
      offset: head.readUInt32BE(at + 8),
      size: head.readUInt32BE(at + 12),
    });
  return (tag, length) => {
    const entry = entries.get(tag);
    return entry ? read(entry.offset, Math.min(length ?? entry.size, MAX_TABLE_BYTES)) : null;
  };
}

/** Bits of the embedding permissions in OS/2: only 2 forbids embedding. */
const PERMISSIONS = 0xf;
const NO_EMBEDDING = 2;

function readCodePoints(tables: Tables): CodePoints | null {
  const hasOutlines = tables('glyf', 1) ?? tables('CFF ', 1);
  const permissions = tables('OS/2', 10);
  const isProtected = permissions && (permissions.readUInt16BE(8) & PERMISSIONS) === NO_EMBEDDING;
  const cmap = tables('cmap');
  if (!hasOutlines || !cmap || isProtected) return null;
  const subtables = Array.from({ length: cmap.readUInt16BE(2) }, (_, index) =>
    cmap.subarray(cmap.readUInt32BE(4 + 8 * index + 4)),
  );
  // Format 12 has all characters, format 4 those of the basic plane.
  const full = subtables.find((table) => table.readUInt16BE(0) === 12);
  const basic = subtables.find((table) => table.readUInt16BE(0) === 4);
  if (full) return fullRanges(full);
  return basic ? basicRanges(basic) : null;
}

const fullRanges = (table: Buffer): CodePoints =>
  Uint32Array.from(
    Array.from({ length: table.readUInt32BE(12) }, (_, index) => [
      table.readUInt32BE(16 + 12 * index),
      table.readUInt32BE(20 + 12 * index),
    ]).flat(),
  );

/** The last segment is only a mark of the end. */
function basicRanges(table: Buffer): CodePoints {
  const twiceCount = table.readUInt16BE(6);
  return Uint32Array.from(
    Array.from({ length: twiceCount / 2 - 1 }, (_, index) => [
      table.readUInt16BE(16 + twiceCount + 2 * index),
      table.readUInt16BE(14 + 2 * index),
    ]).flat(),
  );
}
