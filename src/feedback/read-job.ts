/** The job that reads what arrived: claim, read in the thread, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { DatabaseUnavailableError } from '../store/errors.ts';
import { claimRows, renewLeases } from '../store/leases.ts';
import type { FeedbackMailRow } from '../store/tables.generated.ts';
import { READ_JOB } from './intake.ts';
import { readMail } from './read-mail.ts';
import { readerOf, ThreadEndedError } from './thread/reader.ts';

const LEASE_MS = 120_000;
const RENEW_INTERVAL_MS = 30_000;
/** What another attempt may not meet again. */
const TRANSIENT = [DatabaseUnavailableError, AppError, ThreadEndedError];
/** They share one thread, and wait for DNS together. */
const MAX_RUNNING = 8;

export function readJob(app: App): Job {
  const running = new Map<string, { lease: string; work: Promise<void> }>();
  let renewedAt = app.clock.now();
  const start = (mail: FeedbackMailRow & { lease: string }) => {
    const work = readMail(app, mail)
      .then(() => {})
      .catch((error) => {
        // The message is still due in the database.
        const isTransient = TRANSIENT.some((type) => error instanceof type);
        const level = isTransient ? 'warn' : 'error';
        app.log[level]('reading feedback failed', {
          feedback: mail.id,
          error: errorMessage(error),
        });
      })
      .then(() => {
        running.delete(mail.id);
        app.scheduler.wakeHere(READ_JOB);
      });
    running.set(mail.id, { lease: mail.lease, work });
  };
  return {
    name: READ_JOB,
    tick: '*/5 * * * * *',
    async run() {
      if (running.size > 0 && app.clock.now() - renewedAt >= RENEW_INTERVAL_MS) {
        renewedAt = app.clock.now();
        const leases = [...new Set([...running.values()].map(({ lease }) => lease))];
        await renewLeases(app.db, app.clock, {
          table: 'feedback_mails',
          leases,
          leaseMs: LEASE_MS,
        });
      }
      const capacity = MAX_RUNNING - running.size;
      // Reports take more space than their messages.
      if (capacity <= 0 || !(await app.hasSpare())) return;
      for (const mail of await claimDue(app, capacity)) start(mail);
    },
    async idle() {
      await Promise.all([...running.values()].map(({ work }) => work));
      await readerOf(app).end();
    },
  };
}

/** Claims due mail that is not leased, most overdue first. */
async function claimDue(app: App, limit: number): Promise<(FeedbackMailRow & { lease: string })[]> {
  const due = app.db
    .selectFrom('feedback_mails')
    .selectAll()
    .where('due_at', '<=', isoTime(app.clock.now()))
    .orderBy('due_at')
    .limit(limit);
  const claimed = await claimRows(app, { table: 'feedback_mails', due, leaseMs: LEASE_MS });
  if (claimed.length > 0)
    await app.db
      .updateTable('feedback_mails')
      .set(({ eb }) => ({ attempts: eb('attempts', '+', 1) }))
      .where(
        'id',
        'in',
        claimed.map(({ id }) => id),
      )
      .execute();
  return claimed;
}
