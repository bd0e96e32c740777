/**
 * The job that reads a seed mailbox that no test has needed for a week. Providers end sign-ins that nobody uses, such as
 * Microsoft after 90 days. Also, a wrong password is noticed before a test needs the mailbox.
 */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { AccountError, TRANSIENT_ERRORS } from '../net/account-error.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { sourceFor } from './seed-sources.ts';
import { type HeldSeed, recordLook, releaseSeed, SINGLE_LEASE_MS } from './seeds.ts';
import type { SeedSource } from './source.ts';

const UNUSED_MS = 7 * DAY_MS;
/** After a failure, unless it often passes by itself. Providers lock accounts after many wrong passwords. */
const RETRY_MS = DAY_MS;
const TRANSIENT_RETRY_MS = HOUR_MS;

export function keepAliveJob(app: App): Job {
  const stop = new AbortController();
  let working: Promise<void> | null = null;
  return {
    name: 'placement.keep_alive',
    tick: '30 20 * * * *',
    async run() {
      if (working || stop.signal.aborted) return;
      working = keepSeedsAlive(app, stop.signal)
        .catch((error) =>
          app.log.error('reading unused seed mailboxes failed', { error: String(error) }),
        )
        .finally(() => {
          working = null;
        });
    },
    async idle() {
      stop.abort();
      await working;
    },
  };
}

/** Reads each unused mailbox once, one after another. */
export async function keepSeedsAlive(
  app: App,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const seeds = app.config.SEED_MAILBOXES;
  for (let count = 0; count < seeds.length && !signal.aborted; count++) {
    const [held] = await claimUnused(app);
    const seed = seeds.find(({ name }) => name === held?.id);
    if (!held || !seed) return;
    const source = sourceFor(app, seed);
    const close = () => source.close();
    signal.addEventListener('abort', close);
    try {
      await readOnce(app, held, source, signal);
    } finally {
      signal.removeEventListener('abort', close);
      source.close();
      await releaseSeed(app.db, held);
    }
  }
}

type UnusedSeed = HeldSeed & { failures: number };

/** At most one, which no other node reads. */
function claimUnused(app: App): Promise<UnusedSeed[]> {
  const before = (ms: number) => isoTime(app.clock.now() - ms);
  const due = app.db
    .selectFrom('seed_mailboxes')
    .select(['id', 'failures'])
    .where(
      'id',
      'in',
      app.config.SEED_MAILBOXES.map(({ name }) => name),
    )
    .where(({ eb, or, and, exists, selectFrom }) =>
      or([
        // What was fixed shows before the next test.
        eb('error', 'is not', null),
        eb('last_read_at', '<', before(UNUSED_MS)),
        and([
          eb('last_read_at', 'is', null),
          exists(
            selectFrom('seed_credentials')
              .select('seed_credentials.id')
              .whereRef('seed_credentials.id', '=', 'seed_mailboxes.id')
              .where('seed_credentials.stored_at', '<', before(UNUSED_MS)),
          ),
        ]),
      ]),
    )
    .where(({ eb, or, and }) =>
      or([
        eb('error', 'is', null),
        eb('next_look_at', 'is', null),
        eb('next_look_at', '<', before(RETRY_MS)),
        and([
          eb('error', 'in', TRANSIENT_ERRORS),
          eb('next_look_at', '<', before(TRANSIENT_RETRY_MS)),
        ]),
      ]),
    )
    .orderBy('id')
    .limit(1);
  return claimRows(app, { table: 'seed_mailboxes', due, leaseMs: SINGLE_LEASE_MS });
}

async function readOnce(
  app: App,
  { failures, ...held }: UnusedSeed,
  source: SeedSource,
  signal: AbortSignal,
): Promise<void> {
  const now = app.clock.now();
  try {
    // Nothing is that new: no message is read.
    await source.read(now + UNUSED_MS);
    await recordLook(app, held, {
      failures: 0,
      error: null,
      error_detail: null,
      next_look_at: null,
      last_read_at: isoTime(now),
    });
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    if (signal.aborted) return;
    const { problem, message } = error;
    app.log.warn('a seed mailbox can’t be read', { seed: held.id, error: message });
    await recordLook(app, held, {
      failures: failures + 1,
      error: problem,
      error_detail: message,
      // A test can look at once.
      next_look_at: isoTime(now),
    });
  }
}
