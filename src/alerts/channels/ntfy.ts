/** ntfy: publishes to a topic. The end of an incident replaces the alert on the phone. */

import * as v from 'valibot';
import type { AlertRow } from '../../store/tables.generated.ts';
import type { Notification } from '../alert-text.ts';
import type { Channel, ChannelContext, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { clip, PLAIN, wholeText } from './text.ts';

const SERVER: ChannelField = {
  name: 'ntfy_server_url',
  kind: 'url',
  isSecret: false,
  label: 'ntfy server',
  hint: 'The address of your ntfy server. If empty, ntfy.sh is used.',
  placeholder: 'https://ntfy.sh',
  example: 'https://ntfy.example.com/',
};
const TOPIC: ChannelField = {
  name: 'ntfy_topic',
  kind: 'text',
  isSecret: true,
  sentTo: 'ntfy_server_url',
  label: 'ntfy topic',
  hint: 'On a public server, anyone who knows the topic can read the alerts, so choose a long one. It is not shown again.',
  format: {
    pattern: /^[-\w]{1,64}$/,
    message: 'must have 1 to 64 letters, digits, hyphens and underscores',
  },
  example: 'alerts-k3v9q1x7',
};
const TOKEN: ChannelField = {
  name: 'ntfy_token',
  kind: 'text',
  isSecret: true,
  sentTo: 'ntfy_server_url',
  label: 'ntfy access token',
  hint: 'Only for a protected topic. It is a secret and is not shown again.',
  removal: 'The rule then publishes without a token.',
  example: 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2',
};

export const ntfy: Channel = {
  name: 'ntfy',
  hints: {
    configured: 'Publishes to an ntfy topic.',
    unconfigured: 'Enter an ntfy topic below.',
  },
  fields: [SERVER, TOPIC, TOKEN],
  post: {
    url: urlOf,
    message(notification, app, rule) {
      const token = settingOf(app, rule, TOKEN);
      return {
        body: { topic: settingOf(app, rule, TOPIC), ...messageOf(notification) },
        ...(token != null && { headers: { authorization: `Bearer ${token}` } }),
      };
    },
    answers: {
      accepted: v.pipe(
        v.object({ id: v.string(), event: v.literal('message') }),
        v.transform(() => null),
      ),
      refusals: {
        400: 'the ntfy server rejected the message',
        401: 'the ntfy server rejected the access token; create a new one',
        403: 'the topic is protected; enter an access token that can write to it',
        404: 'this is not an ntfy server; check its address',
        413: 'the message is too long for the ntfy server',
      },
      problem: v.pipe(
        v.object({ error: v.string() }),
        v.transform(({ error }) => ({ text: error })),
      ),
    },
  },
};

/** JSON is published to the address of the server. The topic is in the body. */
function urlOf(app: ChannelContext, rule: AlertRow): string | null {
  if (settingOf(app, rule, TOPIC) == null || settingOf(app, rule, TOKEN) === null) return null;
  return settingOf(app, rule, SERVER) ?? 'https://ntfy.sh/';
}

/** In bytes, of the 4,096 above which a message becomes a file. */
const MAX_MESSAGE = 4000;
/** The names of emoji. */
const TAGS = {
  Alert: 'red_circle',
  Reminder: 'red_circle',
  Resolved: 'white_check_mark',
  Sample: 'white_circle',
};
/** From 1 to 5; 3 is normal. */
const PRIORITIES = { Alert: 4, Reminder: 4, Resolved: 3, Sample: 3 };

function messageOf(notification: Notification): object {
  const { kind, title, link, incident } = notification;
  const url = link && new URL(link.url).href;
  return {
    title: clip(`${kind}: ${title}`, 'title'),
    // Clients do not format a message that isn't marked as Markdown.
    message: wholeText(notification, PLAIN, {
      max: MAX_MESSAGE,
      sizeOf: (text) => Buffer.byteLength(text),
      without: ['heading', 'link'],
    }),
    priority: PRIORITIES[kind],
    tags: [TAGS[kind]],
    ...(link && { click: url, actions: [{ action: 'view', label: link.label, url }] }),
    // Phones replace a notification without a sound, so a reminder is a new one.
    ...(incident !== null && kind !== 'Reminder' && { sequence_id: incident }),
  };
}
