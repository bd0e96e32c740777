/** The parts of a line about an event. Its data comes from outside, so all of it is made printable and truncated. */

import { printable } from '../lib/log.ts';

export type EventData = Record<string, unknown>;

const MAX_LENGTH = 200;

export function short(text: string): string {
  const characters = [...printable(text)];
  return characters.length <= MAX_LENGTH
    ? characters.join('')
    : `${characters.slice(0, MAX_LENGTH - 1).join('')}…`;
}

export const field = (object: unknown, name: string): unknown =>
  typeof object === 'object' && object !== null ? (object as EventData)[name] : null;

/** Text or a number; null for anything else. */
export function asText(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  return short(String(value));
}

export function labeled(label: string, value: unknown): string | null {
  const text = asText(value);
  return text === null ? null : `${label} ${text}`;
}

export function quoted(value: unknown): string | null {
  const text = asText(value);
  return text === null ? null : `“${text}”`;
}
