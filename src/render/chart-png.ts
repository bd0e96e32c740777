/** A chart as a PNG, for an e-mail: bars alone, on nothing, in colours that are seen on white and on black. */

import { crc32, deflateSync } from 'node:zlib';
import { barsOf, type Chart, GRID, type Size } from './chart.ts';

/** Red, green, blue, and how opaque: 0 is the ground, which is not there. */
const PALETTE = [
  [0, 0, 0, 0],
  [0x8b, 0x8d, 0x9e, 110],
  [0x72, 0x6b, 0xe8, 255],
];
const LINE = 1;
const BAR = 2;

/** With `scale` dots for each unit of `size`. */
export function chartPng(chart: Chart, { width, height }: Size, scale = 2): Uint8Array {
  const size = { width: width * scale, height: height * scale };
  const dots = new Uint8Array(size.width * size.height);
  const fill = (x: number, y: number, right: number, bottom: number, colour: number) => {
    for (let row = y; row < bottom; row++)
      dots.fill(colour, row * size.width + x, row * size.width + right);
  };
  for (const share of GRID) {
    const y = Math.round(share * (size.height - scale));
    fill(0, y, size.width, y + scale, LINE);
  }
  for (const bar of barsOf(chart, size))
    if (bar)
      fill(
        Math.round(bar.x),
        Math.min(Math.round(bar.y), size.height - scale),
        Math.round(bar.x + bar.width),
        size.height,
        BAR,
      );
  return encode(dots, size);
}

/** One octet a dot, an index into the palette (ISO/IEC 15948 §11.2). */
function encode(dots: Uint8Array, { width, height }: Size): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits, by palette; deflate, filters by row, not interlaced.
  head.set([8, 3, 0, 0, 0], 8);
  // Each row begins with its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++)
    rows.set(dots.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', head),
      chunk('PLTE', Buffer.from(PALETTE.flatMap((colour) => colour.slice(0, 3)))),
      chunk('tRNS', Buffer.from(PALETTE.map((colour) => colour[3]!))),
      chunk('IDAT', deflateSync(rows, { level: 9 })),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
