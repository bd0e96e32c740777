/** Objects that the reader can't open now, but could after switching between live and test mode. */

import type { Db } from '../store/open.ts';

/** `livemode` is 1 for live objects and 0 for those of test mode. */
type Find = (db: Db, id: string, livemode: 0 | 1) => Promise<unknown>;

const FINDERS: [path: RegExp, find: Find][] = [
  [/^\/tests\/(test_\w+)(?:\/edit)?$/, findIn('tests')],
  [/^\/webhooks\/(whe_\w+)$/, findIn('webhook_endpoints')],
  [/^\/reports\/shares\/(rpt_\w+)$/, findIn('shared_reports')],
  [
    /^\/webhooks\/deliveries\/(whd_\w+)$/,
    (db, id, livemode) =>
      db
        .selectFrom('webhook_deliveries')
        .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
        .select('webhook_deliveries.id')
        .where('webhook_deliveries.id', '=', id)
        .where('livemode', '=', livemode)
        .executeTakeFirst(),
  ],
];

function findIn(table: 'tests' | 'webhook_endpoints' | 'shared_reports'): Find {
  return (db, id, livemode) =>
    db
      .selectFrom(table)
      .select('id')
      .where('id', '=', id)
      .where('livemode', '=', livemode)
      .executeTakeFirst();
}

/** Whether the page at this path exists in the mode that the reader does not see. */
export async function isInOtherMode(db: Db, path: string, isLive: boolean): Promise<boolean> {
  for (const [pattern, find] of FINDERS) {
    const [, id] = pattern.exec(path) ?? [];
    if (id) return (await find(db, id, isLive ? 0 : 1)) !== undefined;
  }
  return false;
}
