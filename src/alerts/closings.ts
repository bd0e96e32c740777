/** Ends what a service such as PagerDuty keeps open, before a change of the rule makes that impossible. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { afterCommit, type Tx } from '../store/open.ts';
import type { AlertRow } from '../store/tables.generated.ts';
import { composeNotification } from './alert-text.ts';
import { composePost, postedChannel, sealPost } from './channels/compose.ts';
import { type ChannelId, channelsOf } from './channels/index.ts';
import { NOTIFY_JOB } from './notify.ts';

/** The channels of a rule whose services keep incidents of their own open. */
export const trackingChannels = (rule: AlertRow): ChannelId[] =>
  channelsOf(rule).filter((id) => postedChannel(id)?.tracksIncidents);

/** Rows per statement. */
const BATCH_SIZE = 100;

/**
 * Queues the end of a rule's open incidents while the rule can still post it. Each post is stored encrypted, because the
 * rule may have other secrets, or none, when it is sent. Also where the outcome of the alert is unknown: ending an
 * incident that a service does not know is harmless.
 */
export async function queueClosings(
  tx: Tx,
  app: App,
  alert: AlertRow,
  channels: ChannelId[],
): Promise<void> {
  if (channels.length === 0) return;
  const open = tx
    .selectFrom('alert_incidents')
    .selectAll()
    .where('alert_id', '=', alert.id)
    .where('status', '=', 'open')
    .where('closing_id', 'is', null);
  const opened = await tx
    .selectFrom('alert_notifications')
    .select(['incident_id', 'channel'])
    .distinct()
    .where('incident_id', 'in', open.clearSelect().select('id'))
    .where('channel', 'in', channels)
    .where('news', 'in', ['triggered', 'reminder'])
    .where(({ or, eb }) => or([eb('status', 'in', ['sent', 'queued']), eb('attempts', '>', 0)]))
    .execute();
  if (opened.length === 0) return;
  const incidents = new Map((await open.execute()).map((incident) => [incident.id, incident]));
  const now = isoTime(app.clock.now());
  const rows = opened.flatMap(({ incident_id, channel }) => {
    const incident = incidents.get(incident_id!)!;
    const event = { type: 'resolved', alert, incident, test: null, run: null } as const;
    const id = app.newId('ntf');
    const notification = { ...composeNotification(app.config, event), id };
    const post = composePost(app, channel, alert, notification);
    if ('reason' in post) return [];
    return {
      id,
      incident_id,
      alert_id: alert.id,
      news: 'resolved' as const,
      channel,
      status: 'queued' as const,
      attempts: 0,
      created_at: now,
      due_at: now,
      post: sealPost(app, id, post),
    };
  });
  for (let first = 0; first < rows.length; first += BATCH_SIZE)
    await tx
      .insertInto('alert_notifications')
      .values(rows.slice(first, first + BATCH_SIZE))
      .execute();
  afterCommit(tx, () => app.scheduler.wake(NOTIFY_JOB));
}
