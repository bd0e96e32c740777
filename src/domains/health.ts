/** Looks at the health of a domain over the network; what it finds is stored elsewhere. */

import { NO_SETUP } from '../analysis/context.ts';
import { analyzeDomain } from '../analysis/domain/analyze-domain.ts';
import type { DomainCheck, DomainHealth } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { type Gate, limitInFlight, startDeadline } from '../lib/concurrency.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import { oncePer } from '../lib/once-per.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { selectorsOf, waningSelectors } from './selectors.ts';

/** What a look found, and when it began: in milliseconds since 1970. */
export interface Look {
  health: DomainHealth;
  begunAt: number;
}

/** Who waits for a look: what nobody waits for leaves room at the DNS for those who do. */
type Asker = 'people' | 'jobs';

/** Takes seconds, at most about fifteen; never inside a transaction. */
export async function lookAtHealth(app: App, row: DomainRow, asker: Asker): Promise<Look> {
  const { web, probeMailTls, blocklists, clock, log } = app;
  const resolver = asker === 'people' ? app.resolver : app.backgroundResolver;
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
      log.error('a check of a domain failed', {
        domain: row.id,
        check,
        error: errorMessage(error),
        fault: error instanceof Error ? error.stack : undefined,
      }),
  });
  return { health, begunAt };
}

/** Those that nobody has named, and whose keys the last look found. */
function guessedSelectors({ health_checks }: Pick<DomainRow, 'health_checks'>): string[] {
  const checks: DomainCheck[] = JSON.parse(health_checks);
  return checks.flatMap(({ id, evidence: { selector, known } }) =>
    id === 'dkim_selector' && typeof selector === 'string' && known === false ? [selector] : [],
  );
}

/** So many at once for people, and as many for monitors; the job of domains has places of its own. */
const AT_ONCE = 8;
/** Longer than a look takes: who waits for a place gets it, or is told. */
const WAIT_MS = 20_000;

interface Looks {
  gate: Gate;
  underWay: Map<string, Promise<Look>>;
}
const noLooks = (): Looks => ({ gate: limitInFlight(AT_ONCE), underWay: new Map() });
const looksOf = oncePer((_: App): Record<Asker, Looks> => ({ people: noLooks(), jobs: noLooks() }));

/**
 * As above, in turn; who asks for the same domain meanwhile gets the same look. Throws `unavailable`
 * where too many others are looked at.
 */
export function shareLook(app: App, row: DomainRow, asker: Asker): Promise<Look> {
  const looks = looksOf(app)[asker];
  const key = `${row.id} ${selectorsOf(row).join(' ')}`;
  const present = looks.underWay.get(key);
  if (present) return present;
  const look = lookInTurn(app, row, asker, looks.gate).finally(() => looks.underWay.delete(key));
  looks.underWay.set(key, look);
  return look;
}

async function lookInTurn(app: App, row: DomainRow, asker: Asker, gate: Gate): Promise<Look> {
  const { signal, stop } = startDeadline(WAIT_MS);
  const entered = await gate.enter(signal);
  stop();
  if (!entered)
    throw new AppError(
      'unavailable',
      'Too many domains are being looked at now. Ask again in a few seconds.',
    );
  try {
    return await lookAtHealth(app, row, asker);
  } finally {
    gate.leave();
  }
}
