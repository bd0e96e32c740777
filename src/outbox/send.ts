/** The job that sends what waits in the outbox: claim, send, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { LONGEST_WAIT_MS } from '../lib/retry-times.ts';
import { CLOSED, type Mailer, type MailOutcome } from '../net/mailer.ts';
import { claimingJob } from '../scheduler/claiming-job.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { bringForward, claimRows } from '../store/leases.ts';
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

/** Of these places, bulk mail leaves some to other mail, however slow the server is. */
const MOST_BULK = 3;

export function sendMailJob(app: App): Job {
  const bulk = new Set<string>();
  return claimingJob({
    name: SEND_JOB,
    atOnce: AT_ONCE,
    claim: async (limit) => {
      if (app.mailer === null) return [];
      const claimed = await claimDueMail(app, limit, MOST_BULK - bulk.size);
      for (const mail of claimed) if (mail.bulk === 1) bulk.add(mail.id);
      return claimed;
    },
    work: (mail) =>
      sendOne(app, app.mailer!, mail).finally(() => {
        // There may be more, although what was claimed did not fill all places.
        if (bulk.delete(mail.id)) app.scheduler.wake(SEND_JOB);
      }),
    // The lease runs out, and it is sent again.
    failed: ({ id }, error) =>
      app.log.error('sending mail failed', { mail: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wake(SEND_JOB),
  });
}

/**
 * Takes due mail that nobody has, the longest due first, and bulk mail, of which there may be a lot,
 * where nothing else is due. What is of no use any more fails instead.
 */
export async function claimDueMail(
  context: Pick<App, 'db' | 'clock' | 'newId' | 'mailEnded'>,
  limit: number,
  mostBulk = limit,
): Promise<ClaimedMail[]> {
  await bringForward(context, 'outbox', LONGEST_WAIT_MS);
  const first = await claimOf(context, 0, limit);
  const room = Math.min(limit - first.length, mostBulk);
  return room <= 0 ? first : [...first, ...(await claimOf(context, 1, room))];
}

function claimOf(
  context: Parameters<typeof claimDueMail>[0],
  bulk: 0 | 1,
  limit: number,
): Promise<ClaimedMail[]> {
  const { db, clock } = context;
  const now = isoTime(clock.now());
  const due = db
    .selectFrom('outbox')
    .select(['id', 'content', 'attempts', 'useful_until', 'bulk'])
    .where('bulk', '=', bulk)
    .where('due_at', '<=', now)
    .where('created_at', '>=', isoTime(clock.now() - GIVE_UP_MS))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit);
  return claimRows(context, {
    table: 'outbox',
    due,
    leaseMs: LEASE_MS,
    before: (tx) => failLateMail(tx, context, now),
  });
}

async function sendOne(app: App, mailer: Mailer, claimed: ClaimedMail): Promise<void> {
  const mail = claimed.content && openMail(app.secrets, claimed.id, claimed.content);
  const outcome = mail ? await mailer.send(mail) : UNREADABLE;
  // The next start sends it.
  if (outcome === CLOSED) return;
  await recordOutcome(app, claimed, outcome);
}
