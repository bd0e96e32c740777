/** The lookup of any name: what public DNS says, within 5 seconds. Nothing is stored, and it needs no verification. */

import { setTimeout as delay } from 'node:timers/promises';
import { readDomain } from '../analysis/domain/read-pasted.ts';
import type { App } from '../app.ts';
import { monotonicClock } from '../lib/clock.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { errorMessage } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { isLimited } from '../store/open.ts';
import { type Caller, checkName, type HealthResult, inQueue, QUEUE_TIMEOUT_MS } from './health.ts';

/** The first result comes within 5 seconds, the wait for other checks included. */
const FIRST_RESULT_MS = 4_400;
const MAX_WAIT_MS: Record<Caller, number> = { users: 1_500, jobs: QUEUE_TIMEOUT_MS };
/** The first test of the blocklists can take longer. */
const BLOCKLISTS_MS = 1_000;
const SHARED_MS = MINUTE_MS;
const MAX_SHARED = 200;

export interface Lookup {
  latest: HealthResult;
  /** Resolves with the complete result, if not everything was answered in time. Never rejects. */
  rest: Promise<HealthResult> | null;
}

interface Shared {
  startedAt: number;
  lookup: Promise<Lookup>;
}

const sharedOf = memoizePerObject((_: App) => new Map<string, Shared>());

/** The lookup of a name, or the one that began within the last minute. Throws `unavailable` if too many are in progress. */
export function lookUpName(
  app: App,
  name: string,
  caller: Caller,
  selectors: string[] = [],
): Promise<Lookup> {
  const shared = sharedOf(app);
  const now = app.clock.now();
  // A result names feedback addresses of domains of the team.
  const whose = isLimited(app.db) ? 'limited' : '';
  const keyFor = (who: Caller) => [whose + who, name, ...selectors].join(' ');
  const known = shared.get(keyFor('users')) ?? shared.get(keyFor(caller));
  if (known && Math.abs(now - known.startedAt) < SHARED_MS) return known.lookup;
  const key = keyFor(caller);
  const entry: Shared = { startedAt: now, lookup: startLookup(app, name, caller, selectors) };
  entry.lookup.catch(() => shared.get(key) === entry && shared.delete(key));
  shared.delete(key);
  shared.set(key, entry);
  if (shared.size > MAX_SHARED) shared.delete(shared.keys().next().value!);
  return entry.lookup;
}

/** None for limited callers, who share their results. */
const domainsFor = ({ db }: Pick<App, 'db'>) => (isLimited(db) ? {} : undefined);

async function startLookup(
  app: App,
  name: string,
  caller: Caller,
  selectors: string[],
): Promise<Lookup> {
  let began = monotonicClock.now();
  const elapsed = () => monotonicClock.now() - began;
  const latest = await inQueue(app, caller, MAX_WAIT_MS[caller], async () => {
    if (caller === 'jobs') began = monotonicClock.now();
    const blocklists = await Promise.race([
      app.blocklists.inUse(),
      delay(BLOCKLISTS_MS, null, { ref: false }).then(() => app.blocklists.snapshot()),
    ]);
    const deadlineMs = FIRST_RESULT_MS - elapsed();
    const domains = domainsFor(app);
    return checkName(app, name, caller, { selectors, blocklists, deadlineMs, domains });
  });
  const lookup: Lookup = { latest, rest: null };
  // Timers can be a little early.
  if (elapsed() > FIRST_RESULT_MS - 20)
    lookup.rest = completeLookup(app, name, caller, selectors, lookup);
  return lookup;
}

async function completeLookup(
  app: App,
  name: string,
  caller: Caller,
  selectors: string[],
  lookup: Lookup,
): Promise<HealthResult> {
  try {
    lookup.latest = await inQueue(app, caller, QUEUE_TIMEOUT_MS, async () =>
      checkName(app, name, caller, {
        selectors,
        blocklists: await app.blocklists.inUse(),
        domains: domainsFor(app),
      }),
    );
  } catch (error) {
    app.log.error('could not complete the lookup of a domain', {
      name,
      error: errorMessage(error),
    });
  }
  lookup.rest = null;
  return lookup.latest;
}

/** Suffixes of names that only a private network resolves (RFC 6761, RFC 6762, RFC 8375, RFC 7686). */
const PRIVATE = /\.(?:local|localhost|internal|intranet|lan|home|corp|private|onion|arpa|invalid)$/;

/** Why public DNS cannot say anything about a text; null if it can. It continues a sentence about the text. */
export function lookupFault(text: string): string | null {
  const { name, fault } = readDomain(text);
  if (name === null) return fault;
  return PRIVATE.test(name)
    ? 'is a name in a private network, which public DNS does not know'
    : null;
}
