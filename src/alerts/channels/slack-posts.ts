/** Slack: the message for an incoming webhook, and the job that posts notifications that are due. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { errorMessage } from '../../lib/errors.ts';
import { printable } from '../../lib/log.ts';
import { MAX_RETRY_DELAY_MS, retryAfterMs } from '../../lib/retry.ts';
import type { PostOutcome } from '../../net/http/web.ts';
import { claimingJob, type Job } from '../../scheduler/scheduler.ts';
import { claimRows, makeDistantDueNow } from '../../store/leases.ts';
import { type Db, transact } from '../../store/open.ts';
import type { AlertNotificationRow, AlertRow } from '../../store/tables.generated.ts';
import { composeNotification, type Notification } from '../alert-text.ts';
import type { Step } from '../conditions/condition.ts';
import { cancelStaleNotifications, RESOLVED_BEFORE_POST } from '../incidents.ts';
import { findIncidentEvent, NOTIFY_JOB } from '../notify.ts';
import { isResolved } from '../queries.ts';
import { slackUrlOf } from './slack.ts';

/** Slack's limit is 150 UTF-16 code units, so a character outside the BMP counts twice. */
const MAX_HEADER_LENGTH = 140;
/** Slack rejects the whole message if one text exceeds 3,000 characters. */
const MAX_TEXT_LENGTH = 2900;

interface SlackMessage {
  /** Shown where blocks aren't, such as in desktop notifications. */
  text: string;
  /** Slack formats `text` unless this is false. */
  mrkdwn: false;
  unfurl_links: false;
  unfurl_media: false;
  blocks: object[];
}

/** Slack has no text colors. */
const ICONS: Record<Notification['kind'], string> = { Alert: '🔴', Resolved: '✅', Sample: '⚪' };

/**
 * Names, subjects and records come from outside. They are in `plain_text` only, which Slack doesn't format,
 * except in the code block of a record.
 */
export function slackMessage(notification: Notification): SlackMessage {
  const { kind, title, lead, facts, steps, followUp: after, link, rule, incident } = notification;
  const heading = `${ICONS[kind]} ${kind}: ${title}`;
  const reference = `Rule ${rule}${incident === null ? '' : ` · incident ${incident}`}`;
  return {
    text: escapeText(withoutMarkup(`${kind}: ${title}. ${lead}`), MAX_TEXT_LENGTH),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(heading, MAX_HEADER_LENGTH, MAX_HEADER_LENGTH) },
      section(plain(lead)),
      ...factSections(facts),
      ...(steps.length === 0 ? [] : [{ type: 'divider' }, section(markdown('*What to do*'))]),
      ...steps.flatMap((step, index) =>
        stepSections(step, steps.length > 1 ? `${index + 1}. ` : ''),
      ),
      ...(link === null
        ? []
        : [section(markdown(`*<${linkTarget(link.url)}|${escapeText(link.label)}>*`))]),
      ...(after === null ? [] : [context(plain(after))]),
      context(plain(reference)),
    ],
  };
}

/** Slack allows ten fields in a section: five labels, each with its value beside it. */
const MAX_FACTS_PER_SECTION = 5;

function factSections(facts: Notification['facts']): object[] {
  const sections: object[] = [];
  for (let start = 0; start < facts.length; start += MAX_FACTS_PER_SECTION) {
    const fields = facts
      .slice(start, start + MAX_FACTS_PER_SECTION)
      .flatMap(([label, value]) => [
        markdown(`*${escapeText(withoutMarkup(label))}*`),
        plain(value, 300),
      ]);
    sections.push({ type: 'section', fields });
  }
  return sections;
}

function stepSections({ title, text, record }: Step, number: string): object[] {
  const heading = title === '' ? '' : `${truncate(title, 300)} `;
  const step = section(plain(`${number}${heading}${truncate(text, 800)}`));
  if (!record) return [step];
  const code = `${codeText(`${record.name} ${record.type}`, 800)}\n${codeText(record.value, 2000)}`;
  return [step, section(markdown(`\`\`\`${code}\`\`\``))];
}

/** Backticks would end the code block. */
const codeText = (text: string, maxEscapedLength: number): string =>
  escapeText(text.replaceAll('`', ''), 500, maxEscapedLength);

/** `verbatim` keeps Slack from turning words into links and mentions. */
const markdown = (text: string): object => ({ type: 'mrkdwn', text, verbatim: true });
const section = (text: object): object => ({ type: 'section', text });
const context = (text: object): object => ({ type: 'context', elements: [text] });

/** Text that Slack shows as it is. Without `emoji: false`, Slack would turn `:smile:` into a picture. */
function plain(text: string, maxLength = MAX_TEXT_LENGTH, maxCodeUnits = MAX_TEXT_LENGTH): object {
  const fitting = fitText(cleanText(text), maxLength, maxCodeUnits, (each) => each);
  // An empty text object is invalid, and Slack would reject the whole message.
  return { type: 'plain_text', text: fitting || '–', emoji: false };
}

/** Characters that Slack shows as nothing, in which text can hide. Variation selectors of emoji stay. */
const INVISIBLE = /(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu;
/** The beginning of a mention or a link. Plain text should not contain any, in case Slack reads it. */
const CONTROL_SEQUENCE = /<(?=[!@#]|[a-z][a-z+.-]*:)/gi;

const cleanText = (text: string): string =>
  printable(text.toWellFormed().replace(/\s+/g, ' ').replace(INVISIBLE, ''))
    .replace(CONTROL_SEQUENCE, '‹')
    .trim();

/** Look-alikes for characters that format, mention or link where Slack formats text nevertheless. */
const LOOKALIKES: [RegExp, string][] = [
  [/\*/g, '∗'],
  [/_/g, 'ˍ'],
  [/~/g, '∼'],
  [/`/g, 'ˋ'],
  [/@/g, '＠'],
  [/#/g, '＃'],
  [/^>/g, '›'],
  [/:(?=[^\s:]+:)|:(?=\/\/)|(?<=(?:mailto|tel)):/g, '∶'],
];

const withoutMarkup = (text: string): string =>
  LOOKALIKES.reduce((result, [pattern, lookalike]) => result.replace(pattern, lookalike), text);

function truncate(text: string, maxLength: number): string {
  const characters = [...text];
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes Slack's three special characters. Truncates first, so that no entity is split. */
const escapeText = (text: string, maxLength = 200, maxEscapedLength = MAX_TEXT_LENGTH): string =>
  fitText(cleanText(text), maxLength, maxEscapedLength, (each) =>
    each.replace(/[&<>]/g, (character) => ENTITIES[character]!),
  );

/** Truncates to `maxLength` characters; further if the converted text has more than `maxCodeUnits`. */
function fitText(
  text: string,
  maxLength: number,
  maxCodeUnits: number,
  convert: (text: string) => string,
): string {
  const converted = convert(truncate(text, maxLength));
  return converted.length <= maxCodeUnits
    ? converted
    : fitText(text, Math.floor(maxLength / 2), maxCodeUnits, convert);
}

const linkTarget = (url: string): string => new URL(url).href.replaceAll('|', '%7C');

// Posting one message to Slack.

interface Failure {
  /** For users, without a final period and without the URL, which is a secret. */
  reason: string;
  /** Whether retrying is pointless. */
  final: boolean;
  /** Not posted, because another notification says the same. */
  suppressed?: true;
}

/**
 * Resolves with null if the message was delivered, and with `closed` if the service is shutting down
 * and the outcome is unknown. Never call it in a transaction.
 */
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
  /** The Slack URL of each post in progress, by notification. */
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
  const message = await composePost(app, claimed).catch((error) => {
    app.log.error('could not compose alert', {
      notification: claimed.id,
      error: errorMessage(error),
    });
    return COMPOSE_FAILED;
  });
  if ('reason' in message) return recordPost(app, claimed, message);
  const outcome = await postToSlack(app, message.url, message.notification);
  // On shutdown, the job posts it again after the next start.
  if (outcome !== 'closed') await recordPost(app, claimed, outcome);
}

const COMPOSE_FAILED: Failure = {
  reason: 'the message could not be composed; see the server log',
  final: false,
};
const finalFailure = (reason: string): Failure => ({ reason, final: true });

/** Uses the rule as it was when the incident opened. A `Failure` if there is nothing to post. */
async function composePost(
  app: App,
  { alert_id, incident_id, news }: ClaimedPost,
): Promise<{ url: string; notification: Notification } | Failure> {
  const { db } = app;
  const alert = await db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', alert_id)
    .executeTakeFirst();
  if (!alert) return finalFailure('the alert rule was deleted before this was posted');
  const url = slackUrlOf(app, alert);
  if (url === null) return finalFailure('the Slack webhook URL was removed or cannot be decrypted');
  const incident = await db
    .selectFrom('alert_incidents')
    .selectAll()
    .where('id', '=', incident_id)
    .executeTakeFirst();
  if (news === 'triggered' && incident && isResolved(incident))
    return { reason: RESOLVED_BEFORE_POST, final: true, suppressed: true };
  const rule = incident ? ruleAtOpening(alert, incident) : alert;
  const event = await findIncidentEvent(db, news, rule, incident ?? null);
  return { url, notification: composeNotification(app.config, event) };
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
  for (const [url, alertIds] of await rulesByUrl(app, now)) {
    const running = [...inProgress.values()].filter((activeUrl) => activeUrl === url).length;
    const capacity = Math.min(MAX_POSTS_PER_URL - running, limit - claimedPosts.length);
    if (capacity <= 0) continue;
    const due = dueNow(app.db, now)
      .selectAll()
      .where('alert_id', 'in', alertIds)
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

/** Rules with posts that are due, by Slack URL, the earliest first; the key `''` means no usable URL. */
async function rulesByUrl(
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
  const urls = new Map(rules.map((rule) => [rule.id, slackUrlOf(app, rule) ?? '']));
  return Map.groupBy(ids, (id) => urls.get(id) ?? '');
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
