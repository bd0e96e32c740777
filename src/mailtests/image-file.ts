/** Recognizes image files by their bytes, and reads their dimensions. Fast and safe for hostile bytes. */

export type ImageType =
  | 'image/png'
  | 'image/jpeg'
  | 'image/gif'
  | 'image/webp'
  | 'image/avif'
  | 'image/bmp'
  | 'image/svg+xml';

export interface ImageFile {
  mediaType: ImageType;
  /** In pixels. Null for SVG images, which have any size. */
  width: number | null;
  height: number | null;
}

/** A browser needs four bytes of memory for each pixel, however small the file is. */
const MAX_PIXELS = 40_000_000;
const MAX_SIDE = 20_000;

/** The image, or a clause that says why it is none or is not shown. */
export function readImageFile(bytes: Uint8Array): ImageFile | string {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = FORMATS.find(({ matches }) => matches(file));
  if (!format) return readSvg(file);
  const size = format.sizeOf(file);
  if (!size || size.width < 1 || size.height < 1) return 'the image file is damaged';
  const { width, height } = size;
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
    return `the image has ${width.toLocaleString('en')} × ${height.toLocaleString('en')} pixels, which is too many`;
  return { mediaType: format.mediaType, width, height };
}

interface Size {
  width: number;
  height: number;
}

interface Format {
  mediaType: ImageType;
  matches(file: Buffer): boolean;
  /** Null if the file ends too early, or has no size. */
  sizeOf(file: Buffer): Size | null;
}

const startsWith = (text: string, at = 0) => {
  const start = Buffer.from(text, 'latin1');
  return (file: Buffer): boolean => file.subarray(at, at + start.length).equals(start);
};

/** Reads a size from a header with this many bytes. */
const fixed =
  (bytes: number, read: (file: Buffer) => Size | null) =>
  (file: Buffer): Size | null =>
    file.length < bytes ? null : read(file);

const FORMATS: Format[] = [
  {
    mediaType: 'image/png',
    matches: startsWith('\x89PNG\r\n\x1a\n'),
    sizeOf: fixed(24, (file) => ({ width: file.readUInt32BE(16), height: file.readUInt32BE(20) })),
  },
  { mediaType: 'image/jpeg', matches: startsWith('\xff\xd8\xff'), sizeOf: jpegSize },
  {
    mediaType: 'image/gif',
    matches: (file) => startsWith('GIF87a')(file) || startsWith('GIF89a')(file),
    sizeOf: fixed(10, (file) => ({ width: file.readUInt16LE(6), height: file.readUInt16LE(8) })),
  },
  {
    mediaType: 'image/webp',
    matches: (file) => startsWith('RIFF')(file) && startsWith('WEBP', 8)(file),
    sizeOf: fixed(30, webpSize),
  },
  {
    mediaType: 'image/avif',
    matches: (file) => startsWith('ftypavif', 4)(file) || startsWith('ftypavis', 4)(file),
    sizeOf: avifSize,
  },
  {
    mediaType: 'image/bmp',
    matches: startsWith('BM'),
    // A negative height means that the rows are stored from top to bottom.
    sizeOf: fixed(26, (file) => ({
      width: file.readInt32LE(18),
      height: Math.abs(file.readInt32LE(22)),
    })),
  },
];

/** Segments of metadata that come before the frame header. */
const MAX_JPEG_SEGMENTS = 500;

/** The frame header (SOF, ITU T.81 §B.2.2) comes after segments that state their lengths. */
function jpegSize(file: Buffer): Size | null {
  let at = 2;
  for (let segment = 0; segment < MAX_JPEG_SEGMENTS && at + 9 <= file.length; segment++) {
    if (file[at] !== 0xff) return null;
    const marker = file[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: file.readUInt16BE(at + 7), height: file.readUInt16BE(at + 5) };
    // Fill bytes before a marker.
    at += marker === 0xff ? 1 : 2 + file.readUInt16BE(at + 2);
  }
  return null;
}

/** RFC 9649: lossy, lossless, or extended. */
function webpSize(file: Buffer): Size | null {
  switch (file.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = file.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

/** Metadata boxes come first, and are short. */
const MAX_AVIF_HEADER_BYTES = 64 * 1024;

/** The largest of all spatial extents (`ispe`, ISO/IEC 23008-12 §6.5.3): tiles and thumbnails have their own. */
function avifSize(file: Buffer): Size | null {
  const header = file.subarray(0, MAX_AVIF_HEADER_BYTES);
  let largest: Size | null = null;
  for (let at = header.indexOf('ispe'); at !== -1; at = header.indexOf('ispe', at + 4)) {
    if (at + 16 > header.length) break;
    const size = { width: header.readUInt32BE(at + 8), height: header.readUInt32BE(at + 12) };
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}

const MAX_SVG_BYTES = 256 * 1024;
/** Each `use` may repeat another one, so the number of shapes can grow exponentially with them. */
const MAX_USES = 20;

/** In an `img`, an SVG image runs no scripts and loads nothing. A document type could define entities that grow. */
function readSvg(file: Buffer): ImageFile | string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(file.subarray(0, MAX_SVG_BYTES + 1));
  } catch {
    return NOT_AN_IMAGE;
  }
  const beginning = text.slice(0, 5000).replace(/<\?[^>]{0,500}\?>|<!--[^>]{0,2000}-->/g, '');
  if (/^\s*<!DOCTYPE svg/i.test(beginning)) return 'SVG images with a document type are not shown';
  if (!/^\s*<(?:[\w-]{1,20}:)?svg[\s>]/.test(beginning)) return NOT_AN_IMAGE;
  if (file.length > MAX_SVG_BYTES) return 'the SVG image is too large';
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) return 'SVG images with a document type are not shown';
  if (/^[^>]{0,200}encoding\s*=\s*["'](?!utf-8|us-ascii)/i.test(text))
    return 'the SVG image is not in UTF-8';
  if ([...text.matchAll(/<(?:[\w-]{1,20}:)?use\b/g)].length > MAX_USES)
    return 'the SVG image repeats too many of its shapes';
  return { mediaType: 'image/svg+xml', width: null, height: null };
}

const NOT_AN_IMAGE = 'the response is not an image that email clients show';
