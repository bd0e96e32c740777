/** Discord: posts an embed to a webhook. The first message about an incident then says how it ended. */

import * as v from 'valibot';
import { truncate } from '../../lib/format/plain-text.ts';
import type { Notification } from '../alert-text.ts';
import type { Channel, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { clip, headingOf, type Markup, wholeText } from './text.ts';

const URL_FIELD: ChannelField = {
  name: 'discord_webhook_url',
  kind: 'url',
  isSecret: true,
  label: 'Discord webhook URL',
  hint: 'From the settings of a channel, under “Integrations”. It is a secret and is not shown again.',
  placeholder: 'https://discord.com/api/webhooks/…',
  format: {
    pattern: /^[^?]*(?<!\/(?:slack|github)\/?)(?:\?|$)/,
    message: 'must not end with /slack or /github, which are for messages of other forms',
  },
  example: 'https://discord.com/api/webhooks/000000000000000000/XXXX',
};

export const discord: Channel = {
  name: 'Discord',
  hints: {
    configured: 'Posts to a Discord channel.',
    unconfigured: 'Enter the URL of a Discord webhook below.',
  },
  fields: [URL_FIELD],
  post: {
    url(app, rule) {
      const url = settingOf(app, rule, URL_FIELD) ?? null;
      // Discord then answers with the message, once it is stored.
      return url && withPath(url, '', { wait: 'true' });
    },
    message(notification, app, rule, opening) {
      const body = messageOf(notification);
      if (opening === null || notification.kind !== 'Resolved') return { body };
      const url = settingOf(app, rule, URL_FIELD)!;
      return { body, next: { method: 'PATCH', url: withPath(url, `/messages/${opening}`), body } };
    },
    answers: {
      accepted: v.pipe(
        v.object({ id: v.pipe(v.string(), v.regex(/^\d{1,20}$/)) }),
        v.transform(({ id }) => id),
      ),
      refusals: {
        400: 'Discord rejected the message',
        401: 'the webhook URL is invalid; copy it again from the settings of the channel',
        403: 'Discord does not let the webhook post; create a new one',
        404: 'the webhook was deleted; create another, and enter its URL in the rule',
      },
      problem: v.pipe(
        v.object({ message: v.string(), retry_after: v.optional(v.number()) }),
        v.transform(({ message, retry_after }) => ({ text: message, retryAfter: retry_after })),
      ),
    },
  },
};

/** The URL may say which thread to post in. */
function withPath(webhook: string, path: string, query: Record<string, string> = {}): string {
  const url = new URL(webhook);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** For the bar at the side. */
const COLORS = { Alert: 0xd92d20, Reminder: 0xd92d20, Resolved: 0x067647, Sample: 0x667085 };

/** UTF-16 code units; an embed has at most 6,000 altogether. */
const MAX_TITLE = 256;
const MAX_DESCRIPTION = 4096;

function messageOf(notification: Notification): object {
  const { kind, link } = notification;
  const title = escapeMarkdown(clip(headingOf(notification), 'heading'));
  return {
    // Mentions nobody, whatever the texts say.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: title.length <= MAX_TITLE ? title : cutMarkdown(notification),
        ...(link && { url: new URL(link.url).href }),
        description: wholeText(notification, MARKDOWN, {
          max: MAX_DESCRIPTION,
          without: ['heading', 'link'],
        }),
        color: COLORS[kind],
      },
    ],
  };
}

/** Escaped text is at most twice as long, and a character has at most two code units. */
const cutMarkdown = (notification: Notification): string =>
  escapeMarkdown(truncate(clip(headingOf(notification), 'heading'), MAX_TITLE / 2));

/** Discord takes a backslash before any character but letters, digits and spaces. */
const escapeMarkdown = (text: string): string =>
  text.replace(/[\\*_~`|<>[\]()@#]|^[-+]|:(?=\/\/)|(?<=^\d+)\./g, '\\$&');

const MARKDOWN: Markup = {
  plain: escapeMarkdown,
  bold: (text) => `**${escapeMarkdown(text)}**`,
  code: escapeMarkdown,
  block: (lines) => ['```', ...lines.map((line) => line.replaceAll('`', 'ˋ')), '```'].join('\n'),
  link: (label, url) => `[${escapeMarkdown(label)}](${url})`,
};
