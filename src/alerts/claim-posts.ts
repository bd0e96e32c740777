/** Takes posts to Slack that are due, a few for each address at once. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { LONGEST_WAIT_MS } from '../lib/retry-times.ts';
import { bringForward, claimRows } from '../store/leases.ts';
import type { Db } from '../store/open.ts';
import type { AlertNotificationRow } from '../store/watching-tables.ts';
import { slackUrlOf } from './channels.ts';

/** Of all posts under way to one address: one that does not answer holds up no other. */
const MOST_EACH = 2;
/** How long others leave a claimed one alone: longer than its post and the record may take. */
const LEASE_MS = 90_000;

export type ClaimedPost = AlertNotificationRow & { lease: string };

/** What is due: the end of an incident not before its beginning has been told, or is given up. */
const dueNow = (db: Db, now: string) =>
  db
    .selectFrom('alert_notifications')
    .where('due_at', '<=', now)
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('news', '!=', 'resolved'),
        not(
          exists(
            selectFrom('alert_notifications as beginning')
              .select('beginning.id')
              .whereRef('beginning.incident_id', '=', 'alert_notifications.incident_id')
              .whereRef('beginning.channel', '=', 'alert_notifications.channel')
              .where('beginning.news', '=', 'triggered')
              .where('beginning.status', '=', 'queued'),
          ),
        ),
      ]),
    );

/**
 * Of each address no more than it has room for. `underWay`: to which address each goes that is; what
 * is claimed is noted there.
 */
export async function claimPosts(
  app: Pick<App, 'db' | 'clock' | 'newId' | 'config' | 'mailer' | 'secrets'>,
  limit: number,
  underWay: Map<string, string>,
): Promise<ClaimedPost[]> {
  await bringForward(app, 'alert_notifications', LONGEST_WAIT_MS);
  const now = isoTime(app.clock.now());
  const all: ClaimedPost[] = [];
  for (const [address, alertIds] of await addressesDue(app, now)) {
    const running = [...underWay.values()].filter((one) => one === address).length;
    const room = Math.min(MOST_EACH - running, limit - all.length);
    if (room <= 0) continue;
    const due = dueNow(app.db, now)
      .selectAll()
      .where('alert_id', 'in', alertIds)
      .orderBy('due_at')
      .orderBy('id')
      .limit(room);
    const table = 'alert_notifications';
    for (const claimed of await claimRows(app, { table, due, leaseMs: LEASE_MS })) {
      underWay.set(claimed.id, address);
      all.push(claimed);
    }
  }
  return all;
}

/** The rules with something due by their address, the longest due first; `''` is none that can be used. */
async function addressesDue(
  app: Parameters<typeof claimPosts>[0],
  now: string,
): Promise<Map<string, string[]>> {
  const due = await dueNow(app.db, now)
    .select(['alert_id', ({ fn }) => fn.min('due_at').as('first')])
    .groupBy('alert_id')
    .orderBy('first')
    .execute();
  if (due.length === 0) return new Map();
  const ids = due.map(({ alert_id }) => alert_id);
  const rules = await app.db.selectFrom('alerts').selectAll().where('id', 'in', ids).execute();
  const addresses = new Map(rules.map((rule) => [rule.id, slackUrlOf(app, rule) ?? '']));
  return Map.groupBy(ids, (id) => addresses.get(id) ?? '');
}
