/** Messages over SMTP: each that was accepted with 250 is stored and analyzed once. */

import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Db } from '../../../src/store/open.ts';
import type { DnsTestServer } from '../../helpers/dns-server.ts';
import { sendMail } from '../../helpers/send.ts';
import { type Mail, makeMessage } from '../mail-load.ts';
import { assertAllStored } from '../stored-messages.ts';
import { countRows, createGate, type Gate, type Load, type Moment, untilMore } from './load.ts';
import type { Answer, Site } from './site.ts';

export interface Messages extends Load {
  /** All messages that may be stored, also those of other loads. */
  mails: Mail[];
  /** Sends a message until it is accepted, or once if its sender does not retry. */
  send(site: Site, mail: Mail): Promise<void>;
  /** Closed while an analysis waits for DNS. */
  analysis: Gate;
}

/** `analyzed` matches the queries, as bytes, that only analyses make. */
export function createMessages(dns: DnsTestServer, analyzed: RegExp): Messages {
  const mails: Mail[] = [];
  const sending = new Set<Promise<number>>();
  const analysis = createGate();
  let number = 0;
  let lost = 0;
  let lostBefore = 0;
  let accepted: (() => void) | null = null;
  dns.tamper = async (reply, _over, query) => {
    if (analyzed.test(query.toString('latin1'))) await analysis.pass();
    return [reply];
  };
  const send: Messages['send'] = async (site, mail) => {
    mails.push(mail);
    for (;;) {
      const address = site.pick();
      if (address) {
        const sent = sendTo(address.smtpPort, mail, site.random.chance(0.7));
        sending.add(sent);
        const code = await sent;
        sending.delete(sent);
        if (code === 250 && sending.size > 0) accepted?.();
        site.count(`SMTP ${code || 'disconnected'}`);
        if (code === 0) lost += 1;
        if (code >= 500)
          site.faults.push(`the message for ${mail.testId} was rejected with ${code}`);
        if (code === 250 || code >= 500 || (code === 0 && !mail.retries)) return;
      }
      await site.retryPause();
    }
  };
  return {
    name: 'messages',
    mails,
    analysis,
    send,
    clients: 3,
    maxPauseMs: 500,
    async work(site) {
      const idempotencyKey = `test-${++number}`;
      const test = await site.call('POST', '/v1/tests', { body: '{}', idempotencyKey });
      if (test) await send(site, newMail(test, makeMessage(number, site.random), site));
    },
    moments: [
      {
        // What was accepted must be stored by now, and others wait for their reply.
        name: '250',
        async reach() {
          lostBefore = lost;
          await new Promise<void>((resolve) => {
            accepted = resolve;
          });
        },
        async end() {
          accepted = null;
          await Promise.all(sending);
          // Its client counts it in the next turn.
          await pause(0);
          return lost > lostBefore;
        },
      },
      {
        name: 'analysis',
        reach: () => analysis.close(),
        async end(db) {
          analysis.open();
          const running = await db
            .selectFrom('tests')
            .select('id')
            .where('status', '=', 'processing')
            .where('lease', 'is not', null)
            .execute();
          return running.length > 0;
        },
      },
      resultMoment(),
    ],
    async verify(db) {
      return { ...(await assertAllStored(db, mails)) };
    },
  };
}

export const newMail = (test: Answer, raw: Buffer, { random }: Pick<Site, 'random'>): Mail => ({
  testId: test.id,
  address: String(test.address),
  raw,
  state: 'fresh',
  retries: random.chance(0.5),
  sentAt: 0,
  keptAs: null,
});

/** Just after a result is recorded: its event, notifications and deliveries follow from the same transaction. */
function resultMoment(): Moment {
  let before = 0;
  const count = (db: Db) => countRows(db, 'tests', 'completed_at');
  return {
    name: 'result',
    async reach({ db, random }) {
      before = await count(db);
      await untilMore(() => count(db));
      if (random.chance(0.5)) await pause(random.below(100));
    },
    end: async (db) => (await count(db)) > before,
  };
}

/** The code of the reply; 0 if the connection was lost. */
async function sendTo(port: number, mail: Mail, plain: boolean): Promise<number> {
  const { address: to, raw } = mail;
  // From here on, a service may have accepted it, even without a reply.
  mail.state = 'unanswered';
  mail.sentAt = systemClock.now();
  try {
    const reply = await sendMail({ port, to, raw, plain });
    mail.state = 'kept';
    mail.keptAs = /Accepted as (\S+)/.exec(reply)![1]!;
    return 250;
  } catch (error) {
    return (error as { responseCode?: number }).responseCode ?? 0;
  }
}
