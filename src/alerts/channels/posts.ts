/** Posts the notifications of channels that are services on the web, such as Slack: the job that posts those that are due. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { errorMessage } from '../../lib/errors.ts';
import { MAX_RETRY_DELAY_MS, retryAfterMs } from '../../lib/retry.ts';
import { claimingJob, type Job } from '../../scheduler/scheduler.ts';
import { claimRows, makeDistantDueNow } from '../../store/leases.ts';
import { type Db, lockIn, transact } from '../../store/open.ts';
import type { AlertNotificationRow } from '../../store/tables.generated.ts';
import { changeAlert } from '../change-alert.ts';
import { cancelStaleNotifications } from '../incidents.ts';
import { NOTIFY_JOB } from '../notify.ts';
import { composeQueued, postedChannel, targetOf } from './compose.ts';
import { type Delivered, type Failure, type OutgoingPost, sendPost } from './post.ts';

// The job that posts notifications that are due: claim, post, record.

const MAX_CONCURRENT_POSTS = 20;

/** What this node knows about the targets that it posts to: a URL and what identifies the account there. */
interface Traffic {
  /** The target of each post in progress, by notification. */
  inProgress: Map<string, string>;
  /** When a service that is posted to too fast accepts messages again, in milliseconds, by target. */
  pausedUntil: Map<string, number>;
}

export function notifyJob(app: App): Job {
  const traffic: Traffic = { inProgress: new Map(), pausedUntil: new Map() };
  const { inProgress, pausedUntil } = traffic;
  return claimingJob({
    name: NOTIFY_JOB,
    concurrency: MAX_CONCURRENT_POSTS,
    claim: (limit) => claimPosts(app, limit, traffic),
    async work(claimed) {
      try {
        const waitMs = await postOne(app, claimed);
        if (waitMs !== undefined)
          pausedUntil.set(inProgress.get(claimed.id)!, app.clock.now() + waitMs);
      } finally {
        inProgress.delete(claimed.id);
        // Another post to the same target can start.
        app.scheduler.wakeHere(NOTIFY_JOB);
      }
    },
    // It is posted again once the lease expires.
    onError: ({ id }, error) =>
      app.log.error('could not post alert', { notification: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wakeHere(NOTIFY_JOB),
  });
}

/** Resolves with how long the service accepts no further message, if it said so. */
async function postOne(app: App, claimed: ClaimedPost): Promise<number | undefined> {
  const message = await composeQueued(app, claimed).catch((error) => {
    app.log.error('could not compose alert', {
      notification: claimed.id,
      error: errorMessage(error),
    });
    return COMPOSE_FAILED;
  });
  const outcome = 'reason' in message ? message : await sendPost(app, message);
  // On shutdown, the job posts it again after the next start.
  if (outcome === 'closed') return undefined;
  if ('reason' in outcome && outcome.movedTo !== undefined)
    await followMove(app, claimed, message as OutgoingPost, outcome.movedTo);
  await recordPost(app, claimed, outcome);
  if ('reference' in outcome && outcome.reference !== null)
    await forgetIfMoved(app.db, claimed, message as OutgoingPost);
  return 'reason' in outcome ? outcome.waitMs : undefined;
}

const COMPOSE_FAILED: Failure = {
  reason: 'the message could not be composed; see the server log',
  final: false,
};

// Claiming posts that are due, a few per target at a time.

/** Concurrent posts to one target, so that an unresponsive one doesn't delay the others. */
const MAX_POSTS_PER_TARGET = 2;
/** Longer than posting and recording can take. */
const LEASE_MS = 90_000;

type ClaimedPost = AlertNotificationRow & { lease: string };

/**
 * A later notification is due only once the earlier ones were posted or have failed for good. A resolution is the last
 * one, even if the clock of the node that queued it is behind.
 */
const dueNow = (db: Db, now: string) =>
  db
    .selectFrom('alert_notifications')
    .where('due_at', '<=', now)
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('news', 'not in', ['reminder', 'resolved']),
        not(
          exists(
            selectFrom('alert_notifications as earlier')
              .select('earlier.id')
              .whereRef('earlier.incident_id', '=', 'alert_notifications.incident_id')
              .whereRef('earlier.channel', '=', 'alert_notifications.channel')
              .where(({ or, eb }) =>
                or([
                  eb('alert_notifications.news', '=', 'resolved'),
                  eb('earlier.id', '<', eb.ref('alert_notifications.id')),
                ]),
              )
              .where('earlier.news', 'in', ['triggered', 'reminder'])
              .where('earlier.status', '=', 'queued'),
          ),
        ),
      ]),
    );

/** Claims up to `limit` posts, within the limit of each target, and adds them to `inProgress`. */
async function claimPosts(
  app: Pick<App, 'db' | 'clock' | 'newId' | 'node' | 'config' | 'mailer' | 'secrets'>,
  limit: number,
  { inProgress, pausedUntil }: Traffic,
): Promise<ClaimedPost[]> {
  await makeDistantDueNow(app, 'alert_notifications', MAX_RETRY_DELAY_MS);
  const now = isoTime(app.clock.now());
  const claimedPosts: ClaimedPost[] = [];
  for (const [target, time] of pausedUntil) if (time <= app.clock.now()) pausedUntil.delete(target);
  for (const [target, rules] of await rulesByTarget(app, now)) {
    if (pausedUntil.has(target)) continue;
    const running = [...inProgress.values()].filter((active) => active === target).length;
    const capacity = Math.min(MAX_POSTS_PER_TARGET - running, limit - claimedPosts.length);
    if (capacity <= 0) continue;
    const due = dueNow(app.db, now)
      .selectAll()
      .where(({ or, and, eb }) =>
        or(
          [...Map.groupBy(rules, ({ channel }) => channel)].map(([channel, those]) =>
            and([
              eb('channel', '=', channel),
              eb(
                'alert_id',
                'in',
                those.map(({ alert_id }) => alert_id),
              ),
            ]),
          ),
        ),
      )
      .orderBy('due_at')
      .orderBy('id')
      .limit(capacity);
    const table = 'alert_notifications';
    for (const claimed of await claimRows(app, { table, due, leaseMs: LEASE_MS })) {
      inProgress.set(claimed.id, target);
      claimedPosts.push(claimed);
    }
  }
  return claimedPosts;
}

type DueRule = Pick<AlertNotificationRow, 'alert_id' | 'channel'>;

/** Rules and channels with posts that are due, by target, the earliest first; the key `''` means no usable one. */
async function rulesByTarget(
  app: Parameters<typeof claimPosts>[0],
  now: string,
): Promise<Map<string, DueRule[]>> {
  const due = await dueNow(app.db, now)
    .select(['alert_id', 'channel', ({ fn }) => fn.min('due_at').as('first')])
    .groupBy(['alert_id', 'channel'])
    .orderBy('first')
    .execute();
  if (due.length === 0) return new Map();
  const ids = [...new Set(due.map(({ alert_id }) => alert_id))];
  const rows = await app.db.selectFrom('alerts').selectAll().where('id', 'in', ids).execute();
  const rules = new Map(rows.map((rule) => [rule.id, rule]));
  return Map.groupBy(due, ({ alert_id, channel }) => {
    const rule = rules.get(alert_id);
    return rule ? targetOf(app, channel, rule) : '';
  });
}

// Recording the outcome of a post: sent, to be retried, failed, or suppressed.

/** A service that is posted to too fast does not use up attempts for this long. */
const MAX_PATIENCE_MS = DAY_MS;

/** If another worker has claimed it since, only a success is recorded. */
async function recordPost(
  { db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>,
  claimed: ClaimedPost,
  outcome: Failure | Delivered,
): Promise<void> {
  const { id, lease, created_at } = claimed;
  const failure = 'reason' in outcome ? outcome : null;
  const isPatient = clock.now() - Date.parse(created_at) < MAX_PATIENCE_MS;
  const pause = failure?.waitMs !== undefined && isPatient ? failure.waitMs : null;
  const attempts = claimed.attempts + (pause === null ? 1 : 0);
  const delay = retryAfterMs(attempts);
  const retryAfter = failure?.movedTo === undefined || delay === null ? delay : 0;
  const wait = failure === null || failure.final ? null : (pause ?? retryAfter);
  await db
    .updateTable('alert_notifications')
    .set({ ...stateAfter(outcome, wait, clock.now()), attempts, lease: null, leased_until: null })
    .where('id', '=', id)
    .where((eb) => (failure === null ? eb('status', '!=', 'sent') : eb('lease', '=', lease)))
    .execute();
  if (wait !== null) await cancelIfResolved(db, claimed);
  if (failure && !failure.suppressed)
    log.warn(wait === null ? 'could not post alert' : 'could not post alert: will retry', {
      notification: id,
      attempts,
      reason: failure.reason,
    });
}

/**
 * A chat has another ID now, and its service says which: the rule gets it, so that the next attempt arrives. Not if the rule
 * was changed meanwhile: the service then says so again, if it still matters.
 */
export async function followMove(
  app: App,
  { alert_id, channel }: Pick<AlertNotificationRow, 'alert_id' | 'channel'>,
  { settings }: OutgoingPost,
  movedTo: string,
): Promise<void> {
  const field = postedChannel(channel)?.movable;
  if (!field) return;
  await transact(app.db, async (tx) => {
    const query = tx.selectFrom('alerts').selectAll().where('id', '=', alert_id);
    const rule = await lockIn(tx, query).executeTakeFirst();
    if (rule?.slack_webhook_url === settings)
      await changeAlert(tx, { app, actor: null, caller: { ip: null } }, rule, {
        [field.name]: movedTo,
      });
  });
}

/** The rule may have been changed to another chat while it was being posted. */
async function forgetIfMoved(
  db: Db,
  { id, alert_id }: ClaimedPost,
  { settings }: OutgoingPost,
): Promise<void> {
  await transact(db, async (tx) => {
    const rule = tx.selectFrom('alerts').select('slack_webhook_url').where('id', '=', alert_id);
    const current = await lockIn(tx, rule).executeTakeFirst();
    if (current && current.slack_webhook_url !== settings)
      await tx
        .updateTable('alert_notifications')
        .set({ reference: null })
        .where('id', '=', id)
        .execute();
  });
}

type State = Partial<
  Pick<AlertNotificationRow, 'status' | 'due_at' | 'error' | 'sent_at' | 'reference' | 'post'>
>;

function stateAfter(outcome: Failure | Delivered, wait: number | null, now: number): State {
  if (!('reason' in outcome)) {
    const { reference } = outcome;
    const sent_at = isoTime(now);
    return { status: 'sent', due_at: null, error: null, sent_at, reference, post: null };
  }
  const { reason: error, suppressed } = outcome;
  if (wait !== null) return { due_at: isoTime(now + wait), error };
  return { status: suppressed ? 'suppressed' : 'failed', due_at: null, error, post: null };
}

/** If the incident was resolved while it was being posted, the post isn't retried. */
async function cancelIfResolved(db: Db, { incident_id, news }: ClaimedPost): Promise<void> {
  if (news === 'resolved' || incident_id === null) return;
  await transact(db, async (tx) => {
    const resolved = await tx
      .selectFrom('alert_incidents')
      .select('id')
      .where('id', '=', incident_id)
      .where(({ or, eb }) => or([eb('status', '=', 'resolved'), eb('closing_id', 'is not', null)]))
      .executeTakeFirst();
    if (resolved) await cancelStaleNotifications(tx, [incident_id]);
  });
}
