/** Which first lookups of domains that are not verified are in progress, or about to begin. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';

type Source = Pick<App, 'db' | 'clock'>;

const dueLookups = ({ db, clock }: Source) =>
  db
    .selectFrom('domains')
    .where('next_look_at', '<=', isoTime(clock.now()))
    .where('status', '!=', 'verified');

/** Whether the first result of a domain, or the rest of it, is about to come. */
export async function isLookupInProgress(app: Source, id: string): Promise<boolean> {
  const row = await dueLookups(app).select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** How many of the domains that were added at this time still wait for their lookup. */
export async function countLookupsInProgress(app: Source, created_at: string): Promise<number> {
  const rows = await dueLookups(app).select('id').where('created_at', '=', created_at).execute();
  return rows.length;
}
