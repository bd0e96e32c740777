/** The job that posts to Slack what is due: claim, post, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { retryAfterMs } from '../lib/retry-times.ts';
import type { PostOutcome } from '../net/post.ts';
import { claimingJob } from '../scheduler/claiming-job.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import type { AlertNotificationRow } from '../store/watching-tables.ts';
import { slackUrlOf } from './channels.ts';
import { noticeOf } from './notice.ts';
import { NOTIFY_JOB } from './notifications.ts';
import { slackMessage } from './slack.ts';

const AT_ONCE = 5;
/** How long others leave a claimed one alone: longer than its post and the record may take. */
const LEASE_MS = 90_000;

type Claimed = AlertNotificationRow & { lease: string };

export function notifyJob(app: App): Job {
  return claimingJob({
    name: NOTIFY_JOB,
    atOnce: AT_ONCE,
    claim: (limit) => claimDue(app, limit),
    work: (claimed) => postOne(app, claimed),
    // The lease runs out, and it is posted again.
    failed: ({ id }, error) =>
      app.log.error('posting an alert failed', { notification: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wake(NOTIFY_JOB),
  });
}

async function claimDue(
  context: Pick<App, 'db' | 'clock' | 'newId'>,
  limit: number,
): Promise<Claimed[]> {
  const due = context.db
    .selectFrom('alert_notifications')
    .selectAll()
    .where('due_at', '<=', isoTime(context.clock.now()))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit);
  return claimRows(context, { table: 'alert_notifications', due, leaseMs: LEASE_MS });
}

async function postOne(app: App, claimed: Claimed): Promise<void> {
  const message = await composed(app, claimed);
  if (typeof message === 'string') return record(app, claimed, { reason: message, final: true });
  const { url, body } = message;
  const outcome = await app.poster.post({
    url,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': `deliverability/${app.version} (alerts)`,
    },
    body,
  });
  // null: we are closing, and the next start posts it again.
  if (outcome !== null) await record(app, claimed, failureOf(outcome));
}

/** Or, in half a sentence, why there is nothing to post. */
async function composed(
  app: App,
  { alert_id, incident_id, news }: Claimed,
): Promise<{ url: string; body: string } | string> {
  const { db } = app;
  const alert = await db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', alert_id)
    .executeTakeFirst();
  if (!alert) return 'the rule was deleted before it was posted';
  const url = slackUrlOf(app, alert);
  if (url === null) return 'there is no address of Slack any more, or it cannot be decrypted';
  const incident = await db
    .selectFrom('alert_incidents')
    .selectAll()
    .where('id', '=', incident_id)
    .executeTakeFirst();
  const test = await db
    .selectFrom('tests')
    .select(['id', 'checks', 'subject'])
    .where('id', '=', incident?.test_id ?? null)
    .executeTakeFirst();
  const occasion = { news, alert, incident: incident ?? null, test: test ?? null };
  return { url, body: JSON.stringify(slackMessage(noticeOf(app.config, occasion))) };
}

interface Failure {
  /** Half a sentence for people, without the address. */
  reason: string;
  /** No later attempt would come to anything else. */
  final: boolean;
}

/** null: it has arrived. Success is a whole answer with a status of 2xx. */
function failureOf({ answer, failure }: PostOutcome): Failure | null {
  if (failure !== null) {
    const { reason, detail } = failure;
    const final = reason === 'forbidden_address' || reason === 'bad_url';
    return { reason: `${reason}: ${detail}`, final };
  }
  const { code } = answer!;
  if (code >= 200 && code < 300) return null;
  return { reason: `status ${code}: only 2xx is a success`, final: false };
}

/** Where the lease is another's by now, it is theirs; but what has arrived has arrived. */
async function record(
  { db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>,
  { id, lease, attempts: before }: Claimed,
  failure: Failure | null,
): Promise<void> {
  const now = clock.now();
  const wait = failure === null || failure.final ? null : retryAfterMs(before + 1);
  const state =
    failure === null
      ? { status: 'sent' as const, due_at: null, error: null, sent_at: isoTime(now) }
      : wait === null
        ? { status: 'failed' as const, due_at: null, error: failure.reason }
        : { due_at: isoTime(now + wait), error: failure.reason };
  await db
    .updateTable('alert_notifications')
    .set({ ...state, attempts: before + 1, lease: null, leased_until: null })
    .where('id', '=', id)
    .where((eb) => (failure === null ? eb('status', '!=', 'sent') : eb('lease', '=', lease)))
    .execute();
  if (failure)
    log.warn(wait === null ? 'posting an alert failed' : 'posting an alert is tried again', {
      notification: id,
      attempts: before + 1,
      reason: failure.reason,
    });
}
