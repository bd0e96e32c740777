/** The emails and Slack messages that the server sends. */

import { composeNotification, type IncidentEvent } from '../../src/alerts/alert-text.ts';
import { alertMail } from '../../src/alerts/channels/alert-mail.ts';
import { slackMessage } from '../../src/alerts/channels/slack-message.ts';
import { CONDITIONS } from '../../src/alerts/conditions/index.ts';
import { reportMail } from '../../src/report/summary-mail.ts';
import type { AlertRow } from '../../src/store/tables.generated.ts';
import {
  invitationMail,
  newOwnerMail,
  passwordMail,
  previousOwnerMail,
} from '../../src/team/mails.ts';
import { DAY, MONTH, NOTHING, WEEK } from '../../test/report/scheduled-reports.ts';

const CONFIG = { APP_URL: 'https://app.example.com' };
const ANN = { name: 'Ann', email: 'ann@example.com' };
const BOB = { name: 'Bob', email: 'bob@example.com' };
const EXPIRES = '2026-11-28T10:00:00.000Z';

export function emailTexts(): [name: string, text: string][] {
  const handover = { previous: ANN, owner: BOB } as Parameters<typeof newOwnerMail>[1];
  const mails: [string, { subject: string; text: string }][] = [
    ...(['admin', 'member', 'viewer'] as const).map(
      (role): [string, ReturnType<typeof passwordMail>] => [
        `invitation as ${role}`,
        invitationMail(
          CONFIG,
          ANN,
          { email: BOB.email, role, expires_at: EXPIRES },
          `${CONFIG.APP_URL}/invitations/token`,
        ),
      ],
    ),
    ['to the new owner', newOwnerMail(CONFIG, handover)],
    [
      'to the former owner',
      previousOwnerMail({ config: CONFIG, program: 'deliverability' }, handover),
    ],
    ['new password', passwordMail(CONFIG, BOB.email, `${CONFIG.APP_URL}/reset-password/token`)],
    ...Object.entries({ WEEK, MONTH, DAY, NOTHING }).map(
      ([name, report]): [string, { subject: string; text: string }] => [
        `scheduled report ${name}`,
        reportMail(report, {
          unsubscribeUrl: `${CONFIG.APP_URL}/unsubscribe/token`,
          hasPdf: name === 'MONTH',
        }),
      ],
    ),
  ];
  const alerts = Object.values(CONDITIONS).flatMap(({ id, threshold }): [string, string][] => {
    const alert = {
      id: 'alt_1',
      name: 'Our rule',
      condition: id,
      threshold: threshold ? 70 : null,
      enabled: 1,
      channels: '["email"]',
      domain_id: null,
      recipients: null,
      slack_webhook_url: null,
      last_triggered_at: null,
      reminder_hours: null,
      created_at: EXPIRES,
    } as AlertRow;
    const event: IncidentEvent = { type: 'test', alert, incident: null, test: null, run: null };
    const notification = composeNotification(CONFIG, event);
    const { subject, text } = alertMail(CONFIG, BOB.email, notification);
    return [
      [`alert ${id}, email`, `${subject}\n\n${text}`],
      [`alert ${id}, Slack`, JSON.stringify(slackMessage(notification), null, 1)],
    ];
  });
  return [
    ...mails.map(([name, { subject, text }]): [string, string] => [name, `${subject}\n\n${text}`]),
    ...alerts,
  ];
}
