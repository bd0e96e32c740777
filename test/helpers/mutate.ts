/** Mutations of bytes, as fuzzers make them. The same random numbers give the same bytes. */

import type { Random } from './random.ts';

type Mutation = (bytes: Buffer, random: Random, others: Buffer[]) => Buffer;

const MAX_REPEATS = 400;
const MAX_RANGE = 400;

const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)]!;

/** The start and end of a part, often a short one. */
function range(bytes: Buffer, random: Random): [number, number] {
  const start = random.below(bytes.length + 1);
  const length = random.below(random.chance(0.5) ? 8 : MAX_RANGE);
  return [start, Math.min(bytes.length, start + length)];
}

const splice = (bytes: Buffer, start: number, end: number, insertion: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, start), insertion, bytes.subarray(end)]);

const randomBytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

/** Starts of lines and other places where the meaning changes. */
function interestingPlace(bytes: Buffer, random: Random): number {
  const place = bytes.indexOf(
    pick(random, ['\n', ':', ';', '=', '<', ' ', '/', '"']),
    random.below(bytes.length + 1),
  );
  return place < 0 ? random.below(bytes.length + 1) : place + 1;
}

const MUTATIONS: readonly Mutation[] = [
  // Other bits of one byte.
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[random.below(copy.length)]! ^= 1 << random.below(8);
    return copy;
  },
  // Random bytes instead of others.
  (bytes, random) => splice(bytes, ...range(bytes, random), randomBytes(random, random.below(16))),
  // Less.
  (bytes, random) => splice(bytes, ...range(bytes, random), Buffer.alloc(0)),
  (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  // A part again, once or often.
  (bytes, random) => {
    const [start, end] = range(bytes, random);
    const times = random.chance(0.8) ? 1 : random.below(MAX_REPEATS);
    const part = bytes.subarray(start, end);
    return splice(bytes, end, end, Buffer.concat(Array.from({ length: times }, () => part)));
  },
  // A part in another place.
  (bytes, random) => {
    const [start, end] = range(bytes, random);
    const place = interestingPlace(bytes, random);
    return splice(bytes, place, place, bytes.subarray(start, end));
  },
  // A part of another input.
  (bytes, random, others) => {
    const other = pick(random, others);
    const [start, end] = range(other, random);
    const place = interestingPlace(bytes, random);
    return splice(bytes, place, place, other.subarray(start, end));
  },
  // The start of one input and the end of another.
  (bytes, random, others) => {
    const other = pick(random, others);
    return Buffer.concat([
      bytes.subarray(0, random.below(bytes.length + 1)),
      other.subarray(random.below(other.length + 1)),
    ]);
  },
  // Another number.
  (bytes, random) => {
    const numbers = [...bytes.toString('latin1').matchAll(/\d+/g)];
    if (numbers.length === 0) return bytes;
    const found = pick(random, numbers);
    const other = pick(random, [
      '0',
      '-1',
      '1',
      '65536',
      '4294967296',
      '99999999999999999999',
      '1e9',
    ]);
    return splice(bytes, found.index, found.index + found[0].length, Buffer.from(other));
  },
  // Other line endings.
  (bytes, random) => {
    const ending = pick(random, ['\n', '\r', '\r\r\n', '\n\n', '\r\n ', '\0\r\n', '']);
    const place = bytes.indexOf('\n', random.below(bytes.length + 1));
    if (place < 0) return bytes;
    const start = bytes[place - 1] === 0x0d ? place - 1 : place;
    return splice(bytes, start, place + 1, Buffer.from(ending));
  },
];

/** One to six mutations of one of the inputs; `tokens` are texts with a meaning for the parser. */
export function mutate(
  inputs: Buffer[],
  tokens: readonly string[],
  maxBytes: number,
  random: Random,
): Buffer {
  const insertToken: Mutation = (bytes) => {
    const place = interestingPlace(bytes, random);
    return splice(bytes, place, place, Buffer.from(pick(random, tokens), 'latin1'));
  };
  let bytes = pick(random, inputs);
  for (let left = 1 + random.below(6); left > 0; left--) {
    const mutation = random.chance(0.3) ? insertToken : pick(random, MUTATIONS);
    bytes = mutation(bytes, random, inputs).subarray(0, maxBytes);
  }
  return bytes;
}
