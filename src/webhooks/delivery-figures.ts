/** Figures about the deliveries of endpoints, for pages. Each reads a bounded number of rows. */

import type { Db } from '../store/open.ts';

/** How many of the newest deliveries a success rate covers. */
export const RECENT_DELIVERIES = 50;

export interface Outcomes {
  /** Deliveries that have ended or are held. */
  finished: number;
  succeeded: number;
}

/** The outcomes of the newest deliveries of each endpoint that has any, in one query. */
export async function recentOutcomes(
  db: Db,
  endpointIds: string[],
): Promise<Map<string, Outcomes>> {
  const [first, ...others] = endpointIds.map((id) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select(['endpoint_id', 'status'])
          .where('endpoint_id', '=', id)
          .orderBy('id', 'desc')
          .limit(RECENT_DELIVERIES)
          .as('recent'),
      )
      .select(['endpoint_id', 'status']),
  );
  if (!first) return new Map();
  const query = others.reduce((union, next) => union.unionAll(next), first);
  const outcomes = new Map<string, Outcomes>();
  for (const { endpoint_id, status } of await query.execute()) {
    const { finished, succeeded } = outcomes.get(endpoint_id) ?? { finished: 0, succeeded: 0 };
    outcomes.set(endpoint_id, {
      finished: finished + (status === 'pending' ? 0 : 1),
      succeeded: succeeded + (status === 'succeeded' ? 1 : 0),
    });
  }
  return outcomes;
}

/** Larger numbers are not counted exactly. */
export const MAX_COUNTED_DELIVERIES = 1000;

export interface MissedDeliveries {
  /** At most one more than `MAX_COUNTED_DELIVERIES`. */
  count: number;
  /** When the oldest was created; null without any. */
  oldestAt: string | null;
}

/** The deliveries of an endpoint that failed or are held. */
export async function missedDeliveries(db: Db, endpointId: string): Promise<MissedDeliveries> {
  const times: string[] = [];
  // One query for each status, so that the index returns the rows in order.
  for (const status of ['failed', 'held'] as const) {
    const rows = await db
      .selectFrom('webhook_deliveries')
      .select('created_at')
      .where('endpoint_id', '=', endpointId)
      .where('status', '=', status)
      .orderBy('id')
      .limit(MAX_COUNTED_DELIVERIES + 1)
      .execute();
    times.push(...rows.map(({ created_at }) => created_at));
  }
  return {
    count: Math.min(times.length, MAX_COUNTED_DELIVERIES + 1),
    oldestAt: times.toSorted()[0] ?? null,
  };
}
