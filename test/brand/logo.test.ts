import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLogo } from '../../src/brand/logo.ts';
import type { BrandLogo } from '../../src/report/brand.ts';
import { pngOf } from '../mailtests/image-files.ts';
import { JPEG_LOGO, pngLogo } from './logos.ts';

const stored = (bytes: Uint8Array): Buffer => {
  const logo = readLogo(bytes);
  assert.ok(typeof logo !== 'string', String(logo));
  return Buffer.from(logo.base64, 'base64');
};

const segment = (marker: number, content: number[]): Buffer =>
  Buffer.from([0xff, marker, 0, content.length + 2, ...content]);
const frame = (marker: number, side: number): Buffer => {
  const [high, low] = [side >> 8, side & 255];
  return segment(marker, [8, high, low, high, low, 1, 1, 0x11, 0]);
};
const SCAN = Buffer.concat([segment(0xda, [1, 1, 0, 0, 63, 0]), Buffer.from([1, 2, 3])]);
const jpegOf = (...parts: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xd8]), ...parts, Buffer.from([0xff, 0xd9])]);

test('A PNG or JPEG logo is accepted with its dimensions', () => {
  const { base64, ...png } = readLogo(pngLogo()) as BrandLogo;
  assert.deepEqual(png, { type: 'image/png', width: 120, height: 40 });
  assert.deepEqual(Buffer.from(base64, 'base64'), pngLogo());
  const { base64: _, ...jpeg } = readLogo(JPEG_LOGO) as BrandLogo;
  assert.deepEqual(jpeg, { type: 'image/jpeg', width: 24, height: 12 });
  assert.ok(typeof readLogo(jpegOf(frame(0xc2, 1000), ...Array(10).fill(SCAN))) !== 'string');
});

test('A logo is stored without metadata and without what follows its end', () => {
  const hidden = '<script>alert(1)</script>';
  assert.deepEqual(stored(pngLogo({ text: `Comment\0${hidden}`, after: hidden })), pngLogo());
  const exif = Buffer.concat([Buffer.from([0xff, 0xe1, 0, 27]), Buffer.from(hidden)]);
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 27]), Buffer.from(hidden)]);
  // In a segment that is kept if it is what it says.
  const disguised = Buffer.concat([
    Buffer.from([0xff, 0xe0, 0, 32]),
    Buffer.from(`JFIF\0${hidden}`),
  ]);
  const polyglot = Buffer.concat([
    JPEG_LOGO.subarray(0, 2),
    exif,
    comment,
    disguised,
    JPEG_LOGO.subarray(2),
    Buffer.from(`PK\x03\x04${hidden}`),
  ]);
  const kept = stored(polyglot);
  assert.deepEqual(kept, stored(JPEG_LOGO));
  assert.ok(!kept.includes(hidden) && !kept.includes('ICC_PROFILE'));
  assert.ok(kept.subarray(-2).equals(Buffer.from([0xff, 0xd9])));
});

test('Files of other kinds, damaged images, and images that grow are rejected', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  const rejected: [Uint8Array, RegExp][] = [
    [Buffer.from(svg), /PNG or JPEG/],
    [Buffer.from('GIF89a\x09\0\x09\0\0\0\0'), /PNG or JPEG/],
    [Buffer.from('<!doctype html>'), /PNG or JPEG/],
    [Buffer.alloc(0), /PNG or JPEG/],
    [Buffer.concat([pngLogo(), Buffer.alloc(200 * 1024)]), /larger than 200 KB/],
    // Dimensions.
    [pngOf(2001, 10), /2001 × 10 pixels/],
    [pngOf(1500, 1500), /1500 × 1500 pixels/],
    // Small by its header, but its pixels fill hundreds of megabytes when they are inflated.
    [pngLogo({ width: 40, height: 4, rows: 1_000_000 }), /damaged/],
    [pngLogo({ rows: 39 }), /damaged/],
    [pngLogo({ interlace: 1 }), /damaged/],
    [pngLogo().subarray(0, -20), /damaged/],
    [pngOf(10, 10), /damaged/],
    [JPEG_LOGO.subarray(0, -2), /damaged/],
    // A second frame could be larger than the first one, and so could a number of lines after it.
    [jpegOf(frame(0xc0, 9), frame(0xc0, 60_000), SCAN), /damaged/],
    [jpegOf(frame(0xc0, 9), SCAN, segment(0xdc, [0xff, 0xff])), /damaged/],
    // Each scan is drawn over the whole image.
    [jpegOf(frame(0xc2, 1000), ...Array(9000).fill(SCAN)), /damaged/],
    // Browsers show no arithmetic coding.
    [jpegOf(frame(0xc9, 9), SCAN), /damaged/],
    [jpegOf(SCAN), /PNG or JPEG/],
    [JPEG_LOGO.subarray(0, 300), /damaged|PNG or JPEG/],
  ];
  for (const [bytes, reason] of rejected) assert.match(String(readLogo(bytes)), reason);
});

test('No damaged logo makes the check fail or run on', () => {
  for (const file of [pngLogo({ text: 'Title\0x' }), JPEG_LOGO])
    for (let at = 0; at < file.length; at++) {
      const damaged = Buffer.from(file);
      damaged[at] = 255 - damaged[at]!;
      const logo = readLogo(damaged);
      assert.ok(typeof logo === 'string' || logo.width * logo.height <= 1_000_000);
      readLogo(file.subarray(0, at));
    }
});
