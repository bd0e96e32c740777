/** Small image files of every format, for tests. All but PNG are only as long as their dimensions need. */

import { readFileSync } from 'node:fs';

const bytes = (...parts: (string | number[] | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
  );

const uint32 = (value: number): number[] => [
  value >>> 24,
  (value >> 16) & 255,
  (value >> 8) & 255,
  value & 255,
];
const uint16 = (value: number): number[] => [value >> 8, value & 255];
const reversed = (list: number[]): number[] => list.toReversed();

/** The header of a PNG file with these dimensions. */
export const pngOf = (width: number, height: number): Buffer =>
  bytes('\x89PNG\r\n\x1a\n', uint32(13), 'IHDR', uint32(width), uint32(height), [8, 6, 0, 0, 0]);

/** A frame header after a segment of metadata. */
export const jpegOf = (width: number, height: number): Buffer =>
  bytes(
    '\xff\xd8\xff\xe0',
    uint16(16),
    'JFIF\0\x01\x01\0\0\x01\0\x01\0\0',
    [0xff, 0xc0, 0, 17, 8],
    uint16(height),
    uint16(width),
    [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1],
  );

export const gifOf = (width: number, height: number): Buffer =>
  bytes('GIF89a', reversed(uint16(width)), reversed(uint16(height)), [0, 0, 0]);

/** Extended WebP (RFC 9649 §2.7). */
export const webpOf = (width: number, height: number): Buffer =>
  bytes(
    'RIFF',
    uint32(0),
    'WEBPVP8X',
    [10, 0, 0, 0, 0, 0, 0, 0],
    ...[width, height].map((side) => reversed(uint32(side - 1)).slice(0, 3)),
  );

/** Its `ispe` box, after that of a smaller tile. */
export const avifOf = (width: number, height: number): Buffer =>
  bytes(
    uint32(28),
    'ftypavif\0\0\0\0avifmif1miaf',
    ...[
      [64, 64],
      [width, height],
    ].map(([w, h]) => bytes(uint32(20), 'ispe', uint32(0), uint32(w!), uint32(h!))),
  );

export const bmpOf = (width: number, height: number): Buffer =>
  bytes(
    'BM',
    Array(16).fill(0),
    reversed(uint32(width)),
    reversed(uint32(-height)),
    Array(4).fill(0),
  );

export const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10"/></svg>';

/** A whole file, as browsers show it. */
export const REAL_PNG: Buffer = readFileSync(new URL('../../docs/test-light.png', import.meta.url));
