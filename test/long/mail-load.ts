/** Messages that tests send, and what they know about each. */

import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import type { Random } from '../helpers/random.ts';

export interface Mail {
  testId: string;
  address: string;
  raw: Buffer;
  /** `fresh`: not sent; `unanswered`: sent without a reply; `kept`: accepted with 250. */
  state: 'fresh' | 'unanswered' | 'kept';
  /** Whether its sender retries without a reply. */
  retries: boolean;
  /** When it was last sent, in milliseconds since the Unix epoch. */
  sentAt: number;
  /** The ID in the 250 reply. */
  keptAs: string | null;
  /** Whether its test looks for it in seed mailboxes. */
  isPlaced?: boolean;
}

/** One message in ten is stored in several chunks. */
export function makeMessage(number: number, random: Random, domain = 'example.com'): Buffer {
  const size = random.chance(0.1) ? 600_000 + random.below(1_000_000) : 500 + random.below(20_000);
  const line = `Message ${number}, a line of it, then dots to be doubled and undone:\n..\n.\n`;
  const fields = {
    Date: new Date(systemClock.now()).toUTCString().replace('GMT', '+0000'),
    Subject: `Message ${number} of ${isoTime(systemClock.now())}`,
  };
  const text = goodMessage(fields, line.repeat(Math.ceil(size / line.length)));
  return Buffer.from(text.replaceAll('\n', '\r\n').replaceAll('@example.com', `@${domain}`));
}
