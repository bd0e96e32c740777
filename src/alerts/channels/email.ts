/** Email: one to each recipient of the rule, and a digest above its hourly limit. */

import type { App } from '../../app.ts';
import { queueMail } from '../../outbox/queue.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { AlertRow } from '../../store/tables.generated.ts';
import { hiddenFrom } from '../../team/hidden-from.ts';
import { ALERT_ROW } from '../alert-row.ts';
import { composeNotification, type IncidentEvent } from '../alert-text.ts';
import { alertMail, HELD_BY_LIMIT, isOverMailLimit, MAIL_NOT_CONFIGURED } from './alert-mail.ts';
import type { Channel, NewNotification } from './channel.ts';

export const email: Channel = {
  name: 'Email',
  hints: {
    configured: 'Sends an email to each recipient.',
    unconfigured: 'Set `DELIVERABILITY_MAIL_URL` and `DELIVERABILITY_MAIL_FROM` on the server.',
  },
  fields: [
    {
      name: 'recipients',
      kind: 'addresses',
      isSecret: false,
      label: 'Email recipients',
      noun: 'list of recipients',
      hint: 'One address per line. If empty, the owner and all admins get the email.',
      documentation:
        'The recipients of the email channel. If null, the owner and the admins of the team.',
      example: 'alex@example.com',
    },
  ],
  unconfigured: MAIL_NOT_CONFIGURED,
  isConfigured: ({ mailer }) => mailer !== null,
  async queue(tx: Tx, app: App, event) {
    const { alert, type } = event;
    const notification = composeNotification(app.config, event);
    const rows: NewNotification[] = [];
    const recipients = await recipientsOf(tx, alert);
    const hidden = await hiddenFrom(tx, recipients, (db) => seesEvent(db, event));
    for (const recipient of recipients) {
      if (hidden.has(recipient)) continue;
      if (type !== 'test' && (await isOverMailLimit(tx, app, alert.id, recipient, type))) {
        rows.push({ status: 'queued', recipient, error: HELD_BY_LIMIT });
        continue;
      }
      const mail = alertMail(app.config, recipient, notification);
      const mail_id = await queueMail(tx, app, mail, null, { bulk: true });
      rows.push({ status: 'queued', recipient, mail_id });
    }
    return rows;
  },
};

async function seesEvent(db: Db, { alert, incident }: IncidentEvent): Promise<boolean> {
  const about = incident
    ? db.selectFrom('alert_incidents').select('id').where('id', '=', incident.id)
    : db.selectFrom('alerts').select('id').where('id', '=', alert.id);
  return (await about.executeTakeFirst()) !== undefined;
}

/** The current recipients of a rule. */
async function recipientsOf(tx: Tx, row: AlertRow): Promise<string[]> {
  const { recipients } = ALERT_ROW.decode(row);
  if (recipients !== null) return recipients;
  const admins = await tx
    .selectFrom('members')
    .select('email')
    .where('role', 'in', ['owner', 'admin'])
    .orderBy('id')
    .execute();
  return admins.map(({ email }) => email);
}
