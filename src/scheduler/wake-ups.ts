/**
 * Tells the other nodes of a PostgreSQL database about new work and about what requests wait for. These are
 * hints: each node also looks for itself every second or two, which is what all of them rely on.
 */

import { monotonicClock } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Hints } from '../store/open.ts';

export interface WakeUps {
  /** A job has new work. */
  announceJob(name: string): void;
  /** Something that has this name has happened. */
  announceSignal(name: string): void;
  /** Sends nothing before it is called. */
  start(targets: WakeUpTargets): void;
  stop(): Promise<void>;
}

interface WakeUpTargets {
  wakeJob(name: string): void;
  /** Null: any name. */
  raiseSignal(name: string | null): void;
  /** Wakes all jobs, because hints may have been missed. */
  wakeAll(): void;
}

/** PostgreSQL sends notifications under a lock of the whole database, so a busy node combines its own. */
const MIN_INTERVAL_MS = 100;
/** Lets this node take the work first, and combines what one request causes. */
const DELAY_MS = 20;
/** PostgreSQL limits a notification to 8,000 bytes. An ID has about 30. */
const MAX_SIGNALS = 200;

interface Hint {
  from: string;
  jobs: string[];
  /** Null: too many to list. */
  signals: string[] | null;
}

/** `hints` is null if there are no other nodes, or no way to tell them. */
export function createWakeUps({
  hints,
  node,
  log,
}: {
  hints: Hints | null;
  node: string;
  log: Log;
}): WakeUps {
  let jobs = new Set<string>();
  let signals = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let sentAt = Number.NEGATIVE_INFINITY;
  let sending = Promise.resolve();
  let stopListening: (() => Promise<void>) | null = null;

  const send = async (target: Hints) => {
    timer = null;
    sentAt = monotonicClock.now();
    const hint: Hint = {
      from: node,
      jobs: [...jobs],
      signals: signals.size > MAX_SIGNALS ? null : [...signals],
    };
    jobs = new Set();
    signals = new Set();
    await target.send(JSON.stringify(hint)).catch((error) => {
      log.debug('could not notify the other nodes', { error: errorMessage(error) });
    });
  };
  const schedule = () => {
    if (hints === null || stopListening === null || timer !== null) return;
    const wait = Math.max(DELAY_MS, sentAt + MIN_INTERVAL_MS - monotonicClock.now());
    timer = setTimeout(() => {
      sending = send(hints);
    }, wait);
    timer.unref();
  };
  return {
    announceJob(name) {
      if (stopListening === null) return;
      jobs.add(name);
      schedule();
    },
    announceSignal(name) {
      if (stopListening === null) return;
      signals.add(name);
      schedule();
    },
    start({ wakeJob, raiseSignal, wakeAll }) {
      if (hints === null) return;
      const receive = (text: string) => {
        const hint = parseHint(text);
        if (hint === null || hint.from === node) return;
        for (const name of hint.jobs) wakeJob(name);
        for (const name of hint.signals ?? [null]) raiseSignal(name);
      };
      stopListening = hints.listen(node, receive, () => {
        wakeAll();
        raiseSignal(null);
      });
    },
    async stop() {
      if (timer !== null) clearTimeout(timer);
      const stop = stopListening;
      stopListening = null;
      await stop?.();
      await sending;
    },
  };
}

/** Null for a text of another version of the program. */
function parseHint(text: string): Hint | null {
  try {
    const { from, jobs, signals } = JSON.parse(text) as Hint;
    const areNames = Array.isArray(jobs) && (signals === null || Array.isArray(signals));
    return areNames ? { from, jobs, signals } : null;
  } catch {
    return null;
  }
}
