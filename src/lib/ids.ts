/** IDs that sort by creation: a prefix and a monotonic ULID in lower case. */

import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';
import { TABLE_ID_NOUNS } from './id-nouns.generated.ts';

/** The noun for the objects with each prefix. Requests have no table. */
export const ID_NOUNS = { ...TABLE_ID_NOUNS, req: 'request' } as const;

export type IdPrefix = keyof typeof ID_NOUNS;

/** Returns the next ID. If the clock steps back, IDs continue from the last one. */
export type NewId = (prefix: IdPrefix) => string;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;
const ID_SUFFIX = new RegExp(`_([${ALPHABET}]{${TIME_LENGTH}})[${ALPHABET}]{${RANDOM_LENGTH}}$`);

/** `after`: the newest ID of an earlier run. New IDs sort after it even if the clock has stepped back. */
export function createIdGenerator(clock: Clock, after?: string): NewId {
  // One millisecond later: in the same one, new random digits could sort before those of `after`.
  let lastTime = after ? timeOf(after) + 1 : 0;
  let random = randomDigits();
  return (prefix) => {
    const now = clock.now();
    if (now > lastTime) {
      lastTime = now;
      random = randomDigits();
    } else if (!increment(random)) {
      lastTime += 1;
      random = randomDigits();
    }
    return `${prefix}_${encodeTime(lastTime)}${random.map((digit) => ALPHABET[digit]).join('')}`;
  };
}

/** Sorts before all IDs of this time or later, and after all earlier ones. */
export const idAt = (prefix: IdPrefix, time: number): string => `${prefix}_${encodeTime(time)}`;

/** The time of an ID in milliseconds, with or without its prefix; 0 for an invalid ID. */
function timeOf(id: string): number {
  const digits = ID_SUFFIX.exec(id)?.[1] ?? '';
  let time = 0;
  for (const char of digits) time = time * 32 + ALPHABET.indexOf(char);
  return time;
}

function encodeTime(time: number): string {
  let text = '';
  for (let rest = time, i = 0; i < TIME_LENGTH; i++, rest = Math.floor(rest / 32))
    text = ALPHABET[rest % 32] + text;
  return text;
}

function randomDigits(): number[] {
  return Array.from(randomBytes(RANDOM_LENGTH), (byte) => byte % 32);
}

/** Adds one in place; false on overflow. */
function increment(digits: number[]): boolean {
  for (let i = digits.length - 1; i >= 0; i--) {
    if (digits[i]! < 31) {
      digits[i]! += 1;
      return true;
    }
    digits[i] = 0;
  }
  return false;
}
