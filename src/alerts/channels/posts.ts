/** Posts the notifications of channels that are services on the web, such as Slack: the job that posts those that are due. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { errorMessage } from '../../lib/errors.ts';
import { MAX_RETRY_DELAY_MS, retryAfterMs } from '../../lib/retry.ts';
import type { PostOutcome } from '../../net/http/web.ts';
import { claimingJob, type Job } from '../../scheduler/scheduler.ts';
import { claimRows, makeDistantDueNow } from '../../store/leases.ts';
import { type Db, transact } from '../../store/open.ts';
import type { AlertNotificationRow, AlertRow } from '../../store/tables.generated.ts';
import { composeNotification, type Notification } from '../alert-text.ts';
import { cancelStaleNotifications, RESOLVED_BEFORE_POST } from '../incidents.ts';
import { findIncidentEvent, NOTIFY_JOB } from '../notify.ts';
import { isResolved } from '../queries.ts';
import type { ChannelContext, PostedChannel } from './channel.ts';
import { CHANNELS, channelName, isKnownChannel } from './index.ts';

// Posting one message.

interface Failure {
  /** For users, without a final period and without the URL, which is a secret. */
  reason: string;
  /** Whether retrying is pointless. */
  final: boolean;
  /** Not posted, because another notification says the same. */
  suppressed?: true;
}

/** What is posted, and where. */
export interface OutgoingPost {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** How a channel posts; null if it does not, or is one of a newer version. */
const postedChannel = (channel: string): PostedChannel | null =>
  (isKnownChannel(channel) && CHANNELS[channel].post) || null;

/** A `Failure` if the rule has no usable URL. */
export function composePost(
  app: ChannelContext,
  channel: string,
  rule: AlertRow,
  notification: Notification,
): OutgoingPost | Failure {
  const posted = postedChannel(channel);
  const url = posted?.url(app, rule) ?? null;
  if (posted === null || url === null)
    return finalFailure(
      posted?.missing ??
        `this version of the program cannot post to ${channelName(channel as never)}`,
    );
  const { body, headers = {} } = posted.message(notification, app, rule);
  return { url, headers, body: JSON.stringify(body) };
}

/**
 * Resolves with null if the message was delivered, and with `closed` if the service is shutting down
 * and the outcome is unknown. Never call it in a transaction.
 */
export async function sendPost(
  { poster, version }: Pick<App, 'poster' | 'version'>,
  { url, headers, body }: OutgoingPost,
): Promise<Failure | null | 'closed'> {
  const outcome = await poster.post({
    url,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': `deliverability/${version} (alerts)`,
      ...headers,
    },
    body,
  });
  return outcome === null ? 'closed' : failureOf(outcome);
}

/** null on success: a complete response with a 2xx status. */
function failureOf({ response, failure }: PostOutcome): Failure | null {
  if (failure !== null) {
    const { reason, detail } = failure;
    const final = reason === 'forbidden_address' || reason === 'bad_url';
    return { reason: `${reason}: ${detail}`, final };
  }
  const { code } = response!;
  if (code >= 200 && code < 300) return null;
  return { reason: `status ${code}: only 2xx counts as success`, final: false };
}

// The job that posts notifications that are due: claim, post, record.

const MAX_CONCURRENT_POSTS = 20;

export function notifyJob(app: App): Job {
  /** The URL of each post in progress, by notification. */
  const inProgress = new Map<string, string>();
  return claimingJob({
    name: NOTIFY_JOB,
    concurrency: MAX_CONCURRENT_POSTS,
    claim: (limit) => claimPosts(app, limit, inProgress),
    work: (claimed) =>
      postOne(app, claimed).finally(() => {
        inProgress.delete(claimed.id);
        // Another post to the same URL can start.
        app.scheduler.wakeHere(NOTIFY_JOB);
      }),
    // It is posted again once the lease expires.
    onError: ({ id }, error) =>
      app.log.error('could not post alert', { notification: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wakeHere(NOTIFY_JOB),
  });
}

async function postOne(app: App, claimed: ClaimedPost): Promise<void> {
  const message = await composeClaimed(app, claimed).catch((error) => {
    app.log.error('could not compose alert', {
      notification: claimed.id,
      error: errorMessage(error),
    });
    return COMPOSE_FAILED;
  });
  if ('reason' in message) return recordPost(app, claimed, message);
  const outcome = await sendPost(app, message);
  // On shutdown, the job posts it again after the next start.
  if (outcome !== 'closed') await recordPost(app, claimed, outcome);
}

const COMPOSE_FAILED: Failure = {
  reason: 'the message could not be composed; see the server log',
  final: false,
};
const finalFailure = (reason: string): Failure => ({ reason, final: true });

/** Uses the rule as it was when the incident opened. A `Failure` if there is nothing to post. */
async function composeClaimed(
  app: App,
  { alert_id, incident_id, news, channel }: ClaimedPost,
): Promise<OutgoingPost | Failure> {
  const { db } = app;
  const alert = await db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', alert_id)
    .executeTakeFirst();
  if (!alert) return finalFailure('the alert rule was deleted before this was posted');
  const incident = await db
    .selectFrom('alert_incidents')
    .selectAll()
    .where('id', '=', incident_id)
    .executeTakeFirst();
  if (news === 'triggered' && incident && isResolved(incident))
    return { reason: RESOLVED_BEFORE_POST, final: true, suppressed: true };
  const rule = incident ? ruleAtOpening(alert, incident) : alert;
  const event = await findIncidentEvent(db, news, rule, incident ?? null);
  return composePost(app, channel, alert, composeNotification(app.config, event));
}

/** The rule may have changed since. */
const ruleAtOpening = (
  alert: AlertRow,
  { condition, threshold }: Pick<AlertRow, 'condition' | 'threshold'>,
): AlertRow => ({ ...alert, condition, threshold });

// Claiming posts that are due, a few per URL at a time.

/** Concurrent posts to one URL, so that an unresponsive one doesn't delay the others. */
const MAX_POSTS_PER_URL = 2;
/** Longer than posting and recording can take. */
const LEASE_MS = 90_000;

type ClaimedPost = AlertNotificationRow & { lease: string };

/** A resolved notification is due only once the triggered one was posted or has failed for good. */
const dueNow = (db: Db, now: string) =>
  db
    .selectFrom('alert_notifications')
    .where('due_at', '<=', now)
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('news', '!=', 'resolved'),
        not(
          exists(
            selectFrom('alert_notifications as opening')
              .select('opening.id')
              .whereRef('opening.incident_id', '=', 'alert_notifications.incident_id')
              .whereRef('opening.channel', '=', 'alert_notifications.channel')
              .where('opening.news', '=', 'triggered')
              .where('opening.status', '=', 'queued'),
          ),
        ),
      ]),
    );

/** Claims up to `limit` posts, within the limit of each URL, and adds them to `inProgress`. */
async function claimPosts(
  app: Pick<App, 'db' | 'clock' | 'newId' | 'node' | 'config' | 'mailer' | 'secrets'>,
  limit: number,
  inProgress: Map<string, string>,
): Promise<ClaimedPost[]> {
  await makeDistantDueNow(app, 'alert_notifications', MAX_RETRY_DELAY_MS);
  const now = isoTime(app.clock.now());
  const claimedPosts: ClaimedPost[] = [];
  for (const [url, targets] of await targetsByUrl(app, now)) {
    const running = [...inProgress.values()].filter((activeUrl) => activeUrl === url).length;
    const capacity = Math.min(MAX_POSTS_PER_URL - running, limit - claimedPosts.length);
    if (capacity <= 0) continue;
    const due = dueNow(app.db, now)
      .selectAll()
      .where(({ or, and, eb }) =>
        or(
          [...Map.groupBy(targets, ({ channel }) => channel)].map(([channel, those]) =>
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
      inProgress.set(claimed.id, url);
      claimedPosts.push(claimed);
    }
  }
  return claimedPosts;
}

type DueTarget = Pick<AlertNotificationRow, 'alert_id' | 'channel'>;

/** Rules and channels with posts that are due, by URL, the earliest first; the key `''` means no usable URL. */
async function targetsByUrl(
  app: Parameters<typeof claimPosts>[0],
  now: string,
): Promise<Map<string, DueTarget[]>> {
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
    return (rule && postedChannel(channel)?.url(app, rule)) ?? '';
  });
}

// Recording the outcome of a post: sent, to be retried, failed, or suppressed.

/** If another worker has claimed it since, only a success is recorded. */
async function recordPost(
  { db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>,
  claimed: ClaimedPost,
  failure: Failure | null,
): Promise<void> {
  const { id, lease } = claimed;
  const attempts = claimed.attempts + 1;
  const wait = failure === null || failure.final ? null : retryAfterMs(attempts);
  await db
    .updateTable('alert_notifications')
    .set({ ...stateAfter(failure, wait, clock.now()), attempts, lease: null, leased_until: null })
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

type State = Partial<Pick<AlertNotificationRow, 'status' | 'due_at' | 'error' | 'sent_at'>>;

function stateAfter(failure: Failure | null, wait: number | null, now: number): State {
  if (failure === null) return { status: 'sent', due_at: null, error: null, sent_at: isoTime(now) };
  const { reason: error, suppressed } = failure;
  if (wait !== null) return { due_at: isoTime(now + wait), error };
  return { status: suppressed ? 'suppressed' : 'failed', due_at: null, error };
}

/** If the incident was resolved while its opening was being posted, the post isn't retried. */
async function cancelIfResolved(db: Db, { incident_id, news }: ClaimedPost): Promise<void> {
  if (news !== 'triggered' || incident_id === null) return;
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
