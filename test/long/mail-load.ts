/** Senders that continue until the service stops, and record which messages it accepted. */

import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { insertTest, newTestRow } from '../../src/mailtests/queries.ts';
import type { Db } from '../../src/store/open.ts';
import { goodMessage } from '../helpers/good-message.ts';
import type { Random } from '../helpers/random.ts';
import { sendMail } from '../helpers/send.ts';

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
}

const DAY_S = 86_400;

/** Creates waiting tests in the database, each with the message to send to it. */
export async function prepareMails(db: Db, count: number, random: Random): Promise<Mail[]> {
  const context = { clock: systemClock, newId: createIdGenerator(systemClock) };
  const seed = { kind: 'auto', metadata: {}, expires_in: DAY_S, livemode: true } as const;
  const mails: Mail[] = [];
  for (let number = 0; number < count; number++) {
    const row = newTestRow(context, seed);
    await insertTest(db, row);
    const raw = makeMessage(number, random);
    mails.push({
      testId: row.id,
      address: `${row.token}@inbox.test`,
      raw,
      state: 'fresh',
      retries: random.chance(0.5),
      sentAt: 0,
      keptAs: null,
    });
  }
  return mails;
}

/** One message in ten is stored in several chunks. */
export function makeMessage(number: number, random: Random): Buffer {
  const size = random.chance(0.1) ? 600_000 + random.below(1_000_000) : 500 + random.below(20_000);
  const line = `Message ${number}, a line of it, then dots to be doubled and undone:\n..\n.\n`;
  const fields = {
    Date: new Date(systemClock.now()).toUTCString().replace('GMT', '+0000'),
    Subject: `Message ${number} of ${isoTime(systemClock.now())}`,
  };
  const text = goodMessage(fields, line.repeat(Math.ceil(size / line.length)));
  return Buffer.from(text.replaceAll('\n', '\r\n'));
}

/**
 * Sends the queue over several parallel connections until it is empty or the service stops; resolves
 * with unexpected replies.
 */
export async function sendAll(queue: Mail[], port: number, senders: number): Promise<string[]> {
  const unexpected: string[] = [];
  const sender = async (plain: boolean) => {
    for (let mail = queue.shift(); mail; mail = queue.shift()) {
      try {
        // From here on, the service may have accepted it, even without a reply.
        mail.state = 'unanswered';
        mail.sentAt = systemClock.now();
        const { address: to, raw } = mail;
        const reply = await sendMail({ port, to, raw, plain });
        mail.state = 'kept';
        mail.keptAs = /Accepted as (\S+)/.exec(reply)![1]!;
      } catch (error) {
        const { responseCode, message } = error as Error & { responseCode?: number };
        // 421: the service is shutting down.
        if (responseCode !== undefined && responseCode !== 421) unexpected.push(message);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: senders }, (_, index) => sender(index > 0)));
  return unexpected;
}
