/** The server that takes all outgoing email: each is received once, and again only if sending it was not recorded. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../helpers/random.ts';
import { type MailSink, startMailSink, type TakenMail } from '../../outbox/mail-sink.ts';
import { fieldOf } from '../../schedules/scheduling.ts';
import { createGate, type Load } from './load.ts';

/** The delay between receipt of an email and the 250. */
const MAX_REPLY_DELAY_MS = 40;

export interface Mails extends Load {
  sink: MailSink;
  /** How often an email was received again. */
  repeated(): number;
}

/** The ID of the email in the outbox. */
const mailIdOf = ({ raw }: TakenMail): string =>
  /^<(mail_\w+)@/.exec(fieldOf(raw, 'Message-ID')!)![1]!;

export async function startMails(t: TestContext, random: Random): Promise<Mails> {
  let open = 0;
  const sink = await startMailSink(t, {
    onConnect(_session, done) {
      open += 1;
      done();
    },
    onClose() {
      open -= 1;
    },
  });
  const gate = createGate();
  // The sink reads this property for each received email.
  Object.defineProperty(sink, 'hold', {
    get: () => gate.pass() ?? pause(random.below(MAX_REPLY_DELAY_MS)),
  });
  /** IDs of emails that were received, but not recorded as sent before a kill. */
  let unrecorded: string[] | null = null;
  let interrupted = 0;
  let before = 0;
  const turn = () => new Promise(setImmediate);
  /** Resolves when everything that a killed service sent has been received. */
  const settled = async () => {
    while (open > 0) await turn();
    // A complete email from a killed sender is processed some turns later.
    for (let i = 0; i < 20; i++) await turn();
  };
  return {
    name: 'mail',
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'reports@example.com',
    },
    sink,
    repeated: () => sink.taken.length - new Set(sink.taken.map(mailIdOf)).size,
    moments: [
      {
        name: 'mail',
        holds: true,
        reach: () => gate.close(),
        async end() {
          gate.open();
          return interrupted > 0;
        },
      },
    ],
    async afterKill(db) {
      gate.open();
      await settled();
      const sent = await db
        .selectFrom('outbox')
        .select('id')
        .where('status', '=', 'sent')
        .execute();
      const recorded = new Set(sent.map(({ id }) => id));
      const again = sink.taken
        .slice(before)
        .map(mailIdOf)
        .filter((id) => !recorded.has(id));
      before = sink.taken.length;
      interrupted = again.length;
      unrecorded = [...(unrecorded ?? []), ...again];
    },
    async verify(db) {
      const rows = await db.selectFrom('outbox').select(['id', 'recipient', 'status']).execute();
      assert.deepEqual(
        rows.filter(({ status }) => status !== 'sent'),
        [],
      );
      const received = Map.groupBy(sink.taken, mailIdOf);
      assert.deepEqual([...received.keys()].sort(), rows.map(({ id }) => id).sort());
      for (const { id, recipient } of rows) {
        const copies = received.get(id)!;
        assert.ok(copies.every(({ to }) => to.length === 1 && to[0] === recipient));
        if (unrecorded)
          assert.equal(
            copies.length,
            1 + unrecorded.filter((other) => other === id).length,
            `${id} to ${recipient}`,
          );
      }
      return { mails: rows.length, repeatedMails: sink.taken.length - rows.length };
    },
  };
}
