/** The alert e-mail, and the digest that replaces further mails of a rule that sends too many. */

import { sql } from 'kysely';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { type OutgoingMail, queueMail, SEND_JOB } from '../outbox/queue.ts';
import { mailFrame } from '../report/mail-frame.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { afterCommit, type Db, type Tx, transact } from '../store/open.ts';
import type { Notification } from './alert-text.ts';

const TONES = { Alert: 'fail', Resolved: 'pass', Sample: 'unknown' } as const;

export function alertMail(
  { APP_URL }: Pick<App['config'], 'APP_URL'>,
  to: string,
  { kind, title, lead, facts, steps, after, link, rule, incident }: Notification,
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
      footer: `You get this mail because the alert rule ${rule} at ${host} names your address, or you are the owner or an admin of the team there.${incident === null ? '' : ` This incident is ${incident}.`}`,
    }),
  };
}

// The limit, and the digest of what came after it was reached.

/** Mails of one rule to one recipient within an hour, digests included. */
const MAX_MAILS_PER_HOUR = 20;
const HOUR_MS = 3_600_000;

/** What is to be done for mail to be sent. */
export const NO_MAIL =
  'the service sends no mail: DELIVERABILITY_MAIL_URL and DELIVERABILITY_MAIL_FROM are not set';

/** Why a notification waits. */
export const HELD = `the rule has sent ${MAX_MAILS_PER_HOUR} mails within an hour: this is told in one mail with others`;

export async function isOverMailLimit(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  alertId: string,
  recipient: string,
): Promise<boolean> {
  const now = clock.now();
  const { count } = await tx
    .selectFrom('alert_notifications')
    .select(({ fn }) => fn.count<number>('mail_id').distinct().as('count'))
    .where('alert_id', '=', alertId)
    .where('recipient', '=', recipient)
    .where('news', '!=', 'test')
    .where('created_at', '>', isoTime(now - HOUR_MS))
    .where('created_at', '<=', isoTime(now))
    .executeTakeFirstOrThrow();
  return Number(count) >= MAX_MAILS_PER_HOUR;
}

export function sendDigestsJob(app: App): Job {
  return { name: 'alerts.tell_of_many', tick: '0 */10 * * * *', run: () => sendDigests(app) };
}

/** Written out, so that the index of what waits is used. */
const HELD_BACK = sql<boolean>`channel = 'email' and status = 'queued' and mail_id is null`;

const held = (db: Db | Tx) => db.selectFrom('alert_notifications').where(HELD_BACK);

/** One mail for each rule and recipient with all that waits; its end is the end of each of these. */
export async function sendDigests(app: App): Promise<void> {
  const groups = await held(app.db).select(['alert_id', 'recipient']).distinct().execute();
  for (const { alert_id, recipient } of groups)
    await transact(app.db, (tx) => queueDigestFor(tx, app, alert_id, recipient!));
}

async function queueDigestFor(tx: Tx, app: App, alertId: string, recipient: string): Promise<void> {
  const own = held(tx).where('alert_id', '=', alertId).where('recipient', '=', recipient);
  const counts = await own
    .select(['news', ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy('news')
    .execute();
  const alert = await tx
    .selectFrom('alerts')
    .select('name')
    .where('id', '=', alertId)
    .executeTakeFirst();
  const change = alert
    ? await queueDigest(tx, app, { alertId, name: alert.name, recipient, counts })
    : { status: 'failed' as const, error: 'the rule was deleted before it was told' };
  await tx
    .updateTable('alert_notifications')
    .set(change)
    .where('alert_id', '=', alertId)
    .where('recipient', '=', recipient)
    .where(HELD_BACK)
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
  const of = (news: string) => Number(counts.find((one) => one.news === news)?.count ?? 0);
  const [begun, ended] = [of('triggered'), of('resolved')];
  const total = begun + ended;
  const title = `${total} more ${total === 1 ? 'alert' : 'alerts'} of “${name}” (${begun} began, ${ended} ended)`;
  const said = `${begun} more ${begun === 1 ? 'incident has' : 'incidents have'} begun, and ${ended} ${ended === 1 ? 'is' : 'are'} over.`;
  const mail = {
    to: recipient,
    subject: title,
    ...mailFrame({
      title,
      preheader: said,
      blocks: [
        said,
        `The rule has sent ${MAX_MAILS_PER_HOUR} mails within an hour. So as not to fill your mailbox, what came after them is told in this one; nothing is lost, and all of it is listed.`,
      ],
      button: {
        label: 'See the incidents of the rule',
        url: `${APP_URL}/v1/alert_incidents?alert_id=${alertId}`,
      },
      footer: `You get this mail because an alert rule at ${new URL(APP_URL).host} names your address, or you are the owner or an admin of the team there.`,
    }),
  };
  const mail_id = await queueMail(tx, app, mail, null, { bulk: true });
  if (mail_id === null) return { status: 'unconfigured' as const, error: NO_MAIL };
  afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
  return { mail_id, error: null };
}
