/** How much mail a rule may send: beyond a number an hour, the rest is told in one mail. */

import { sql } from 'kysely';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { mailFrame } from '../render/mail-frame.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { afterCommit, transact } from '../store/after-commit.ts';
import type { Db, Tx } from '../store/open.ts';

/** Mails of one rule to one recipient within an hour, those that tell of many included. */
const MOST = 20;
const HOUR_MS = 3_600_000;

/** What is to be done for mail to be sent. */
export const NO_MAIL =
  'the service sends no mail: DELIVERABILITY_MAIL_URL and DELIVERABILITY_MAIL_FROM are not set';

/** Why a notification waits. */
export const HELD = `the rule has sent ${MOST} mails within an hour: this is told in one mail with others`;

export async function hasHadEnough(
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
  return Number(count) >= MOST;
}

export function tellOfManyJob(app: App): Job {
  return { name: 'alerts.tell_of_many', tick: '0 */10 * * * *', run: () => tellOfMany(app) };
}

/** Written out, so that the index of what waits is used. */
const HELD_BACK = sql<boolean>`channel = 'email' and status = 'queued' and mail_id is null`;

const held = (db: Db | Tx) => db.selectFrom('alert_notifications').where(HELD_BACK);

/** One mail for each rule and recipient with all that waits; its end is the end of each of these. */
export async function tellOfMany(app: App): Promise<void> {
  const groups = await held(app.db).select(['alert_id', 'recipient']).distinct().execute();
  for (const { alert_id, recipient } of groups)
    await transact(app.db, (tx) => tellOne(tx, app, alert_id, recipient!));
}

async function tellOne(tx: Tx, app: App, alertId: string, recipient: string): Promise<void> {
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
    ? await queueSummary(tx, app, { alertId, name: alert.name, recipient, counts })
    : { status: 'failed' as const, error: 'the rule was deleted before it was told' };
  await tx
    .updateTable('alert_notifications')
    .set(change)
    .where('alert_id', '=', alertId)
    .where('recipient', '=', recipient)
    .where(HELD_BACK)
    .execute();
}

interface Summary {
  alertId: string;
  name: string;
  recipient: string;
  counts: { news: string; count: number }[];
}

async function queueSummary(tx: Tx, app: App, { alertId, name, recipient, counts }: Summary) {
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
        `The rule has sent ${MOST} mails within an hour. So as not to fill your mailbox, what came after them is told in this one; nothing is lost, and all of it is listed.`,
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
