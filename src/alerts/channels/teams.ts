/** Microsoft Teams: posts an adaptive card to a workflow with the trigger “When a Teams webhook request is received”. */

import * as v from 'valibot';
import type { Notification } from '../alert-text.ts';
import type { Channel, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { clip, fitMessage, headingOf, referenceOf, stepTexts } from './text.ts';

const URL_FIELD: ChannelField = {
  name: 'teams_webhook_url',
  kind: 'url',
  isSecret: true,
  label: 'Teams workflow URL',
  hint: 'The URL of a workflow that posts to a channel or chat. It is a secret and is not shown again.',
  placeholder: 'https://….api.powerplatform.com/…/triggers/manual/paths/invoke?…',
  example:
    'https://default0000.00.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/0000/triggers/manual/paths/invoke?api-version=1&sig=XXXX',
};

export const teams: Channel = {
  name: 'Microsoft Teams',
  hints: {
    configured: 'Posts a card to a Teams channel or chat.',
    unconfigured: 'Enter the URL of a Teams workflow below.',
  },
  fields: [URL_FIELD],
  post: {
    url: (app, rule) => settingOf(app, rule, URL_FIELD) ?? null,
    message: (notification) => ({ body: fitMessage(notification, messageOf, MAX_BYTES) }),
    answers: {
      refusals: {
        400: 'the workflow rejected the message; create one with “When a Teams webhook request is received”',
        401: 'the workflow URL is invalid; allow anyone to trigger the workflow, and copy its URL again',
        403: 'the workflow URL is invalid; allow anyone to trigger the workflow, and copy its URL again',
        404: 'the workflow was deleted or turned off; create another, and enter its URL in the rule',
        410: 'the workflow was deleted; create another, and enter its URL in the rule',
        413: 'the message is too long for Teams',
      },
      problem: v.pipe(
        v.object({ error: v.object({ message: v.string() }) }),
        v.transform(({ error }) => ({ text: error.message })),
      ),
    },
  },
};

/** Teams takes about 28 KB. Longer ones are lost: the workflow accepts them first. */
const MAX_BYTES = 20_000;

const messageOf = (notification: Notification): object => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: card(notification),
    },
  ],
});

const STYLES = { Alert: 'attention', Reminder: 'attention', Resolved: 'good', Sample: 'default' };

/** All of it is in text runs, which Teams does not format, unlike text blocks and facts. */
function card(notification: Notification): object {
  const { kind, lead, facts, steps, followUp, link } = notification;
  const heading = clip(headingOf(notification), 'heading');
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    // Read aloud, and shown in notifications.
    fallbackText: heading,
    speak: heading,
    body: [
      {
        type: 'Container',
        style: STYLES[kind],
        bleed: true,
        items: [paragraph([run(heading, { weight: 'bolder', size: 'medium' })])],
      },
      paragraph([run(clip(lead, 'lead'))]),
      ...facts.map(([label, value], index) =>
        paragraph(
          [run(`${clip(label, 'label')}: `, { weight: 'bolder' }), run(clip(value, 'value'))],
          index === 0 ? 'default' : 'small',
        ),
      ),
      ...(steps.length > 0 ? [paragraph([run('What to do', { weight: 'bolder' })])] : []),
      ...steps.flatMap((step, index) => {
        const { text, record } = stepTexts(step, index, steps.length);
        const lines = record?.map((line) => paragraph([run(line, { fontType: 'monospace' })]));
        return [paragraph([run(text)]), ...(lines ?? [])];
      }),
      ...(followUp === null ? [] : [paragraph([run(clip(followUp, 'lead'), SUBTLE)])]),
      paragraph([run(clip(referenceOf(notification), 'value'), SUBTLE)]),
    ],
    ...(link && {
      actions: [{ type: 'Action.OpenUrl', title: link.label, url: new URL(link.url).href }],
    }),
  };
}

const SUBTLE = { isSubtle: true, size: 'small' };

const run = (text: string, style: object = {}): object => ({
  type: 'TextRun',
  text: text || '–',
  ...style,
});

const paragraph = (inlines: object[], spacing = 'default'): object => ({
  type: 'RichTextBlock',
  inlines,
  spacing,
});
