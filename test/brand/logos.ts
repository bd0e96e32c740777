/** Logo files for tests: whole, damaged, and with more in them than a picture. */

import { crc32, deflateSync } from 'node:zlib';

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

interface PngOptions {
  width?: number;
  height?: number;
  /** The number of rows that the data has; default: `height`. */
  rows?: number;
  interlace?: 0 | 1;
  /** Chunks of text before the pixels. */
  text?: string;
  after?: string;
}

/** A green picture with an opaque lower half. */
export function pngLogo(options: PngOptions = {}): Buffer {
  const { width = 120, height = 40, rows = height, interlace = 0, text, after = '' } = options;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, interlace], 8);
  const pixels = Buffer.alloc(rows * (1 + width * 4));
  for (let y = 0; y < Math.min(rows, 4000); y++)
    for (let x = 0; x < width; x++)
      pixels.set([10, 125, 90, y * 2 < height ? 120 : 255], y * (1 + width * 4) + 1 + x * 4);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...(text ? [chunk('tEXt', Buffer.from(text))] : []),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
    Buffer.from(after),
  ]);
}

/** 24 × 12, as Chromium writes it, with a color profile. */
export const JPEG_LOGO = Buffer.from(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/4gHYSUNDX1BST0ZJTEUAAQEAAAHIAAAAAAQwAABtbnRyUkdCIFhZWiAH4AABAAEAAAAAAABhY3NwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAA9tYAAQAAAADTLQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlkZXNjAAAA8AAAACRyWFlaAAABFAAAABRnWFlaAAABKAAAABRiWFlaAAABPAAAABR3dHB0AAABUAAAABRyVFJDAAABZAAAAChnVFJDAAABZAAAAChiVFJDAAABZAAAAChjcHJ0AAABjAAAADxtbHVjAAAAAAAAAAEAAAAMZW5VUwAAAAgAAAAcAHMAUgBHAEJYWVogAAAAAAAAb6IAADj1AAADkFhZWiAAAAAAAABimQAAt4UAABjaWFlaIAAAAAAAACSgAAAPhAAAts9YWVogAAAAAAAA9tYAAQAAAADTLXBhcmEAAAAAAAQAAAACZmYAAPKnAAANWQAAE9AAAApbAAAAAAAAAABtbHVjAAAAAAAAAAEAAAAMZW5VUwAAACAAAAAcAEcAbwBvAGcAbABlACAASQBuAGMALgAgADIAMAAxADb/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAMABgDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAEF/8QAHhAAAQQBBQAAAAAAAAAAAAAAAAUREhMBFSRCUWH/xAAXAQADAQAAAAAAAAAAAAAAAAAAAQIF/8QAGREBAAIDAAAAAAAAAAAAAAAAABESAiFR/9oADAMBAAIRAxEAPwCoaNq9+4pqjwk7v7joLiNpFG4utlwizN7nsyQNkWxrEb6AAEP/2Q==',
  'base64',
);
