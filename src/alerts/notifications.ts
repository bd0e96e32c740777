/** Writes down who is told of an incident, and by which channel, in the transaction that makes it news. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { afterCommit } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import type { AlertIncidentRow, AlertNotificationRow } from '../store/watching-tables.ts';
import { channelsOf, recipientsOf, slackUrlOf } from './channels.ts';
import { alertMail } from './email.ts';
import { HELD, hasHadEnough, NO_MAIL } from './mail-cap.ts';
import { noticeOf } from './notice.ts';
import type { Occasion } from './occasion.ts';
import type { Channel } from './schema.ts';

export const NOTIFY_JOB = 'post alerts';

type New = Partial<AlertNotificationRow> & Pick<AlertNotificationRow, 'status'>;

const unconfigured = (error: string): New => ({ status: 'unconfigured', error });
/** What is to be done for the channel to lead somewhere. */
const UNCONFIGURED: Record<Channel, New> = {
  email: unconfigured(NO_MAIL),
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
      // The same time for all: by it, those of one sample are found.
      ids.push(await insertNotification(tx, app, { ...about, ...row, created_at: now }));
    }
  afterCommit(tx, () => {
    app.scheduler.wake(SEND_JOB);
    app.scheduler.wake(NOTIFY_JOB);
  });
  return ids;
}

type About = Pick<
  AlertNotificationRow,
  'incident_id' | 'alert_id' | 'news' | 'channel' | 'created_at'
>;

async function insertNotification(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  row: About & New,
): Promise<string> {
  const id = newId('ntf');
  await tx
    .insertInto('alert_notifications')
    .values({ id, attempts: 0, ...row })
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
    created_at: isoTime(app.clock.now()),
    ...(wanted ? { status: 'queued' } : UNCONFIGURED.webhook),
  });
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
