/** Text from outside notifies nobody beyond the channel, whatever form of a mention it has, and wherever it is shown. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Notification } from '../../../src/alerts/alert-text.ts';
import { CHANNELS, type ChannelId } from '../../../src/alerts/channels/index.ts';
import { slackMessage } from '../../../src/alerts/channels/slack-message.ts';
import { cleanText } from '../../../src/alerts/channels/text.ts';
import type { AlertRow } from '../../../src/store/tables.generated.ts';
import { customService, SERVICES, slackCompatibleService } from './services.ts';

const MENTIONS = [
  '<!channel>',
  '<!here>',
  '<!everyone>',
  '<!here|x>',
  '<!subteam^S024BE7LH>',
  '<@U012AB3CD>',
  '<@123>',
  '<@!123>',
  '<@&123>',
  '<#C024BE7LR>',
  '<users/all>',
  '<users/123>',
  '<at>Everyone</at>',
  '<at id="0">Alex</at>',
  // A look-alike takes the place of the underscore.
  '<at_>Alex</at_>',
  '@everyone',
  '@here',
  '@channel',
  '@all',
  '@alex',
  '@admin_bot',
  '@Everyone',
  '@HERE',
  '@equipe_é',
  '@<!here>',
  '<<!channel>>',
];
const PLACES: ((mention: string) => string)[] = [
  (mention) => mention,
  (mention) => `Sale for ${mention} now`,
  (mention) => `(${mention})`,
  (mention) => `word${mention}!`,
  (mention) => `_${mention}_ *${mention}* \`${mention}\` ~${mention}~`,
  (mention) => `.${mention}. -${mention}- /${mention}/`,
  (mention) => `line\n${mention}\u2028${mention}`,
  (mention) => `\u200b${mention}\u202e`,
  (mention) => [...mention].join('\u200b'),
  (mention) => [...mention].join('\u00ad'),
  (mention) => `"${mention}" “${mention}” [${mention}](${mention})`,
  (mention) => `${'x'.repeat(198)}${mention}`,
  (mention) => mention.replaceAll('<', '&lt;').replaceAll('@', '&#64;'),
];

/** What a service could find. A mailbox address mentions nobody. */
const MENTION =
  /<[!@#]|<\/?(?:at|users)\b|(?<![\p{L}\p{N}])@[\p{Lu}\p{Ll}\p{Lo}\p{N}_]|@(?:everyone|here|channel|all)(?![\p{L}\p{N}_.-])/iu;

const notificationOf = (text: string): Notification => ({
  kind: 'Alert',
  title: text,
  lead: text,
  facts: [[text, text]],
  followUp: text,
  rule: text,
  steps: [{ title: text, text, record: { type: 'TXT', name: text, value: text } }],
  link: { label: 'Open report', url: 'https://tester.example/tests/test_1' },
  incident: 'inc_1',
});

/** Encrypted by nothing. */
const app = { secrets: { open: (text: string) => text } } as never;
const services = {
  ...SERVICES,
  slack: () => slackCompatibleService(5000),
  custom: customService,
};

/** The message of a channel, and of Slack in both of its forms. */
const FORMS: Record<string, (notification: Notification) => object> = {
  ...Object.fromEntries(
    Object.entries(services).map(([id, start]) => {
      const settings = JSON.stringify(start().settings('https://service.example'));
      const rule = { id: 'alt_1', name: 'Rule', slack_webhook_url: settings } as AlertRow;
      const { post } = CHANNELS[id as ChannelId];
      return [
        id,
        (notification) => {
          const { body } = post!.message(notification, app, rule, null);
          return typeof body === 'string' ? JSON.parse(body) : body;
        },
      ];
    }),
  ),
  'slack with blocks': slackMessage,
};

/** All strings of a message as a service reads them, which undoes escapes. */
function stringsOf(value: unknown, form: string): string[] {
  if (typeof value === 'string') {
    if (form === 'discord') return [value.replace(/\\(.)/g, '$1')];
    return [value, value.replace(/&lt;/g, '<').replace(/&amp;/g, '&')];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => [key, ...stringsOf(field, form)]);
}

const assertMentionsNobody = (form: string, text: string) => {
  for (const shown of stringsOf(FORMS[form]!(notificationOf(text)), form))
    assert.doesNotMatch(shown, MENTION, `${form}: ${JSON.stringify(text)}`);
};

test('Every channel that posts is tested', () => {
  const posting = Object.entries(CHANNELS).filter(([, { post }]) => post);
  assert.deepEqual(posting.map(([id]) => id).toSorted(), Object.keys(services).toSorted());
});

for (const form of Object.keys(FORMS)) {
  test(`No form of a mention notifies anybody in ${form}`, () => {
    for (const mention of MENTIONS)
      for (const place of PLACES) assertMentionsNobody(form, place(mention));
  });

  test(`No sequence of pieces makes a mention in ${form}`, () => {
    const pieces = [...'<>!@#&/|_*`.- ', 'here', 'all', 'users', 'at', 'a', '\u200b', '\n', '&lt;'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) =>
        assertMentionsNobody(form, parts.join('')),
      ),
      { numRuns: 100 },
    );
  });
}

test('Mailbox addresses, host names and records stay as they are', () => {
  for (const text of [
    'news@acme.example',
    'Anna <anna@here.example> and bob@all.example',
    'v=DMARC1; p=none; rua=mailto:d@everyone.example,mailto:x@channel.example',
    '@ TXT',
    'a < b, <bad> and <b>',
  ])
    assert.equal(cleanText(text), text);
});
