/** Checks the logo of a brand, and keeps only the parts of its file that draw it. */

import { inflateSync } from 'node:zlib';
import { readImageFile } from '../mailtests/image-file.ts';
import type { BrandLogo } from '../report/brand.ts';

export const MAX_LOGO_BYTES = 200 * 1024;
/** Twice the size in which it is shown anywhere, for sharp screens, with room to spare. */
const MAX_SIDE = 2000;
const MAX_PIXELS = 1_000_000;

/** The logo without metadata and trailing bytes, or a clause that says why it is rejected. */
export function readLogo(bytes: Uint8Array): BrandLogo | string {
  if (bytes.byteLength > MAX_LOGO_BYTES) return `is larger than ${MAX_LOGO_BYTES / 1024} KB`;
  const image = readImageFile(bytes);
  const isUsable =
    typeof image !== 'string' &&
    (image.mediaType === 'image/png' || image.mediaType === 'image/jpeg');
  if (!isUsable) return 'must be a PNG or JPEG file';
  const [type, width, height] = [image.mediaType as BrandLogo['type'], image.width!, image.height!];
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
    return `has ${width} × ${height} pixels: the limits are ${MAX_SIDE} on a side and ${MAX_PIXELS.toLocaleString('en')} in total`;
  const file = Buffer.from(bytes);
  const kept = type === 'image/png' ? pngParts(file, height) : jpegParts(file);
  if (kept === null) return 'is damaged, or in a variant that some programs cannot show';
  return { type, width, height, base64: Buffer.concat(kept).toString('base64') };
}

/** Channels by color type (PNG, third edition, §11.2.1). */
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const KEPT_CHUNKS = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'];

/** Null unless the pixels have exactly the size that the header promises. Interlaced images are not accepted. */
function pngParts(file: Buffer, height: number): Buffer[] | null {
  const parts = [file.subarray(0, 8)];
  const pixels: Buffer[] = [];
  let hasPalette = false;
  for (let at = 8; at + 12 <= file.length; ) {
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length) return null;
    const type = file.toString('latin1', at + 4, at + 8);
    const isFirst = at === 8;
    if (isFirst !== (type === 'IHDR') || (isFirst && end !== 33)) return null;
    if (KEPT_CHUNKS.includes(type)) parts.push(file.subarray(at, end));
    if (type === 'PLTE') hasPalette = true;
    if (type === 'IDAT') pixels.push(file.subarray(at + 8, end - 4));
    at = end;
    if (type !== 'IEND') continue;
    const [bits, color, , , interlace] = file.subarray(24, 29) as unknown as number[];
    const channels = CHANNELS[color!];
    if (channels === undefined || ![1, 2, 4, 8].includes(bits!) || interlace !== 0) return null;
    if (color === 3 && !hasPalette) return null;
    const rowBytes = 1 + Math.ceil((file.readUInt32BE(16) * channels * bits!) / 8);
    return inflatesTo(Buffer.concat(pixels), rowBytes * height) ? parts : null;
  }
  return null;
}

function inflatesTo(compressed: Buffer, bytes: number): boolean {
  try {
    return inflateSync(compressed, { maxOutputLength: bytes }).length === bytes;
  } catch {
    return false;
  }
}

/** Segments without which a JPEG cannot be drawn: tables, frame header, restart interval and scan. */
const TABLES = [0xc4, 0xdb, 0xdd];
const FRAMES = [0xc0, 0xc1, 0xc2];
const SCAN = 0xda;
/** Application segments that change how the picture looks: JFIF, and Adobe's note about its colors. */
const KEPT_APPLICATION: Record<number, string> = { 224: 'JFIF\0', 238: 'Adobe' };
const MAX_APPLICATION_BYTES = 18;
/** A progressive image has about ten. Each takes as long to draw as the whole image. */
const MAX_SCANS = 50;

/**
 * Null unless the segments lead to scans of one frame, and to their end (ITU T.81 §B.1). Drops comments, EXIF, thumbnails and
 * color profiles.
 */
function jpegParts(file: Buffer): Buffer[] | null {
  const parts = [file.subarray(0, 2)];
  let frames = 0;
  let scans = 0;
  const end = file.lastIndexOf(Buffer.from([0xff, 0xd9]));
  for (let at = 2; at + 4 <= end; ) {
    if (file[at] !== 0xff) return null;
    const marker = file[at + 1]!;
    const next = at + 2 + file.readUInt16BE(at + 2);
    const segment = file.subarray(at, next);
    at = next;
    if (marker === 0xfe || (marker >= 0xe0 && marker <= 0xef)) {
      if (isKept(marker, segment)) parts.push(segment);
      continue;
    }
    if (FRAMES.includes(marker)) frames += 1;
    else if (marker === SCAN) scans += 1;
    else if (!TABLES.includes(marker)) return null;
    // Another frame could be larger than the first one.
    if (frames > 1 || scans > MAX_SCANS || (FRAMES.includes(marker) && segment[4] !== 8))
      return null;
    parts.push(segment);
    if (marker !== SCAN) continue;
    // Within a scan, a 0xff byte is followed by 0 or by a restart marker.
    while (at < file.length - 1 && (file[at] !== 0xff || isInScan(file[at + 1]!))) at += 1;
    parts.push(file.subarray(next, at));
    if (file[at] === 0xff && file[at + 1] === 0xd9)
      return frames === 1 ? [...parts, file.subarray(at, at + 2)] : null;
  }
  return null;
}

const isKept = (marker: number, segment: Buffer): boolean => {
  const name = KEPT_APPLICATION[marker];
  const isNamed = name !== undefined && segment.toString('latin1', 4, 4 + name.length) === name;
  return isNamed && segment.length <= MAX_APPLICATION_BYTES;
};

const isInScan = (byte: number): boolean => byte === 0 || (byte >= 0xd0 && byte <= 0xd7);
