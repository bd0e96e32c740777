/** Telegram: a bot sends a message to a chat. Later messages about an incident answer the first one. */

import * as v from 'valibot';
import type { AlertRow } from '../../store/tables.generated.ts';
import type { Notification } from '../alert-text.ts';
import type { Channel, ChannelContext, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { type Markup, wholeText } from './text.ts';

const TOKEN: ChannelField = {
  name: 'telegram_bot_token',
  kind: 'text',
  isSecret: true,
  sentTo: 'telegram_server_url',
  label: 'Telegram bot token',
  hint: 'From @BotFather. It is a secret and is not shown again.',
  format: {
    pattern: /^\d+:[\w-]{10,200}$/,
    message: 'must be a bot token from @BotFather, such as 123456789:AAAA…',
  },
  example: '123456789:AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHH',
};
const CHAT: ChannelField = {
  name: 'telegram_chat_id',
  kind: 'text',
  isSecret: false,
  label: 'Telegram chat ID',
  hint: 'A number such as -1001234567890, or the @name of a public channel.',
  format: {
    pattern: /^(?:-?\d{1,20}|@\w{4,64})$/,
    message: 'must be a number such as -1001234567890, or the @name of a public channel',
  },
  example: '-1001234567890',
};
const SERVER: ChannelField = {
  name: 'telegram_server_url',
  kind: 'url',
  isSecret: false,
  label: 'Telegram API server',
  hint: 'Only if you run your own Bot API server. If empty, api.telegram.org is used.',
  placeholder: 'https://api.telegram.org',
  example: 'https://telegram-api.example.com/',
};

export const telegram: Channel = {
  name: 'Telegram',
  hints: {
    configured: 'Sends a message to a Telegram chat.',
    unconfigured: 'Enter the token of a Telegram bot and the ID of a chat below.',
  },
  fields: [TOKEN, CHAT, SERVER],
  post: {
    url: urlOf,
    message: (notification, app, rule, opening) => ({
      body: {
        chat_id: settingOf(app, rule, CHAT),
        text: textOf(notification),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
        ...(opening !== null && {
          reply_parameters: { message_id: Number(opening), allow_sending_without_reply: true },
        }),
      },
    }),
    movable: CHAT,
    answers: {
      accepted: v.pipe(
        v.object({ ok: v.literal(true), result: v.object({ message_id: v.number() }) }),
        v.transform(({ result }) => String(result.message_id)),
      ),
      refusals: {
        400: 'Telegram rejected the message; check the chat ID, and that the bot is in the chat',
        401: 'the bot token is invalid; copy it again from @BotFather',
        403: 'the bot can’t write to the chat; add it to the chat, or start a chat with it',
        404: 'the bot token is invalid; copy it again from @BotFather',
      },
      delays: {
        migrated:
          'the group became a supergroup with a new chat ID, which is now stored in the rule',
      },
      problem: v.pipe(
        v.object({
          description: v.string(),
          // Bot API, “ResponseParameters”.
          parameters: v.optional(
            v.object({
              retry_after: v.optional(v.number()),
              migrate_to_chat_id: v.optional(v.pipe(v.number(), v.safeInteger())),
            }),
          ),
        }),
        v.transform(({ description, parameters: { retry_after, migrate_to_chat_id } = {} }) => ({
          text: description,
          retryAfter: retry_after,
          ...(migrate_to_chat_id !== undefined && {
            code: 'migrated',
            movedTo: String(migrate_to_chat_id),
          }),
        })),
      ),
    },
  },
};

function urlOf(app: ChannelContext, rule: AlertRow): string | null {
  const token = settingOf(app, rule, TOKEN);
  if (token == null || settingOf(app, rule, CHAT) == null) return null;
  const server = settingOf(app, rule, SERVER) ?? 'https://api.telegram.org';
  // Without the dot, the part before the colon of the token would be a scheme.
  return new URL(`./bot${token}/sendMessage`, server.replace(/\/?$/, '/')).href;
}

/** Code units without the markup, of which there is not much. */
const MAX_LENGTH = 4096;

const textOf = (notification: Notification): string =>
  wholeText(notification, HTML, {
    max: MAX_LENGTH,
    sizeOf: (text) => text.replace(/<[^>]+>/g, '').length,
  });

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

/** Telegram turns mentions, hashtags, commands and addresses into links, except in code. */
const inert = (text: string): string =>
  escapeHtml(
    text
      .replaceAll('@', '＠')
      .replaceAll('#', '＃')
      .replace(/:(?=\/\/)/g, '∶')
      .replace(/(?<!\S)\//g, '∕'),
  );

const HTML: Markup = {
  plain: inert,
  bold: (text) => `<b>${inert(text)}</b>`,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
  block: (lines) => `<pre>${escapeHtml(lines.join('\n'))}</pre>`,
  link: (label, url) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
};
