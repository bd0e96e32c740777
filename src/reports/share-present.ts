/** From rows to the shared reports that the API answers. */

import type { App } from '../app.ts';
import { type Actor, allows } from '../http/actor.ts';
import type { Db, Tx } from '../store/open.ts';
import type { SharedReportRow } from '../store/report-tables.ts';
import type { MadeShare } from './share-change.ts';
import { sharedTestIds } from './share-queries.ts';
import type { Share } from './share-schema.ts';
import { linkOf, openToken } from './share-token.ts';

type Presenting = Pick<App, 'config' | 'secrets'>;

/** As an actor of this role sees them: the links are for admins and the owner. */
export async function presentShares(
  db: Db | Tx,
  app: Presenting,
  { role }: Pick<Actor, 'role'>,
  rows: SharedReportRow[],
): Promise<Share[]> {
  const ids = rows.map(({ id }) => id);
  const tests = await sharedTestIds(db, ids);
  return rows.map((row) => {
    const token = allows(role, 'admin') ? openToken(app.secrets, row) : null;
    const url = token === null ? null : linkOf(app.config, token);
    return { ...present(row, tests.get(row.id)!), url, token };
  });
}

/** With the link, for whoever made it. */
export function presentMade({ config }: Presenting, { row, token }: MadeShare, testIds: string[]) {
  return { ...present(row, testIds), url: linkOf(config, token), token };
}

function present(row: SharedReportRow, test_ids: string[]) {
  const { id, title, expires_at, created_at, revoked_at, view_count, last_viewed_at } = row;
  return {
    ...{ id, object: 'shared_report' as const, title, test_ids },
    ...{ expires_at, created_at, revoked_at, view_count, last_viewed_at },
  };
}
