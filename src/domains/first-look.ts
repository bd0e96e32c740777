/** Which first looks at domains that are not verified are in progress, or about to begin. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';

type Source = Pick<App, 'db' | 'clock'>;

const dueLooks = ({ db, clock }: Source) =>
  db
    .selectFrom('domains')
    .where('next_look_at', '<=', isoTime(clock.now()))
    .where('status', '!=', 'verified');

export async function isLookInProgress(app: Source, id: string): Promise<boolean> {
  const row = await dueLooks(app).select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

export async function countLooksInProgress(app: Source, created_at: string): Promise<number> {
  const rows = await dueLooks(app).select('id').where('created_at', '=', created_at).execute();
  return rows.length;
}
