/** The events since a time, for pages that say what has changed. */

import { idAt } from '../lib/ids.ts';
import type { Db } from '../store/open.ts';
import type { EventType } from './events.ts';
import type { EventData } from './line.ts';

export interface RecentEvent {
  id: string;
  type: EventType;
  created_at: string;
  data: EventData;
}

/** Live events of these types, newest first: at most `limit`. `since` in ms since the epoch. */
export async function recentEvents(
  db: Db,
  types: readonly EventType[],
  { since, limit }: { since: number; limit: number },
): Promise<RecentEvent[]> {
  const rows = await db
    .selectFrom('events')
    .select(['id', 'type', 'created_at', 'data'])
    .where('type', 'in', types)
    // For the index `events_type`: IDs begin with the time.
    .where('id', '>=', idAt('evt', since))
    .where('livemode', '=', 1)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, type: row.type as EventType, data: JSON.parse(row.data) }));
}
