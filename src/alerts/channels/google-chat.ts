/** Google Chat: posts a card to a webhook of a space. All cards about an incident are in one thread. */

import * as v from 'valibot';
import type { AlertRow } from '../../store/tables.generated.ts';
import type { Notification } from '../alert-text.ts';
import type { Channel, ChannelContext, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { clip, fitMessage, headingOf, referenceOf, stepTexts, withoutMarkup } from './text.ts';

const URL_FIELD: ChannelField = {
  name: 'google_chat_webhook_url',
  kind: 'url',
  isSecret: true,
  label: 'Google Chat webhook URL',
  hint: 'From the menu of a space, under “Apps & integrations”. It is a secret and is not shown again.',
  placeholder: 'https://chat.googleapis.com/v1/spaces/…',
  example: 'https://chat.googleapis.com/v1/spaces/AAAA0000/messages?key=XXXX&token=XXXX',
};

export const googleChat: Channel = {
  name: 'Google Chat',
  hints: {
    configured: 'Posts to a Google Chat space.',
    unconfigured: 'Enter the URL of a Google Chat webhook below.',
  },
  fields: [URL_FIELD],
  post: {
    url: urlOf,
    message: (notification) => ({ body: fitMessage(notification, messageOf, MAX_BYTES) }),
    answers: {
      accepted: v.pipe(
        v.object({ name: v.pipe(v.string(), v.startsWith('spaces/')) }),
        v.transform(() => null),
      ),
      refusals: {
        400: 'Google Chat rejected the message',
        401: 'the webhook URL is invalid; copy it again from the space',
        403: 'Google Chat does not let the webhook post; check that it still exists in the space',
        404: 'the webhook or its space was deleted; create another, and enter its URL in the rule',
      },
      problem: v.pipe(
        v.object({ error: v.object({ message: v.string() }) }),
        v.transform(({ error }) => ({ text: error.message })),
      ),
    },
  },
};

function urlOf(app: ChannelContext, rule: AlertRow): string | null {
  const text = settingOf(app, rule, URL_FIELD) ?? null;
  if (text === null) return null;
  const url = new URL(text);
  // Without it, each message starts a new thread.
  url.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
  return url.href;
}

/** Google Chat takes 32,000 bytes. */
const MAX_BYTES = 30_000;

function messageOf(notification: Notification): object {
  const { incident } = notification;
  return {
    // Shown in notifications. Google Chat formats it.
    text: inert(withoutMarkup(clip(headingOf(notification), 'heading'))),
    cardsV2: [{ cardId: incident ?? 'sample', card: card(notification) }],
    ...(incident !== null && { thread: { threadKey: incident } }),
  };
}

function card(notification: Notification): object {
  const { lead, facts, steps, followUp, link } = notification;
  return {
    sections: [
      {
        widgets: [
          paragraph(inert(clip(lead, 'lead'))),
          ...facts.map(([label, value]) => ({
            decoratedText: {
              topLabel: inert(clip(label, 'label')),
              text: inert(clip(value, 'value')) || '–',
              wrapText: true,
            },
          })),
        ],
      },
      ...(steps.length > 0 ? [{ header: 'What to do', widgets: steps.flatMap(stepWidgets) }] : []),
      {
        widgets: [
          ...(link === null ? [] : [button(link.label, new URL(link.url).href)]),
          ...(followUp === null ? [] : [paragraph(inert(clip(followUp, 'lead')))]),
          paragraph(inert(clip(referenceOf(notification), 'value'))),
        ],
      },
    ],
  };
}

function stepWidgets(
  step: Notification['steps'][0],
  index: number,
  { length }: object[],
): object[] {
  const { text, record } = stepTexts(step, index, length);
  return [
    paragraph(inert(text)),
    ...(record === null ? [] : [paragraph(record.map(inert).join('<br>'))]),
  ];
}

/** Cards take some HTML. */
const inert = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›');
const paragraph = (text: string): object => ({ textParagraph: { text: text || '–' } });
const button = (text: string, url: string): object => ({
  buttonList: { buttons: [{ text, onClick: { openLink: { url } } }] },
});
