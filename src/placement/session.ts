/** Looks into one seed mailbox for all tests that need it, for as long as this node holds its lease. */

import type { App } from '../app.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { isoTime } from '../lib/clock.ts';
import { MINUTE_MS } from '../lib/durations.ts';
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
import { type CheckedLook, type Place, type RecordChange, Tracker } from './tracker.ts';

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

export class Session {
  readonly lease: string;
  readonly #app: App;
  readonly #seed: SeedMailbox;
  readonly #source: SeedSource;
  readonly #tracker: Tracker;
  #failures: number;
  #nextLookAt = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #changed = false;
  #over = false;
  #closed = false;
  #running: Promise<void> | null = null;

  constructor(
    app: App,
    seed: SeedMailbox,
    { lease, failures }: { lease: string; failures: number },
    source: SeedSource,
  ) {
    this.#app = app;
    this.#seed = seed;
    this.#source = source;
    this.#tracker = new Tracker(app, seed, source);
    this.lease = lease;
    this.#failures = failures;
  }

  /** Looks now if it is time, or if something has changed. Never rejects. */
  tick(): void {
    const now = this.#app.clock.now();
    // A failing mailbox is not read again early.
    const isDue = now >= this.#nextLookAt || (this.#failures === 0 && this.#changed);
    if (this.#running || this.#closed || this.#over || !isDue) return;
    this.#changed = false;
    this.#running = untilAvailable(() => this.#look())
      .catch((error) => {
        this.#nextLookAt = this.#app.clock.now() + 60_000;
        this.#app.log.error('reading a seed mailbox failed', {
          seed: this.#seed.name,
          error: errorMessage(error),
        });
      })
      .then(() => {
        this.#running = null;
        if (this.#over || this.#changed) this.#app.scheduler.wakeHere(LOOK_JOB);
      });
  }

  /** Something has changed: looks as soon as possible. */
  wake(): void {
    this.#changed = true;
  }

  isFailing(): boolean {
    // While a look runs, the row is older than what it has found.
    return this.#failures > 0 && this.#running === null;
  }

  /** The reason of a failure is gone: looks at once. */
  retry(): void {
    this.#failures = 0;
    this.#nextLookAt = 0;
  }

  /** Whether it is over, because no test needs the mailbox. */
  isOver(): boolean {
    return this.#over;
  }

  /** Resolves when the connections are closed and no look is running. */
  async close(): Promise<void> {
    this.#closed = true;
    // Ends a look that waits for the server.
    this.#source.close();
    await this.#running;
  }

  async #look(): Promise<void> {
    const startedAt = this.#app.clock.now();
    const open = await openPlacements(this.#app.db, this.#seed.name);
    if (open.length === 0) {
      this.#over = true;
      return;
    }
    this.#tracker.forgetOthers(open);
    try {
      const since = Math.min(...open.map(({ created_at }) => Date.parse(created_at)));
      const due = this.#tracker.dueKeys(open, startedAt);
      const result = await this.#source.read(since, due);
      // One time for all decisions: what is final for one part of the look is final for the others.
      const now = this.#app.clock.now();
      const look = { ...result, due, now };
      const searched = JSON.stringify(result.searched);
      const record: RecordChange = (row, change) =>
        recordChange(this.#app, row, { ...change, searched });
      const recorded = await this.#tracker.changes(open, look, record);
      await this.#recordUnfound(
        open.filter(({ test_id }) => !recorded.has(test_id)),
        look,
        record,
      );
      await this.#succeeded();
      await this.#source.keepWatch(() => {
        this.#changed = true;
        this.#app.scheduler.wakeHere(LOOK_JOB);
      });
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      // This node has ended the connection itself.
      if (this.#closed) return;
      this.#source.disconnect();
      // Without those that this look has found before.
      await this.#failed(await openPlacements(this.#app.db, this.#seed.name), error);
    }
    const rest = await openPlacements(this.#app.db, this.#seed.name);
    this.#over = rest.length === 0;
    // From the start, so that a clock that was set ahead meanwhile does not postpone the next look.
    const next = this.#nextTime(rest, startedAt);
    // A new test makes looks more frequent. A failing mailbox is read again when `failed` says.
    this.#nextLookAt = this.#failures === 0 ? next : Math.max(this.#nextLookAt, next);
  }

  #nextTime(rows: OpenPlacement[], now: number): number {
    const pending = rows.filter(({ message_key }) => message_key === null);
    return Math.min(now + intervalFor(pending, now), this.#tracker.nextCheckAt(rows, now));
  }

  async #recordUnfound(
    rows: OpenPlacement[],
    look: CheckedLook,
    record: RecordChange,
  ): Promise<void> {
    for (const row of rows) {
      // What was seen stays, and the next look queries an unknown tab again.
      if (row.message_key !== null) continue;
      if (this.#tracker.isTabOpen(row) && look.now < finalTime(row, this.#app.config)) continue;
      const outcome = this.#unfound(row, missingOutcome(row, look), look.now);
      if (outcome) await record(row, outcome);
    }
  }

  /** Provisional after 15 minutes, final after the timeout. */
  #unfound(row: OpenPlacement, outcome: Place, now: number): PlacementChange | null {
    if (now < provisionalTime(row, this.#app.config)) return null;
    const { placement, problem, detail } = outcome;
    const isFinal = now >= finalTime(row, this.#app.config);
    return { placement, problem, detail, settled_at: isFinal ? isoTime(now) : null };
  }

  async #succeeded(): Promise<void> {
    const now = this.#app.clock.now();
    if (this.#failures === 0 && now - this.#reportedAt < 60_000) return;
    this.#failures = 0;
    this.#reportedAt = now;
    await recordLook(
      this.#app,
      { id: this.#seed.name, lease: this.lease },
      {
        failures: this.#failures,
        error: null,
        error_detail: null,
        next_look_at: null,
        last_read_at: isoTime(now),
      },
    );
  }

  async #failed(
    open: OpenPlacement[],
    { problem, message, retryAfterMs }: AccountError,
  ): Promise<void> {
    const now = this.#app.clock.now();
    const delays = retryDelays(problem);
    const delayMs = delays[Math.min(this.#failures, delays.length - 1)]! * 1000;
    this.#failures += 1;
    this.#nextLookAt = now + Math.max(delayMs, retryAfterMs ?? 0);
    if (this.#failures === 1)
      this.#app.log.warn('a seed mailbox can’t be read', { seed: this.#seed.name, error: message });
    await recordLook(
      this.#app,
      { id: this.#seed.name, lease: this.lease },
      {
        failures: this.#failures,
        error: problem,
        error_detail: message,
        next_look_at: isoTime(this.#nextLookAt),
      },
    );
    const outcome: Place = { placement: 'unknown', problem, detail: message };
    for (const row of open) {
      const change = this.#unfound(row, row.message_key === null ? outcome : row, now);
      if (change) await recordChange(this.#app, row, change);
    }
  }
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
