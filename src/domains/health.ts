/** Runs the health checks of a domain. The result is stored elsewhere. */

import { NO_SETUP } from '../analysis/context.ts';
import { analyzeDomain } from '../analysis/domain/analyze-domain.ts';
import type { DomainCheck, DomainHealth } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { type Gate, limitInFlight, startDeadline } from '../lib/concurrency.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import { oncePer } from '../lib/once-per.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { selectorsOf, waningSelectors } from './selectors.ts';

/** The result of the health checks, and when they started, in ms since the epoch. */
export interface Look {
  health: DomainHealth;
  begunAt: number;
}

/** Who waits for the result. Jobs use the background resolver, which gives way to users. */
type Caller = 'people' | 'jobs';

/** Takes several seconds, at most about fifteen. Never call it in a transaction. */
export async function lookAtHealth(app: App, row: DomainRow, caller: Caller): Promise<Look> {
  const { web, probeMailTls, blocklists, clock, log } = app;
  const resolver = caller === 'people' ? app.resolver : app.backgroundResolver;
  const begunAt = clock.now();
  const health = await analyzeDomain(row.name, {
    resolver,
    web,
    probeMailTls,
    setup: { ...NO_SETUP, blocklists: await blocklists.inUse() },
    selectors: selectorsOf(row),
    waning: waningSelectors(row, begunAt),
    guessed: guessedSelectors(row),
    now: begunAt,
    onFault: (check, error) =>
      log.error('domain check failed', {
        domain: row.id,
        check,
        error: errorMessage(error),
        fault: error instanceof Error ? error.stack : undefined,
      }),
  });
  return { health, begunAt };
}

/** Selectors that the user didn't give and whose keys the last checks found. */
function guessedSelectors({ health_checks }: Pick<DomainRow, 'health_checks'>): string[] {
  const checks: DomainCheck[] = JSON.parse(health_checks);
  return checks.flatMap(({ id, evidence: { selector, known } }) =>
    id === 'dkim_selector' && typeof selector === 'string' && known === false ? [selector] : [],
  );
}

/** Per kind of caller. The job that verifies domains has a limit of its own. */
const MAX_CONCURRENT_CHECKS = 8;
/** Longer than the checks take, so that a waiting caller usually gets a slot. */
const QUEUE_TIMEOUT_MS = 20_000;

interface Queue {
  gate: Gate;
  inProgress: Map<string, Promise<Look>>;
}
const createQueue = (): Queue => ({
  gate: limitInFlight(MAX_CONCURRENT_CHECKS),
  inProgress: new Map(),
});
const queuesOf = oncePer(
  (_: App): Record<Caller, Queue> => ({ people: createQueue(), jobs: createQueue() }),
);

/**
 * Runs the health checks with limited concurrency. Concurrent calls for the same domain share one
 * result. Throws `unavailable` if too many domains are being checked.
 */
export function shareLook(app: App, row: DomainRow, caller: Caller): Promise<Look> {
  const { gate, inProgress } = queuesOf(app)[caller];
  const key = `${row.id} ${selectorsOf(row).join(' ')}`;
  const current = inProgress.get(key);
  if (current) return current;
  const result = waitAndCheck(app, row, caller, gate).finally(() => inProgress.delete(key));
  inProgress.set(key, result);
  return result;
}

async function waitAndCheck(app: App, row: DomainRow, caller: Caller, gate: Gate): Promise<Look> {
  const { signal, stop } = startDeadline(QUEUE_TIMEOUT_MS);
  const entered = await gate.enter(signal);
  stop();
  if (!entered)
    throw new AppError(
      'unavailable',
      'Too many domains are being checked right now. Try again in a few seconds.',
    );
  try {
    return await lookAtHealth(app, row, caller);
  } finally {
    gate.leave();
  }
}
