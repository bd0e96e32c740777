/** Looks into one seed mailbox for all tests that need it, for as long as this node holds its lease. */

import type { App } from '../app.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { LOOK_JOB } from '../mailtests/placement.ts';
import { AccountError, type AccountProblem } from '../net/account-error.ts';
import { untilAvailable } from '../store/until-available.ts';
import {
  finalTime,
  type OpenPlacement,
  openPlacements,
  type PlacementChange,
  provisionalTime,
  recordChange,
} from './placements.ts';
import { isSignInProblem, recordLook } from './seeds.ts';
import { isAffected, type Look, type SeedSource } from './source.ts';
import { type CheckedLook, createTracker, type Place, type RecordChange } from './tracker.ts';

export interface Session {
  lease: string;
  /** Looks now if it is time, or if something has changed. Never rejects. */
  tick(): void;
  /** Something has changed: looks as soon as possible. */
  wake(): void;
  isFailing(): boolean;
  /** The reason of a failure is gone: looks at once. */
  retry(): void;
  /** Whether it is over, because no test needs the mailbox. */
  isOver(): boolean;
  /** Resolves when the connections are closed and no look is running. */
  close(): Promise<void>;
}

/** In seconds, after the nth failure. Wrong passwords are tried less often, because providers lock accounts. */
const RETRY_DELAYS_S = [5, 15, 30, 60, 120, 300];
const SIGN_IN_RETRY_DELAYS_S = [60, 300, 900];
/** Until someone has signed in, looking costs one query and no request. */
const SIGN_IN_CHECK_DELAYS_S = [10, 30];

const retryDelays = (problem: AccountProblem): number[] =>
  isSignInProblem(problem)
    ? SIGN_IN_CHECK_DELAYS_S
    : problem === 'sign_in_failed'
      ? SIGN_IN_RETRY_DELAYS_S
      : RETRY_DELAYS_S;

export function createSession(
  app: App,
  seed: SeedMailbox,
  claimed: { lease: string; failures: number },
  source: SeedSource,
): Session {
  const { lease } = claimed;
  const tracker = createTracker(app, seed, source);
  let { failures } = claimed;
  let nextLookAt = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let changed = false;
  let over = false;
  let closed = false;
  let running: Promise<void> | null = null;

  async function look(): Promise<void> {
    const startedAt = app.clock.now();
    const open = await openPlacements(app.db, seed.name);
    if (open.length === 0) {
      over = true;
      return;
    }
    tracker.forgetOthers(open);
    try {
      const since = Math.min(...open.map(({ created_at }) => Date.parse(created_at)));
      const due = tracker.dueKeys(open, startedAt);
      const result = await source.read(since, due);
      // One time for all decisions: what is final for one part of the look is final for the others.
      const now = app.clock.now();
      const look = { ...result, due, now };
      const searched = JSON.stringify(result.searched);
      const record: RecordChange = (row, change) => recordChange(app, row, { ...change, searched });
      const recorded = await tracker.changes(open, look, record);
      await recordUnfound(
        open.filter(({ test_id }) => !recorded.has(test_id)),
        look,
        record,
      );
      await succeeded();
      await source.keepWatch(() => {
        changed = true;
        app.scheduler.wakeHere(LOOK_JOB);
      });
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      // This node has ended the connection itself.
      if (closed) return;
      source.disconnect();
      // Without those that this look has found before.
      await failed(await openPlacements(app.db, seed.name), error);
    }
    const rest = await openPlacements(app.db, seed.name);
    over = rest.length === 0;
    // From the start, so that a clock that was set ahead meanwhile does not postpone the next look.
    const next = nextTime(rest, startedAt);
    // A new test makes looks more frequent. A failing mailbox is read again when `failed` says.
    nextLookAt = failures === 0 ? next : Math.max(nextLookAt, next);
  }

  function nextTime(rows: OpenPlacement[], now: number): number {
    const pending = rows.filter(({ message_key }) => message_key === null);
    return Math.min(now + intervalFor(pending, now), tracker.nextCheckAt(rows, now));
  }

  async function recordUnfound(
    rows: OpenPlacement[],
    look: CheckedLook,
    record: RecordChange,
  ): Promise<void> {
    for (const row of rows) {
      // What was seen stays, and the next look queries an unknown tab again.
      if (row.message_key !== null) continue;
      if (tracker.isTabOpen(row) && look.now < finalTime(row, app.config)) continue;
      const outcome = unfound(row, missingOutcome(row, look), look.now);
      if (outcome) await record(row, outcome);
    }
  }

  /** Provisional after 15 minutes, final after the timeout. */
  function unfound(row: OpenPlacement, outcome: Place, now: number): PlacementChange | null {
    if (now < provisionalTime(row, app.config)) return null;
    const { placement, problem, detail } = outcome;
    const isFinal = now >= finalTime(row, app.config);
    return { placement, problem, detail, settled_at: isFinal ? isoTime(now) : null };
  }

  async function succeeded(): Promise<void> {
    const now = app.clock.now();
    if (failures === 0 && now - reportedAt < 60_000) return;
    failures = 0;
    reportedAt = now;
    await recordLook(
      app,
      { id: seed.name, lease },
      {
        failures,
        error: null,
        error_detail: null,
        next_look_at: null,
        last_read_at: isoTime(now),
      },
    );
  }

  async function failed(
    open: OpenPlacement[],
    { problem, message, retryAfterMs }: AccountError,
  ): Promise<void> {
    const now = app.clock.now();
    const delays = retryDelays(problem);
    const delayMs = delays[Math.min(failures, delays.length - 1)]! * 1000;
    failures += 1;
    nextLookAt = now + Math.max(delayMs, retryAfterMs ?? 0);
    if (failures === 1)
      app.log.warn('a seed mailbox can’t be read', { seed: seed.name, error: message });
    await recordLook(
      app,
      { id: seed.name, lease },
      { failures, error: problem, error_detail: message, next_look_at: isoTime(nextLookAt) },
    );
    const outcome: Place = { placement: 'unknown', problem, detail: message };
    for (const row of open) {
      const change = unfound(row, row.message_key === null ? outcome : row, now);
      if (change) await recordChange(app, row, change);
    }
  }

  return {
    lease,
    tick() {
      const now = app.clock.now();
      // A failing mailbox is not read again early.
      const isDue = failures === 0 ? changed || now >= nextLookAt : now >= nextLookAt;
      if (running || closed || over || !isDue) return;
      changed = false;
      running = untilAvailable(look)
        .catch((error) => {
          nextLookAt = app.clock.now() + 60_000;
          app.log.error('reading a seed mailbox failed', {
            seed: seed.name,
            error: errorMessage(error),
          });
        })
        .then(() => {
          running = null;
          if (over || changed) app.scheduler.wakeHere(LOOK_JOB);
        });
    },
    wake() {
      changed = true;
    },
    // While a look runs, the row is older than what it has found.
    isFailing: () => failures > 0 && running === null,
    retry() {
      failures = 0;
      nextLookAt = 0;
    },
    isOver: () => over,
    async close() {
      closed = true;
      // Ends a look that waits for the server.
      source.close();
      await running;
    },
  };
}

function missingOutcome(
  row: OpenPlacement,
  { hasJunkFolder, truncatedAt, unreadableAt }: Look,
): Place {
  if (!hasJunkFolder)
    return {
      placement: 'unknown',
      problem: 'no_junk_folder',
      detail:
        'The message isn’t in the inbox, and no spam folder was recognized. Name the spam folder in the "junk" field of the seed mailbox.',
    };
  if (isAffected(row, truncatedAt))
    return {
      placement: 'unknown',
      problem: 'too_many_messages',
      detail:
        'The mailbox receives too much mail to search all of it. Use a mailbox that only receives tests.',
    };
  if (isAffected(row, unreadableAt))
    return {
      placement: 'unknown',
      problem: 'unreadable_message',
      detail:
        'The server refuses to send one of the new messages in this mailbox, which could be the message of this test. Delete new messages that the mailbox can’t display.',
    };
  return { placement: 'missing', problem: null, detail: null };
}

const MINUTE_MS = 60_000;

/** Often at first, because most messages arrive within seconds. */
function intervalFor(rows: OpenPlacement[], now: number): number {
  if (rows.length === 0) return MINUTE_MS;
  const ages = rows.map(
    ({ received_at, created_at }) => now - Date.parse(received_at ?? created_at),
  );
  const youngest = Math.min(...ages);
  if (youngest < 2 * MINUTE_MS) return 10_000;
  return youngest < 5 * MINUTE_MS ? 30_000 : MINUTE_MS;
}
