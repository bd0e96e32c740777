/** Image files: what they are, and their dimensions. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readImageFile } from '../../src/mailtests/image-file.ts';
import { seededRandom } from '../helpers/random.ts';
import { avifOf, bmpOf, gifOf, jpegOf, pngOf, REAL_PNG, SVG, webpOf } from './image-files.ts';

const FORMATS = {
  'image/png': pngOf,
  'image/jpeg': jpegOf,
  'image/gif': gifOf,
  'image/webp': webpOf,
  'image/avif': avifOf,
  'image/bmp': bmpOf,
};

test('readImageFile recognizes each format by its bytes, with its dimensions', () => {
  for (const [mediaType, of] of Object.entries(FORMATS))
    assert.deepEqual(readImageFile(of(600, 200)), { mediaType, width: 600, height: 200 });
  const svg = { mediaType: 'image/svg+xml', width: null, height: null };
  assert.deepEqual(readImageFile(Buffer.from(SVG)), svg);
  assert.deepEqual(readImageFile(Buffer.from(`<?xml version="1.0"?>\n<!-- Logo -->\n${SVG}`)), svg);
  // The file states its dimensions where every PNG file does.
  const real = readImageFile(REAL_PNG);
  assert.equal(typeof real === 'object' && real.width, REAL_PNG.readUInt32BE(16));
});

test('readImageFile reads lossy and lossless WebP', () => {
  const lossy = Buffer.alloc(30);
  lossy.write('RIFF\0\0\0\0WEBPVP8 ', 'latin1');
  lossy.writeUInt16LE(320, 26);
  lossy.writeUInt16LE(240, 28);
  assert.deepEqual(readImageFile(lossy), { mediaType: 'image/webp', width: 320, height: 240 });
  const lossless = Buffer.alloc(30);
  lossless.write('RIFF\0\0\0\0WEBPVP8L', 'latin1');
  lossless.writeUInt32LE(319 | (239 << 14), 21);
  assert.deepEqual(readImageFile(lossless), { mediaType: 'image/webp', width: 320, height: 240 });
});

test('readImageFile refuses dimensions that would fill the memory of a browser, and files without any', () => {
  for (const of of Object.values(FORMATS)) {
    assert.match(
      String(readImageFile(of(15_000, 15_000))),
      /^the image has 15,000 × 15,000 pixels/,
    );
    assert.match(String(readImageFile(of(16_383, 16_383))), /too many$/);
  }
  assert.match(String(readImageFile(pngOf(4_000_000_000, 1))), /too many$/);
  for (const damaged of [
    pngOf(0, 10),
    gifOf(10, 0),
    pngOf(600, 200).subarray(0, 20),
    jpegOf(1, 1).subarray(0, 12),
  ])
    assert.equal(readImageFile(damaged), 'the image file is damaged');
});

test('readImageFile refuses what is not an image, and SVG that defines entities or repeats itself', () => {
  const notAnImage = 'the response is not an image that email clients show';
  for (const other of [
    '<!DOCTYPE html><svg></svg>',
    '<html><svg/></html>',
    'text',
    '\x1f\x8b\x08',
    '%PDF-1.7',
    '',
  ])
    assert.equal(readImageFile(Buffer.from(other, 'latin1')), notAnImage, other);
  const refused = (text: string) => String(readImageFile(Buffer.from(text)));
  const entity = '<!DOCTYPE svg [<!ENTITY a "b">]>';
  assert.match(refused(`${entity}${SVG}`), /document type/);
  assert.match(refused(`<?xml version="1.0"?>${entity}${SVG}`), /document type/);
  assert.match(refused(`<svg>${'<g/>'.repeat(10)}<!ENTITY x "y"></svg>`), /document type/);
  assert.match(refused(`<?xml version="1.0" encoding="UTF-16"?>${SVG}`), /not in UTF-8/);
  assert.match(refused(`<svg>${'<use href="#a"/>'.repeat(21)}</svg>`), /repeats/);
  assert.match(refused(`<svg>${'<s:use href="#a"/>'.repeat(21)}</svg>`), /repeats/);
  assert.match(refused(`<svg>${' '.repeat(300_000)}</svg>`), /too large/);
});

test('readImageFile never throws, whatever the bytes', () => {
  const random = seededRandom(7);
  for (const of of Object.values(FORMATS))
    for (let i = 0; i < 2000; i++) {
      const file = of(600, 200);
      for (let changes = random.below(6); changes >= 0; changes--)
        file[random.below(file.length)] = random.below(256);
      const result = readImageFile(file.subarray(0, random.below(file.length + 1)));
      assert.ok(typeof result === 'string' || result.width === null || result.width > 0);
    }
});
