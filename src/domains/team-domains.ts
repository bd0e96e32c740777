/** The domains that the team has added, for analyses. */

import type { TeamDomain } from '../analysis/check.ts';
import type { App } from '../app.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { nextNumber } from '../store/counters.ts';
import { engineOf, type PreparedParameter, prepared, type Tx } from '../store/open.ts';
import { feedbackAddress } from './feedback/address.ts';

interface Known {
  version: string;
  domains: Record<string, TeamDomain>;
}

const knownOf = memoizePerObject((_: App['db']): Known => ({ version: 'none', domains: {} }));

const COUNTER = 'last change of domains';

/** Call this in each transaction that adds, verifies or removes a domain. */
export const noteDomainChange = (tx: Tx): Promise<number> => nextNumber(tx, COUNTER);

const findVersion = prepared((db, parameter: PreparedParameter<{ name: string }>) =>
  db.selectFrom('service_facts').select('value').where('name', '=', parameter('name')),
);

/** Nodes of older versions, which can be running beside this one on PostgreSQL, count nothing. */
const MAX_AGE_MS = MINUTE_MS;

/**
 * By name. The same object as before unless one has changed, so that a message costs the same however many there are.
 */
export async function teamDomains(
  app: Pick<App, 'db' | 'config' | 'clock'>,
): Promise<Record<string, TeamDomain>> {
  const known = knownOf(app.db);
  const [counted] = await findVersion(app.db, { name: COUNTER });
  const age = engineOf(app.db) === 'sqlite' ? 0 : Math.floor(app.clock.now() / MAX_AGE_MS);
  const version = `${counted?.value} ${age}`;
  if (version === known.version) return known.domains;
  const rows = await app.db.selectFrom('domains').select(['id', 'name', 'status']).execute();
  const domains = Object.fromEntries(
    rows.map(({ id, name, status }) => [
      name,
      { feedbackAddress: feedbackAddress(app, { id }), isVerified: status === 'verified' },
    ]),
  );
  Object.assign(known, { version, domains });
  return domains;
}
