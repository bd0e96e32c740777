/** Where seed mailboxes have the messages of tests: how many of them, and the share in the inbox. */

import type { Figure, Limits } from './figure.ts';

interface Place extends Figure {
  /** After a number of samples. */
  text: string;
  /** How good it is. */
  state: 'pass' | 'warn' | 'fail';
}

const INBOX = {
  name: 'inbox',
  unit: 'count',
  title: 'Inbox',
  description: 'Of these, how many received the message in the inbox or an inbox tab',
  example: 9,
  text: 'in the inbox',
  state: 'pass',
} as const satisfies Place;

export const LOST = [
  {
    name: 'spam',
    unit: 'count',
    title: 'Spam',
    description: 'How many received the message in spam',
    example: 2,
    text: 'in spam',
    state: 'fail',
  },
  {
    name: 'missing',
    unit: 'count',
    title: 'Missing',
    description: 'How many did not have the message',
    example: 1,
    text: 'missing',
    state: 'warn',
  },
] as const satisfies Place[];

/** From the best to the last. */
export const PLACES = [INBOX, ...LOST] as const;

/** Numbers of seed mailboxes that have a result. `inbox` includes the inbox tabs. */
export type PlaceCounts = Record<'samples' | (typeof PLACES)[number]['name'], number>;

/** `1 in spam`, `2 missing`. */
export const lostInWords = (counts: Omit<PlaceCounts, 'samples'>): string[] =>
  LOST.filter(({ name }) => counts[name] > 0).map(({ name, text }) => `${counts[name]} ${text}`);

export const INBOX_RATE = {
  name: 'inbox_rate',
  unit: 'share',
  title: 'Inbox rate',
  description: 'Share of placement samples in the inbox',
  example: 0.95,
} as const satisfies Figure;

export const INBOX_LIMITS = { better: 'higher', warn: 0.9, fail: 0.5 } as const satisfies Limits;
