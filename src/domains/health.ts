/** Runs the health checks of a domain. Doesn't store the result. */

import type { BlocklistInUse } from '../analysis/blocklists/blocklist.ts';
import type { TeamDomain } from '../analysis/check.ts';
import { NO_SETUP } from '../analysis/context.ts';
import { analyzeDomain, type DomainOptions } from '../analysis/domain/analyze-domain.ts';
import { type DomainCheck, type DomainHealth, summarize } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { createSemaphore, type Semaphore, startDeadline } from '../lib/concurrency.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { maySend } from './feedback/sending.ts';
import { proposeGoneRecords } from './gone-records.ts';
import { expiringSelectors, selectorsOf } from './selectors.ts';
import { teamDomains } from './team-domains.ts';

/** The result of the health checks, and when they started, in ms since the epoch. */
export interface HealthResult {
  health: DomainHealth;
  startedAt: number;
}

/** The result of the last health check, or of none. */
export function storedHealth(
  row: Pick<
    DomainRow,
    'name' | 'health_status' | 'health_score' | 'health_checks' | 'health_checked_at'
  >,
): { health: DomainHealth; startedAt: number | null } {
  const { name, health_status: status, health_score: score, health_checked_at } = row;
  const checks: DomainCheck[] = JSON.parse(row.health_checks);
  if (health_checked_at === null) {
    const summary = `${name} has not been checked yet.`;
    return { health: { name, status, score, summary, checks }, startedAt: null };
  }
  const summary = summarize(name, status, checks);
  return {
    health: { name, status, score, summary, checks },
    startedAt: Date.parse(health_checked_at),
  };
}

/** Who waits for the result. Jobs use the background resolver, so that users don't wait for them. */
export type Caller = 'users' | 'jobs';

/** Takes several seconds, up to about fifteen. Never call it in a transaction. */
export async function checkHealth(app: App, row: DomainRow, caller: Caller): Promise<HealthResult> {
  const { health, startedAt } = await checkName(app, row.name, caller, {
    selectors: selectorsOf(row),
    expiring: expiringSelectors(row, app.clock.now()),
    guessed: guessedSelectors(row),
    sendsMail: await maySend(app, app.db, row),
    blocklists: await app.blocklists.inUse(),
  });
  return { health: { ...health, checks: proposeGoneRecords(row, health.checks) }, startedAt };
}

type Known = Pick<
  DomainOptions,
  'selectors' | 'expiring' | 'guessed' | 'sendsMail' | 'deadlineMs'
> & {
  blocklists: BlocklistInUse[];
  /** Those of the team by default. */
  domains?: Record<string, TeamDomain>;
};

/** Runs the health checks of any domain, with what is known about it. */
export async function checkName(
  app: App,
  name: string,
  caller: Caller,
  { blocklists, domains, ...known }: Known,
): Promise<HealthResult> {
  const { web, probeMailTls, askDns, clock, log } = app;
  const startedAt = clock.now();
  const health = await analyzeDomain(name, {
    ...known,
    resolver: caller === 'users' ? app.resolver : app.backgroundResolver,
    web,
    probeMailTls,
    askDns,
    setup: { ...NO_SETUP, blocklists, domains: domains ?? (await teamDomains(app)) },
    now: startedAt,
    onFault: (check, error) =>
      log.error('domain check failed', {
        domain: name,
        check,
        error: errorMessage(error),
        fault: error instanceof Error ? error.stack : undefined,
      }),
  });
  return { health, startedAt };
}

/** Selectors that no user entered, but whose keys the last checks found. */
export function guessedSelectors({ health_checks }: Pick<DomainRow, 'health_checks'>): string[] {
  const checks: DomainCheck[] = JSON.parse(health_checks);
  return checks.flatMap(({ id, evidence: { selector, known } }) =>
    id === 'dkim_selector' && typeof selector === 'string' && known === false ? [selector] : [],
  );
}

/** Per kind of caller. The job that verifies domains has a separate limit. */
const MAX_CONCURRENT_CHECKS = 8;
/** Longer than the checks take, so that a waiting caller usually gets a slot. */
export const QUEUE_TIMEOUT_MS = 20_000;

interface Queue {
  semaphore: Semaphore;
  inProgress: Map<string, Promise<HealthResult>>;
}
const createQueue = (): Queue => ({
  semaphore: createSemaphore(MAX_CONCURRENT_CHECKS),
  inProgress: new Map(),
});
const queuesOf = memoizePerObject(
  (_: App): Record<Caller, Queue> => ({ users: createQueue(), jobs: createQueue() }),
);

/**
 * Runs the health checks with limited concurrency. Concurrent calls for the same domain share one
 * result. Throws `unavailable` if too many domains are being checked.
 */
export function checkHealthShared(app: App, row: DomainRow, caller: Caller): Promise<HealthResult> {
  const { inProgress } = queuesOf(app)[caller];
  const key = `${row.id} ${selectorsOf(row).join(' ')}`;
  const pending = inProgress.get(key);
  if (pending) return pending;
  const result = inQueue(app, caller, QUEUE_TIMEOUT_MS, () =>
    checkHealth(app, row, caller),
  ).finally(() => inProgress.delete(key));
  inProgress.set(key, result);
  return result;
}

/** Throws `unavailable` if too many domains are being checked for longer than `maxWaitMs`. */
export async function inQueue<T>(
  app: App,
  caller: Caller,
  maxWaitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const { semaphore } = queuesOf(app)[caller];
  const { signal, stop } = startDeadline(maxWaitMs);
  const acquired = await semaphore.acquire(signal);
  stop();
  if (!acquired)
    throw new AppError(
      'unavailable',
      'Too many domains are being checked right now. Try again in a few seconds.',
    );
  try {
    return await work();
  } finally {
    semaphore.release();
  }
}
