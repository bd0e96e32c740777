/** Writes down who is told of an incident, and by which channel, in the transaction that makes it news. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { afterCommit } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import type { AlertNotificationRow } from '../store/watching-tables.ts';
import { channelsOf, recipientsOf, slackUrlOf } from './channels.ts';
import { alertMail } from './email.ts';
import { noticeOf, type Occasion } from './notice.ts';
import type { Channel } from './schema.ts';

export const NOTIFY_JOB = 'post alerts';

type New = Partial<AlertNotificationRow> & Pick<AlertNotificationRow, 'status'>;

/**
 * The ids of what was written: one for each recipient of mail, one for each other channel.
 * `webhookWanted`: whether an endpoint gets the event. To be called in `transact`.
 */
export async function queueNotifications(
  tx: Tx,
  app: App,
  occasion: Occasion,
  webhookWanted: boolean,
): Promise<string[]> {
  const { alert, incident, news } = occasion;
  const now = isoTime(app.clock.now());
  const of: Record<Channel, () => Promise<New[]>> = {
    email: () => queueMails(tx, app, occasion),
    // The deliveries of the event carry it from here on, each with attempts of its own.
    webhook: async () => [
      webhookWanted ? { status: 'sent', sent_at: now } : { status: 'unconfigured' },
    ],
    slack: async () => [
      slackUrlOf(app, alert) === null
        ? { status: 'unconfigured' }
        : { status: 'queued', due_at: now },
    ],
  };
  const ids: string[] = [];
  for (const channel of channelsOf(alert))
    for (const row of await of[channel]()) {
      const id = app.newId('ntf');
      ids.push(id);
      await tx
        .insertInto('alert_notifications')
        .values({
          id,
          incident_id: incident?.id ?? null,
          alert_id: alert.id,
          news,
          channel,
          attempts: 0,
          created_at: now,
          ...row,
        })
        .execute();
    }
  afterCommit(tx, () => {
    app.scheduler.wake(SEND_JOB);
    app.scheduler.wake(NOTIFY_JOB);
  });
  return ids;
}

async function queueMails(tx: Tx, app: App, occasion: Occasion): Promise<New[]> {
  if (app.mailer === null) return [{ status: 'unconfigured' }];
  const notice = noticeOf(app.config, occasion);
  const rows: New[] = [];
  for (const recipient of await recipientsOf(tx, occasion.alert)) {
    const mail_id = await queueMail(tx, app, alertMail(app.config, recipient, notice));
    rows.push({ status: 'queued', recipient, mail_id });
  }
  return rows;
}
