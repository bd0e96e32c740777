/** Slack posts with hostile names and subjects: Slack must show them as they are, and format nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notification } from '../../src/alerts/alert-text.ts';
import { slackMessage } from '../../src/alerts/channels/slack-message.ts';

const HOSTILE = [
  '*bold*',
  '_italic_',
  '~struck~',
  '`code`',
  '```block```',
  '> quoted',
  '>>> quoted to the end',
  '- item',
  '* item',
  '• item',
  '1. item',
  '# heading',
  '<!channel>',
  '<!here>',
  '<!everyone>',
  '<!subteam^S024BE7LH>',
  '<!date^1392734382^{date}|x>',
  '<@U012AB3CD>',
  '<#C024BE7LR>',
  '<https://evil.example|Sign in>',
  '<mailto:a@evil.example|Support>',
  '<tel:+15550100|Call>',
  'https://evil.example/login',
  'http://evil.example',
  'ftp://evil.example/x',
  'mailto:a@evil.example',
  'a@evil.example',
  '@here',
  '@channel and @everyone',
  '#general',
  ':smile:',
  ':rotating_light: :+1:',
  '&lt;!channel&gt;',
  '&amp;lt;!here&amp;gt;',
  'a\u200bb\u2060c\ufeffd\u00ade',
  'a\u202eb\u2066c\u2069d\u200fe\u061cf',
  'line one\nline two\r\n> three\u2028four\u2029five',
  '\u001b[31mred\u001b[0m\u0007\u0000\u009b1m',
  '[text](https://evil.example)',
  '***_~`nested`~_***',
  '\ud800 lone surrogate',
  '\u{e0041}\u{e0042}hidden tags',
  '<<!channel>>',
  '<\u200b!channel>',
];

const notificationWith = (text: string): Notification => ({
  kind: 'Alert',
  title: `Title ${text}`,
  lead: text,
  facts: [
    ['Message', text],
    ['Rule', text],
    ['Since', 'today'],
    ['A', 'a'],
    ['B', 'b'],
    ['C', text],
  ],
  steps: [
    { title: text, text, record: { type: 'TXT', name: text, value: text } },
    { title: '', text, record: null },
  ],
  followUp: text,
  link: { label: 'Open report', url: 'https://tester.example/x' },
  rule: text,
  incident: 'inc_1',
});

interface TextObject {
  type: string;
  text: string;
  emoji?: boolean;
  verbatim?: boolean;
}

/** All text objects of the blocks at any depth. */
function textObjects(value: unknown): TextObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, text } = value as Partial<TextObject>;
  if (typeof text === 'string' && (type === 'plain_text' || type === 'mrkdwn'))
    return [value as TextObject];
  return Object.values(value).flatMap(textObjects);
}

const UNPRINTABLE =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u;
/** The only formatted texts: those without a word from outside, and the record in its code block. */
const OUR_MARKUP =
  /^(?:\*What to do\*|\*(?:Message|Rule|Since|A|B|C)\*|\*<https:\/\/tester\.example\/x\|Open report>\*)$/;
const CODE_BLOCK = /^```([^`<>]*)```$/;

for (const text of HOSTILE)
  test(`Slack shows ${JSON.stringify(text)} as plain text`, () => {
    const message = slackMessage(notificationWith(text));
    const objects = textObjects(message.blocks);
    assert.ok(objects.length > 15);
    for (const object of objects) {
      assert.doesNotMatch(object.text.replaceAll('\n', ''), UNPRINTABLE);
      assert.notEqual(object.text, '');
      assert.doesNotMatch(object.text, /<[!@#]|<(?!https:\/\/tester\.example)\w+:/);
      if (object.type === 'plain_text') {
        assert.equal(object.emoji, false);
        assert.ok(!object.text.includes('\n'));
        continue;
      }
      assert.equal(object.verbatim, true);
      const code = CODE_BLOCK.exec(object.text)?.[1];
      if (code === undefined) assert.match(object.text, OUR_MARKUP);
      else assert.ok(code.split('\n').length === 2, 'a record has two lines');
    }
    assert.equal(message.mrkdwn, false);
    assert.deepEqual([message.unfurl_links, message.unfurl_media], [false, false]);
    assert.doesNotMatch(message.text, UNPRINTABLE);
    assert.doesNotMatch(message.text, /[*_~`@#<>]|:\/\/|:[^\s:]+:|mailto:|^>|\n/);
  });

test('Slack posts keep ordinary names readable', () => {
  const name = 'Sale & <bad> 20% _off_ *now*: news@acme.example';
  const objects = textObjects(slackMessage(notificationWith(name)).blocks);
  const shown = objects.filter(({ type, text }) => type === 'plain_text' && text === name);
  assert.ok(shown.length >= 4);
});
