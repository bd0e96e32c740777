/** The job that sends what waits in the outbox: claim, send, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { CLOSED, type Mailer, type MailOutcome } from '../net/mailer.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { openMail } from './content.ts';
import { failLateMail, GIVE_UP_MS } from './expire.ts';
import { SEND_JOB } from './queue.ts';
import { type ClaimedMail, recordOutcome } from './record.ts';

/** So many at once: a server that is slow with one holds up few others. */
const AT_ONCE = 5;
/** How long others leave a claimed mail alone: longer than a sending may take. */
const LEASE_MS = 120_000;

const UNREADABLE: MailOutcome = {
  ok: false,
  // Whoever mends the row in time gets it sent.
  temporary: true,
  reason: 'its content cannot be decrypted: it is damaged, or was encrypted with another key',
};

export function sendMailJob(app: App): Job {
  const underWay = new Map<string, Promise<void>>();
  /** Whether the last claim took all that there was room for: then more may be due. */
  let more = false;
  const start = (mailer: Mailer, mail: ClaimedMail) => {
    const work = sendOne(app, mailer, mail)
      // The lease runs out, and it is sent again.
      .catch((error) =>
        app.log.error('sending mail failed', { mail: mail.id, error: errorMessage(error) }),
      )
      .then(() => {
        underWay.delete(mail.id);
        if (more) app.scheduler.wake(SEND_JOB);
      });
    underWay.set(mail.id, work);
  };
  return {
    name: SEND_JOB,
    tick: '* * * * * *',
    async run() {
      const { mailer } = app;
      const room = AT_ONCE - underWay.size;
      if (mailer === null || room <= 0) return;
      const claimed = await claimDueMail(app, room);
      more = claimed.length === room;
      for (const mail of claimed) start(mailer, mail);
    },
    async idle() {
      await Promise.all(underWay.values());
    },
  };
}

/**
 * Takes due mail that nobody has, the longest due first; others leave it alone for the lease. What is
 * of no use any more fails instead.
 */
export async function claimDueMail(
  { db, clock, newId }: Pick<App, 'db' | 'clock' | 'newId'>,
  limit: number,
): Promise<ClaimedMail[]> {
  const now = isoTime(clock.now());
  const due = () =>
    db
      .selectFrom('outbox')
      .select(['id', 'content', 'attempts', 'useful_until'])
      .where('due_at', '<=', now)
      .where('created_at', '>=', isoTime(clock.now() - GIVE_UP_MS))
      .where(({ eb, or }) => or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]))
      .orderBy('due_at')
      .orderBy('id')
      .limit(limit);
  // Mostly there is nothing: look before taking the write lock.
  if ((await due().clearSelect().select('id').limit(1).execute()).length === 0) return [];
  const lease = newId('req');
  const leased_until = isoTime(clock.now() + LEASE_MS);
  return db.transaction().execute(async (tx) => {
    await failLateMail(tx, now);
    const { rows } = await tx.executeQuery(due());
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return [];
    await tx.updateTable('outbox').set({ lease, leased_until }).where('id', 'in', ids).execute();
    return rows.map((row) => ({ ...row, lease }));
  });
}

async function sendOne(app: App, mailer: Mailer, claimed: ClaimedMail): Promise<void> {
  const mail = claimed.content && openMail(app.secrets, claimed.id, claimed.content);
  const outcome = mail ? await mailer.send(mail) : UNREADABLE;
  // The next start sends it.
  if (outcome === CLOSED) return;
  await recordOutcome(app, claimed, outcome);
}
