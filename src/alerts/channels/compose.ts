/** Composes the posts of notifications: what is posted, where, and with which secrets. */

import type { App } from '../../app.ts';
import type { Db } from '../../store/open.ts';
import type { AlertNotificationRow, AlertRow } from '../../store/tables.generated.ts';
import { composeNotification, type Notification } from '../alert-text.ts';
import { findIncidentEvent } from '../incident-event.ts';
import { RESOLVED_BEFORE_POST } from '../incidents.ts';
import { isResolved } from '../queries.ts';
import type { ChannelContext, PostedChannel } from './channel.ts';
import { CHANNELS, channelName, isKnownChannel } from './index.ts';
import { type Failure, finalFailure, type OutgoingPost } from './post.ts';
import { settingOf } from './settings.ts';

/** Uses the rule as it was when the incident opened. A `Failure` if there is nothing to post. */
export async function composeQueued(
  app: App,
  queued: AlertNotificationRow,
): Promise<OutgoingPost | Failure> {
  const { db } = app;
  const { alert_id, incident_id, news, channel, post } = queued;
  // Composed before the rule changed.
  if (post !== null) return openPost(app, queued, post);
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
  if (news !== 'resolved' && incident && isResolved(incident))
    return { reason: RESOLVED_BEFORE_POST, final: true, suppressed: true };
  const rule = incident ? ruleAtOpening(alert, incident) : alert;
  const event = await findIncidentEvent(db, news, rule, incident ?? null);
  const notification = composeNotification(app.config, event);
  const opening = incident && (await findReference(db, incident.id, channel));
  return composePost(app, channel, alert, { ...notification, id: queued.id }, opening);
}

/** What the service calls its message about the opening. */
async function findReference(
  db: Db,
  incidentId: string,
  channel: AlertNotificationRow['channel'],
): Promise<string | null> {
  const opening = await db
    .selectFrom('alert_notifications')
    .select('reference')
    .where('incident_id', '=', incidentId)
    .where('channel', '=', channel)
    .where('reference', 'is not', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return opening?.reference ?? null;
}

/** The rule may have changed since. */
const ruleAtOpening = (
  alert: AlertRow,
  { condition, threshold }: Pick<AlertRow, 'condition' | 'threshold'>,
): AlertRow => ({ ...alert, condition, threshold });

/** How a channel posts; null if it does not, or is one of a newer version. */
export const postedChannel = (channel: string): PostedChannel | null =>
  (isKnownChannel(channel) && CHANNELS[channel].post) || null;

/** A `Failure` if the rule has no usable URL. `opening`: see `PostedChannel`. */
export function composePost(
  app: ChannelContext,
  channel: string,
  rule: AlertRow,
  notification: Notification,
  opening: string | null = null,
): OutgoingPost | Failure {
  const posted = postedChannel(channel);
  const url = posted?.url(app, rule) ?? null;
  const name = channelName(channel as never);
  if (posted === null || url === null)
    return finalFailure(
      posted
        ? `a setting of ${name} was removed or cannot be decrypted`
        : `this version of the program cannot post to ${name}`,
    );
  const message = posted.message(notification, app, rule, opening);
  const { body, headers = {}, method, next } = message;
  return {
    url: message.url ?? url,
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(method && { method }),
    ...(next && { next }),
    answers: posted.answers ?? null,
    settings: rule.slack_webhook_url,
    secrets: [...secretsOf(app, channel, rule), ...partsOf(new URL(url).pathname)],
  };
}

// A post that is composed before the rule changes is stored with the notification that it belongs to.

type StoredPost = Pick<OutgoingPost, 'url' | 'method' | 'headers' | 'body' | 'secrets'>;

const postPurpose = (notificationId: string): string => `post of ${notificationId}`;

export function sealPost(
  { secrets: keys }: Pick<App, 'secrets'>,
  notificationId: string,
  { url, method, headers, body, secrets }: OutgoingPost,
): string {
  const stored: StoredPost = { url, ...(method && { method }), headers, body, secrets };
  return keys.seal(JSON.stringify(stored), postPurpose(notificationId));
}

function openPost(
  { secrets: keys }: Pick<App, 'secrets'>,
  { id, channel }: Pick<AlertNotificationRow, 'id' | 'channel'>,
  sealed: string,
): OutgoingPost | Failure {
  const text = keys.open(sealed, postPurpose(id));
  if (text === null) return finalFailure('this was encrypted with another key');
  const stored: StoredPost = JSON.parse(text);
  return { ...stored, answers: postedChannel(channel)?.answers ?? null, settings: null };
}

/** What limits apply to: the URL, and by which account; empty if there is no usable URL. Never shown. */
export function targetOf(app: ChannelContext, channel: string, rule: AlertRow): string {
  const url = postedChannel(channel)?.url(app, rule) ?? null;
  return url === null ? '' : [url, ...secretsOf(app, channel, rule)].join(' ');
}

/** Those of the rule, and the parts of URLs by which a service knows them, also as bodies and URLs contain them. */
function secretsOf(app: ChannelContext, channel: string, rule: AlertRow): string[] {
  if (!isKnownChannel(channel)) return [];
  return CHANNELS[channel].fields
    .filter(({ isSecret }) => isSecret)
    .flatMap((field) => settingOf(app, rule, field) ?? [])
    .flatMap((value) => [value, ...partsOf(value)])
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
}

/** Without the names of header fields. */
const partsOf = (value: string): string[] =>
  value
    .replace(/^[\w-]+:/gm, '')
    .split(/[/?&=:\s]+/)
    .filter(({ length }) => length >= 8);
