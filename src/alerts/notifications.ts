/** Writes down who is told of an incident, and by which channel, in the transaction that makes it news. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { afterCommit } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import type { AlertIncidentRow, AlertNotificationRow } from '../store/watching-tables.ts';
import { channelsOf, recipientsOf, slackUrlOf } from './channels.ts';
import { alertMail } from './email.ts';
import { HELD, hasHadEnough } from './mail-cap.ts';
import { noticeOf } from './notice.ts';
import type { Occasion } from './occasion.ts';
import type { Channel } from './schema.ts';

export const NOTIFY_JOB = 'post alerts';

type New = Partial<AlertNotificationRow> & Pick<AlertNotificationRow, 'status'>;

const unconfigured = (error: string): New => ({ status: 'unconfigured', error });
/** What is to be done for the channel to lead somewhere. */
const UNCONFIGURED: Record<Channel, New> = {
  email: unconfigured(
    'the service sends no mail: DELIVERABILITY_MAIL_URL and DELIVERABILITY_MAIL_FROM are not set',
  ),
  webhook: unconfigured('no webhook endpoint that is switched on has asked for this event'),
  slack: unconfigured(
    'there is no address of Slack that can be used: give the rule a slack_webhook_url, or set DELIVERABILITY_SLACK_WEBHOOK_URL',
  ),
};

/**
 * The ids of what was written: one for each recipient of mail, one for each other channel.
 * `webhookWanted`: whether an endpoint gets the event. `slackDueAt`: when the job may post it, where
 * somebody else does so before. To be called in `transact`.
 */
export async function queueNotifications(
  tx: Tx,
  app: App,
  occasion: Occasion,
  webhookWanted: boolean,
  slackDueAt?: string,
): Promise<string[]> {
  const { alert, incident, news } = occasion;
  const now = isoTime(app.clock.now());
  const of: Record<Channel, () => Promise<New[]>> = {
    email: () => queueMails(tx, app, occasion),
    // The deliveries of the event say what becomes of it, each with attempts of its own.
    webhook: async () => [webhookWanted ? { status: 'queued' } : UNCONFIGURED.webhook],
    slack: async () => [
      slackUrlOf(app, alert) === null
        ? UNCONFIGURED.slack
        : { status: 'queued', due_at: slackDueAt ?? now },
    ],
  };
  const ids: string[] = [];
  for (const channel of channelsOf(alert))
    for (const row of await of[channel]()) {
      const about = { incident_id: incident?.id ?? null, alert_id: alert.id, news, channel };
      ids.push(await insertNotification(tx, app, { ...about, ...row }));
    }
  afterCommit(tx, () => {
    app.scheduler.wake(SEND_JOB);
    app.scheduler.wake(NOTIFY_JOB);
  });
  return ids;
}

type About = Pick<AlertNotificationRow, 'incident_id' | 'alert_id' | 'news' | 'channel'>;

async function insertNotification(
  tx: Tx,
  { clock, newId }: Pick<App, 'clock' | 'newId'>,
  row: About & New,
): Promise<string> {
  const id = newId('ntf');
  const created_at = isoTime(clock.now());
  await tx
    .insertInto('alert_notifications')
    .values({ id, attempts: 0, created_at, ...row })
    .execute();
  return id;
}

/** That the end of an incident goes to webhooks alone. `wanted`: whether an endpoint gets the event. */
export async function noteWebhook(
  tx: Tx,
  app: Pick<App, 'clock' | 'newId'>,
  { id, alert_id }: AlertIncidentRow,
  wanted: boolean,
): Promise<void> {
  await insertNotification(tx, app, {
    ...{ incident_id: id, alert_id, news: 'resolved', channel: 'webhook' },
    ...(wanted ? { status: 'queued' } : UNCONFIGURED.webhook),
  });
}

/** Why a post is dropped: "Alert" after "Resolved" would be taken for news. */
export const TOLD_TOO_LATE =
  'it could not be posted before the incident was over; the post of its end, where there is one, says from when until when it was open';

/** Of incidents that are over: what is not told yet, and not being posted, is not posted any more. */
export async function dropLatePosts(tx: Tx, incidentIds: string[]): Promise<void> {
  await tx
    .updateTable('alert_notifications')
    .set({ status: 'suppressed', due_at: null, error: TOLD_TOO_LATE })
    .where('incident_id', 'in', incidentIds)
    .where('channel', '=', 'slack')
    .where('news', '=', 'triggered')
    .where('status', '=', 'queued')
    .where('lease', 'is', null)
    .execute();
}

async function queueMails(tx: Tx, app: App, occasion: Occasion): Promise<New[]> {
  if (app.mailer === null) return [UNCONFIGURED.email];
  const { alert, news } = occasion;
  const notice = noticeOf(app.config, occasion);
  const rows: New[] = [];
  for (const recipient of await recipientsOf(tx, alert)) {
    if (news !== 'test' && (await hasHadEnough(tx, app, alert.id, recipient))) {
      rows.push({ status: 'queued', recipient, error: HELD });
      continue;
    }
    const mail = alertMail(app.config, recipient, notice);
    const mail_id = await queueMail(tx, app, mail, null, { bulk: true });
    rows.push({ status: 'queued', recipient, mail_id });
  }
  return rows;
}
