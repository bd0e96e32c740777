/** The domains that the team has added, for analyses. */

import type { TeamDomain } from '../analysis/check.ts';
import type { App } from '../app.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { feedbackAddress } from './feedback/address.ts';

interface Known {
  /** By status: how many, and the newest. Changes whenever a domain is added, removed or verified. */
  state: string;
  domains: Record<string, TeamDomain>;
}

const knownOf = memoizePerObject((_: App['db']): Known => ({ state: '', domains: {} }));

/**
 * By name. The same object as before unless one has changed, so that a message costs the same however many there are.
 */
export async function teamDomains(
  app: Pick<App, 'db' | 'config'>,
): Promise<Record<string, TeamDomain>> {
  const known = knownOf(app.db);
  const counts = await app.db
    .selectFrom('domains')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count'), fn.max('id').as('newest')])
    .groupBy('status')
    .orderBy('status')
    .execute();
  const state = JSON.stringify(counts);
  if (state === known.state) return known.domains;
  const rows = await app.db.selectFrom('domains').select(['id', 'name', 'status']).execute();
  const domains = Object.fromEntries(
    rows.map(({ id, name, status }) => [
      name,
      { feedbackAddress: feedbackAddress(app, { id }), isVerified: status === 'verified' },
    ]),
  );
  Object.assign(known, { state, domains });
  return domains;
}
