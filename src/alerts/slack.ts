/** Slack: the message for an incoming webhook, and the job that posts what is due. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { printable } from '../lib/log.ts';
import { MAX_RETRY_DELAY_MS, retryAfterMs } from '../lib/retry.ts';
import type { PostOutcome } from '../net/http/web.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { bringForward, claimRows } from '../store/leases.ts';
import { type Db, transact } from '../store/open.ts';
import type { AlertNotificationRow, AlertRow } from '../store/tables.generated.ts';
import { composeNotification, type Notification } from './alert-text.ts';
import { slackUrlOf } from './channels.ts';
import type { Step } from './conditions/condition.ts';
import { cancelStaleNotifications, TOLD_TOO_LATE } from './incidents.ts';
import { findIncidentEvent, NOTIFY_JOB } from './notify.ts';
import { isOver } from './queries.ts';

/** Slack takes 150, and counts a sign outside the first plane twice. */
const HEADER_MAX = 140;
/** Of a text; Slack takes 3,000 and refuses the whole message beyond that. */
const TEXT_MAX = 2900;

interface SlackMessage {
  /** What is shown where blocks are not, as in notifications. */
  text: string;
  blocks: object[];
}

/** A sign and a word: Slack has no colours for text. */
const SIGNS: Record<Notification['kind'], string> = { Alert: '🔴', Resolved: '✅', Sample: '⚪' };

export function slackMessage(notification: Notification): SlackMessage {
  const { kind, title, lead, facts, steps, after, link, rule, incident } = notification;
  const heading = `${SIGNS[kind]} ${kind}: ${plain(title)}`;
  const reference = `Rule ${rule}${incident === null ? '' : ` · incident ${incident}`}`;
  return {
    text: escaped(`${kind}: ${title}. ${lead}`, TEXT_MAX),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(heading, HEADER_MAX) } },
      section(escaped(lead, TEXT_MAX)),
      {
        type: 'section',
        fields: facts.map(([label, value]) => markdown(`*${label}*\n${escaped(value, 300)}`)),
      },
      ...(steps.length === 0 ? [] : [{ type: 'divider' }, section('*What to do*')]),
      ...steps.flatMap((step, index) =>
        stepSections(step, steps.length > 1 ? `${index + 1}. ` : ''),
      ),
      ...(link === null ? [] : [section(`*<${addressOf(link.url)}|${escaped(link.label)}>*`)]),
      ...(after === null ? [] : [context(escaped(after, TEXT_MAX))]),
      context(escaped(reference, TEXT_MAX)),
    ],
  };
}

function stepSections({ title, text, record }: Step, number: string): object[] {
  // A star would end the bold type in the middle.
  const first = title === '' ? '' : `*${escaped(title.replaceAll('*', '∗'), 300, 800)}* `;
  const step = section(`${number}${first}${escaped(text, 800, 2000)}`);
  if (!record) return [step];
  const code = `${coded(`${record.name} ${record.type}`, 800)}\n${coded(record.value, 2000)}`;
  return [step, section(`\`\`\`${code}\`\`\``)];
}

/** As it is copied; what would end the code has no place in a record. */
const coded = (text: string, room: number): string => escaped(text.replaceAll('`', ''), 500, room);

/** `verbatim`: names and subjects are not searched for links and mentions. */
const markdown = (text: string): object => ({ type: 'mrkdwn', text, verbatim: true });
const section = (text: string): object => ({ type: 'section', text: markdown(text) });
const context = (text: string): object => ({ type: 'context', elements: [markdown(text)] });

const plain = (text: string): string => printable(text.replace(/\s+/g, ' ')).trim();

function cut(text: string, most: number): string {
  const all = [...text];
  return all.length <= most ? text : `${all.slice(0, most - 1).join('')}…`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The three signs that mean something to Slack; cut before, so that no entity is. `room`: for all of it. */
function escaped(text: string, most = 200, room = TEXT_MAX): string {
  // Each may become five: what is long is cut so that the whole stays within what Slack takes.
  const short = cut(plain(text), most);
  const whole = short.replace(/[&<>]/g, (sign) => ENTITIES[sign]!);
  return whole.length <= room ? whole : escaped(short, Math.floor(most / 2), room);
}

const addressOf = (url: string): string => new URL(url).href.replaceAll('|', '%7C');

// Posts one message to Slack, and says in half a sentence why it has not arrived.

interface Failure {
  /** Half a sentence for people, without the address. */
  reason: string;
  /** No later attempt would come to anything else. */
  final: boolean;
  /** Not posted at all, because another notification says it too. */
  suppressed?: true;
}

/** null: it has arrived; `closed`: the service is ending, and nothing is known. Never in a transaction. */
export async function postToSlack(
  { poster, version }: Pick<App, 'poster' | 'version'>,
  url: string,
  notification: Notification,
): Promise<Failure | null | 'closed'> {
  const outcome = await poster.post({
    url,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': `deliverability/${version} (alerts)`,
    },
    body: JSON.stringify(slackMessage(notification)),
  });
  return outcome === null ? 'closed' : failureOf(outcome);
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

// The job that posts to Slack what is due: claim, post, record.

const MAX_CONCURRENT_POSTS = 20;

export function notifyJob(app: App): Job {
  /** To which address each goes that is under way. */
  const underWay = new Map<string, string>();
  return claimingJob({
    name: NOTIFY_JOB,
    concurrency: MAX_CONCURRENT_POSTS,
    claim: (limit) => claimPosts(app, limit, underWay),
    work: (claimed) =>
      postOne(app, claimed).finally(() => {
        underWay.delete(claimed.id);
        // Its address has room again.
        app.scheduler.wake(NOTIFY_JOB);
      }),
    // The lease runs out, and it is posted again.
    failed: ({ id }, error) =>
      app.log.error('posting an alert failed', { notification: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wake(NOTIFY_JOB),
  });
}

async function postOne(app: App, claimed: ClaimedPost): Promise<void> {
  const message = await composed(app, claimed).catch((error) => {
    app.log.error('an alert could not be composed', {
      notification: claimed.id,
      error: errorMessage(error),
    });
    return COMPOSE_FAILED;
  });
  if ('reason' in message) return recordPost(app, claimed, message);
  const outcome = await postToSlack(app, message.url, message.notification);
  // Where we are closing, the next start posts it again.
  if (outcome !== 'closed') await recordPost(app, claimed, outcome);
}

const COMPOSE_FAILED: Failure = {
  reason: 'the message could not be written: the log of the service says why',
  final: false,
};
const forGood = (reason: string): Failure => ({ reason, final: true });

/** In the words of the rule as it was when the incident opened; or why there is nothing to post. */
async function composed(
  app: App,
  { alert_id, incident_id, news }: ClaimedPost,
): Promise<{ url: string; notification: Notification } | Failure> {
  const { db } = app;
  const alert = await db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', alert_id)
    .executeTakeFirst();
  if (!alert) return forGood('the rule was deleted before it was posted');
  const url = slackUrlOf(app, alert);
  if (url === null)
    return forGood('there is no address of Slack any more, or it cannot be decrypted');
  const incident = await db
    .selectFrom('alert_incidents')
    .selectAll()
    .where('id', '=', incident_id)
    .executeTakeFirst();
  if (news === 'triggered' && incident && isOver(incident))
    return { reason: TOLD_TOO_LATE, final: true, suppressed: true };
  const rule = incident ? asItOpened(alert, incident) : alert;
  const event = await findIncidentEvent(db, news, rule, incident ?? null);
  return { url, notification: composeNotification(app.config, event) };
}

/** The rule may ask for something else by now. */
const asItOpened = (
  alert: AlertRow,
  { condition, threshold }: Pick<AlertRow, 'condition' | 'threshold'>,
): AlertRow => ({ ...alert, condition, threshold });

// Takes posts to Slack that are due, a few for each address at once.

/** Of all posts under way to one address: one that does not answer holds up no other. */
const MAX_POSTS_PER_URL = 2;
/** How long others leave a claimed one alone: longer than its post and the record may take. */
const LEASE_MS = 90_000;

type ClaimedPost = AlertNotificationRow & { lease: string };

/** What is due: the end of an incident only after its beginning was posted, or given up on. */
const dueNow = (db: Db, now: string) =>
  db
    .selectFrom('alert_notifications')
    .where('due_at', '<=', now)
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('news', '!=', 'resolved'),
        not(
          exists(
            selectFrom('alert_notifications as beginning')
              .select('beginning.id')
              .whereRef('beginning.incident_id', '=', 'alert_notifications.incident_id')
              .whereRef('beginning.channel', '=', 'alert_notifications.channel')
              .where('beginning.news', '=', 'triggered')
              .where('beginning.status', '=', 'queued'),
          ),
        ),
      ]),
    );

/**
 * Of each address no more than it has room for. `underWay`: to which address each goes that is; what
 * is claimed is noted there.
 */
async function claimPosts(
  app: Pick<App, 'db' | 'clock' | 'newId' | 'config' | 'mailer' | 'secrets'>,
  limit: number,
  underWay: Map<string, string>,
): Promise<ClaimedPost[]> {
  await bringForward(app, 'alert_notifications', MAX_RETRY_DELAY_MS);
  const now = isoTime(app.clock.now());
  const all: ClaimedPost[] = [];
  for (const [address, alertIds] of await addressesDue(app, now)) {
    const running = [...underWay.values()].filter((one) => one === address).length;
    const room = Math.min(MAX_POSTS_PER_URL - running, limit - all.length);
    if (room <= 0) continue;
    const due = dueNow(app.db, now)
      .selectAll()
      .where('alert_id', 'in', alertIds)
      .orderBy('due_at')
      .orderBy('id')
      .limit(room);
    const table = 'alert_notifications';
    for (const claimed of await claimRows(app, { table, due, leaseMs: LEASE_MS })) {
      underWay.set(claimed.id, address);
      all.push(claimed);
    }
  }
  return all;
}

/** The rules with something due by their address, the longest due first; `''` is none that can be used. */
async function addressesDue(
  app: Parameters<typeof claimPosts>[0],
  now: string,
): Promise<Map<string, string[]>> {
  const due = await dueNow(app.db, now)
    .select(['alert_id', ({ fn }) => fn.min('due_at').as('first')])
    .groupBy('alert_id')
    .orderBy('first')
    .execute();
  if (due.length === 0) return new Map();
  const ids = due.map(({ alert_id }) => alert_id);
  const rules = await app.db.selectFrom('alerts').selectAll().where('id', 'in', ids).execute();
  const addresses = new Map(rules.map((rule) => [rule.id, slackUrlOf(app, rule) ?? '']));
  return Map.groupBy(ids, (id) => addresses.get(id) ?? '');
}

// Records what a post to Slack has come to: sent, tried again, failed, or no longer of use.

/** Where the lease is another's by now, it is theirs; but what has arrived has arrived. */
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
    log.warn(wait === null ? 'posting an alert failed' : 'posting an alert is tried again', {
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

/** Its incident has ended while it was being posted: it is not tried again. */
async function cancelIfResolved(db: Db, { incident_id, news }: ClaimedPost): Promise<void> {
  if (news !== 'triggered' || incident_id === null) return;
  await transact(db, async (tx) => {
    const over = await tx
      .selectFrom('alert_incidents')
      .select('id')
      .where('id', '=', incident_id)
      .where(({ or, eb }) => or([eb('status', '=', 'resolved'), eb('closing_id', 'is not', null)]))
      .executeTakeFirst();
    if (over) await cancelStaleNotifications(tx, [incident_id]);
  });
}
