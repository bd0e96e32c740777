/** The alert email, and the digest that replaces further emails of a rule above its hourly limit. */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { type OutgoingMail, queueMail, SEND_JOB } from '../../outbox/queue.ts';
import { mailFrame } from '../../report/mail-frame.ts';
import type { Job } from '../../scheduler/scheduler.ts';
import { afterCommit, type Db, lockIn, lockRow, type Tx, transact } from '../../store/open.ts';
import type { News, Notification } from '../alert-text.ts';

const TONES = { Alert: 'fail', Reminder: 'fail', Resolved: 'pass', Sample: 'unknown' } as const;

export function alertMail(
  { APP_URL }: Pick<App['config'], 'APP_URL'>,
  to: string,
  { kind, title, lead, facts, steps, followUp: after, link, rule, incident }: Notification,
): OutgoingMail {
  const { host } = new URL(APP_URL);
  return {
    to,
    subject: `${kind}: ${title}`,
    ...mailFrame({
      badge: { tone: TONES[kind], word: kind },
      title,
      preheader: lead,
      blocks: [
        lead,
        { facts },
        ...(steps.length === 0 ? [] : [{ heading: 'What to do', steps }]),
        ...(after === null ? [] : [after]),
      ],
      button: link ?? undefined,
      footer: `${whyReceived(`the alert rule ${rule} at ${host}`)}${incident === null ? '' : ` Incident: ${incident}.`}`,
    }),
  };
}

const whyReceived = (rule: string): string =>
  `You received this email because you are a recipient of ${rule}. By default, the recipients of a rule are the owner and the admins of the team.`;

// The hourly limit, and the digest of notifications above it.

/** Emails of one rule to one recipient, including digests. */
const MAX_MAILS_PER_HOUR = 20;

/** Why no email is sent, and what to configure. */
export const MAIL_NOT_CONFIGURED =
  'outgoing email is not configured: set DELIVERABILITY_MAIL_URL and DELIVERABILITY_MAIL_FROM';

/** Why a notification is held back. */
export const HELD_BY_LIMIT = `the hourly limit of ${MAX_MAILS_PER_HOUR} emails is reached: a digest email will include this notification`;

/** Reminders are counted apart, so that they never hold back an alert. */
export async function isOverMailLimit(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  alertId: string,
  recipient: string,
  news: News,
): Promise<boolean> {
  const now = clock.now();
  const { count } = await tx
    .selectFrom('alert_notifications')
    .select(({ fn }) => fn.count<number>('mail_id').distinct().as('count'))
    .where('alert_id', '=', alertId)
    .where('recipient', '=', recipient)
    .where('news', 'in', news === 'reminder' ? ['reminder'] : ['triggered', 'resolved'])
    .where('created_at', '>', isoTime(now - HOUR_MS))
    .where('created_at', '<=', isoTime(now))
    .executeTakeFirstOrThrow();
  return Number(count) >= MAX_MAILS_PER_HOUR;
}

export function sendDigestsJob(app: App): Job {
  return { name: 'alerts.tell_of_many', tick: '0 */10 * * * *', run: () => sendDigests(app) };
}

/** Literals, so that SQLite uses the partial index. */
const HELD_BACK = sql<boolean>`channel = 'email' and status = 'queued' and mail_id is null`;

const heldNotifications = (db: Db | Tx) => db.selectFrom('alert_notifications').where(HELD_BACK);

const UPDATE_BATCH_SIZE = 500;

/** Sends one email per rule and recipient with all held notifications, which share its outcome. */
export async function sendDigests(app: App): Promise<void> {
  const groups = await heldNotifications(app.db)
    .select(['alert_id', 'recipient'])
    .distinct()
    .execute();
  for (const { alert_id, recipient } of groups)
    await transact(app.db, (tx) => queueDigestFor(tx, app, alert_id, recipient!));
}

async function queueDigestFor(tx: Tx, app: App, alertId: string, recipient: string): Promise<void> {
  // Another node may be sending the same digest.
  await lockRow(tx, 'alerts', alertId);
  const held = heldNotifications(tx)
    .where('alert_id', '=', alertId)
    .where('recipient', '=', recipient);
  // Also locked, because the rule may be deleted.
  const rows = await lockIn(tx, held.select(['id', 'news']).orderBy('id')).execute();
  if (rows.length === 0) return;
  const counts = [...Map.groupBy(rows, ({ news }) => news)].map(([news, group]) => ({
    news,
    count: group.length,
  }));
  const alert = await tx
    .selectFrom('alerts')
    .select('name')
    .where('id', '=', alertId)
    .executeTakeFirst();
  const change = alert
    ? await queueDigest(tx, app, { alertId, name: alert.name, recipient, counts })
    : {
        status: 'failed' as const,
        error: 'the alert rule was deleted before this notification was sent',
      };
  const ids = rows.map(({ id }) => id);
  for (let first = 0; first < ids.length; first += UPDATE_BATCH_SIZE)
    await tx
      .updateTable('alert_notifications')
      .set(change)
      .where('id', 'in', ids.slice(first, first + UPDATE_BATCH_SIZE))
      .execute();
}

interface Digest {
  alertId: string;
  name: string;
  recipient: string;
  counts: { news: string; count: number }[];
}

async function queueDigest(tx: Tx, app: App, { alertId, name, recipient, counts }: Digest) {
  const { APP_URL } = app.config;
  const countOf = (news: string) => Number(counts.find((entry) => entry.news === news)?.count ?? 0);
  const [opened, resolved] = [countOf('triggered'), countOf('resolved')];
  const reminders = countOf('reminder');
  const total = opened + resolved + reminders;
  const reminded = reminders === 0 ? '' : `, ${reminders} still open`;
  const title = `${total} more ${total === 1 ? 'alert' : 'alerts'} from “${name}” (${opened} opened, ${resolved} resolved${reminded})`;
  const lead = `${opened} more ${opened === 1 ? 'incident was' : 'incidents were'} opened, and ${resolved} ${resolved === 1 ? 'was' : 'were'} resolved.${reminders === 0 ? '' : ` ${reminders} ${reminders === 1 ? 'is' : 'are'} still open.`}`;
  const mail = {
    to: recipient,
    subject: title,
    ...mailFrame({
      title,
      preheader: lead,
      blocks: [
        lead,
        `The rule reached its limit of ${MAX_MAILS_PER_HOUR} emails per hour. To protect your mailbox, this email combines the remaining alerts. The incident list shows each of them.`,
      ],
      button: {
        label: 'View incidents',
        url: `${APP_URL}/alerts/${alertId}`,
      },
      footer: whyReceived(`the alert rule “${name}” at ${new URL(APP_URL).host}`),
    }),
  };
  const mail_id = await queueMail(tx, app, mail, null, { bulk: true });
  if (mail_id === null) return { status: 'unconfigured' as const, error: MAIL_NOT_CONFIGURED };
  afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
  return { mail_id, error: null };
}
