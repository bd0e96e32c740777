/** Decoders of blocks: what they decode, and their limits. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeBase64At,
  decodeUuAt,
  decodeYencAt,
} from '../../../src/analysis/mime/block-decoders.ts';

const BYTES = Buffer.from(Array.from({ length: 9000 }, (_, i) => (i * 7919) % 251));

/** Lines of 45 bytes, as `uuencode` writes them. */
function uuencoded(bytes: Buffer): Buffer {
  const lines: string[] = [];
  const octet = (sextet: number) => String.fromCharCode(32 + sextet);
  for (let at = 0; at < bytes.length; at += 45) {
    const part = bytes.subarray(at, at + 45);
    let line = octet(part.length);
    for (let i = 0; i < part.length; i += 3) {
      const [a, b, c] = [part[i]!, part[i + 1] ?? 0, part[i + 2] ?? 0];
      line += octet(a >> 2) + octet(((a & 3) << 4) | (b >> 4));
      line += octet(((b & 15) << 2) | (c >> 6)) + octet(c & 63);
    }
    lines.push(line);
  }
  return Buffer.from(`${lines.join('\n')}\n`, 'latin1');
}

function yencoded(bytes: Buffer): Buffer {
  const out: number[] = [];
  for (const byte of bytes) {
    const shifted = (byte + 42) & 255;
    if ([0, 10, 13, 61].includes(shifted)) out.push(61, (shifted + 64) & 255);
    else out.push(shifted);
  }
  return Buffer.from(out);
}

const DECODERS: [string, Buffer, (raw: Buffer, maxBytes: number) => Buffer][] = [
  [
    'base64',
    Buffer.from(BYTES.toString('base64')),
    (raw, max) => decodeBase64At(raw, 0, raw.length, max, 'ends-group').bytes,
  ],
  ['uuencode', uuencoded(BYTES), (raw, max) => decodeUuAt(raw, 0, raw.length, max)],
  ['yEnc', yencoded(BYTES), (raw, max) => decodeYencAt(raw, 0, raw.length, max)],
];

for (const [name, raw, decode] of DECODERS)
  test(`${name} is decoded up to a limit, which can be used up`, () => {
    assert.deepEqual(decode(raw, BYTES.length + 3), BYTES);
    for (const max of [1023, 1024, 1025, 1026, 4096, 8997]) {
      const bytes = decode(raw, max);
      assert.ok(bytes.length <= max && bytes.length > max - 3, `${bytes.length} of ${max}`);
      assert.deepEqual(bytes, BYTES.subarray(0, bytes.length));
    }
    for (const max of [0, -1, -2001]) assert.equal(decode(raw, max).length, 0);
  });
