/** Names, subjects and records from outside: no service formats them or mentions anyone, and each takes them at any length. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notification } from '../../../src/alerts/alert-text.ts';
import { CHANNELS, type ChannelId } from '../../../src/alerts/channels/index.ts';
import type { AlertRow } from '../../../src/store/tables.generated.ts';
import { customService, SERVICES, type Service, slackCompatibleService } from './services.ts';

const HOSTILE = [
  '*bold* _italic_ ~struck~ `code` ```block``` ||spoiler||',
  '**bold** __under__ ~~gone~~',
  '> quoted',
  '# heading',
  '- item',
  '1. item',
  '<b>bold</b><script>alert(1)</script><br>',
  '&lt;b&gt; &amp; & &#64; &nbsp;',
  '<!channel> <!here> <users/all> <@&123> <@123> <#42> <:emoji:1> <at>Everyone</at>',
  '@everyone @here @all @channel @admin_bot #general /command /start@bot',
  '[Sign in](https://evil.example) <https://evil.example|Sign in> [x][1]',
  'https://evil.example/login http://evil.example mailto:a@evil.example tg://user?id=1',
  '{{DATE(2026-01-01T00:00:00Z, SHORT)}} @{triggerBody()}',
  ':smile: :rotating_light:',
  'a\u200bb\u2060c\ufeffd \u202eesrever\u2066 \u{e0041}\u{e0042}',
  'line one\nline two\r\n\u2028three\u0000\u001b[31m\ud800',
  'مرحبا بالعالم שלום עולם',
  '🦊'.repeat(10_000),
  '<&>"\'\\`*_'.repeat(1000),
  'x'.repeat(10_000),
  '👩‍👩‍👧‍👦'.repeat(2000),
];

const hostileNotification = (text: string): Notification => ({
  kind: 'Alert',
  title: text,
  lead: text,
  facts: Array.from({ length: 12 }, (_, index) => [`Fact ${index} ${text}`, text]),
  steps: Array.from({ length: 3 }, () => ({
    title: text,
    text,
    record: { type: 'TXT', name: text, value: text },
  })),
  followUp: text,
  link: { label: 'Open report', url: 'https://tester.example/tests/test_1?a="b"&c=<d>' },
  rule: text,
  incident: 'inc_01m7yrrt80evvkhj4agxvz441v',
});

/** Encrypted by nothing. */
const app = { secrets: { open: (text: string) => text } } as never;

/** What the service shows. Fails if it does not take the message, or formats what is not ours. */
function show(id: ChannelId, service: Service, notification: Notification): string {
  const settings = JSON.stringify(service.settings('https://service.example'));
  const rule = { id: 'alt_1', name: 'Rule', slack_webhook_url: settings } as AlertRow;
  const { post } = CHANNELS[id];
  const { body, headers = {}, url } = post!.message(notification, app, rule, null);
  const { pathname, search } = new URL(url ?? post!.url(app, rule)!);
  const request = {
    method: 'POST',
    path: pathname + search,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
  const { status = 200, body: answer } = service.respond(request);
  assert.ok(status < 300, `${status} ${String(answer)}`);
  assert.equal(service.shown.length, 1);
  const [{ text, links }] = service.shown as [Service['shown'][0]];
  if (notification.link && id !== 'slack')
    assert.deepEqual(links, [new URL(notification.link.url).href]);
  return text;
}

const INVISIBLE =
  /[\p{Cs}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]|[^\n\P{Cc}]/u;

for (const [id, start] of Object.entries({
  ...SERVICES,
  slack: () => slackCompatibleService(5000),
  custom: customService,
}))
  test(`Hostile texts of any length do not format or mention anything in ${id}`, () => {
    for (const text of HOSTILE) {
      const shown = show(id as ChannelId, start(), hostileNotification(text));
      assert.doesNotMatch(shown, INVISIBLE, text);
      assert.match(shown, /Alert: /);
      assert.match(shown, /incident|…/);
    }
  });

test('Mattermost and Rocket.Chat format and link nothing from outside', () => {
  for (const text of HOSTILE) {
    const shown = show('slack', slackCompatibleService(5000), hostileNotification(text));
    const ours = shown
      .replace(/```\n[^`]*\n```/g, '')
      .replace(/\*\*(?:What to do|Fact \d+[^*]*)\*\*/g, '')
      .replace('Open report: https://tester.example/tests/test_1?a=%22b%22&c=%3Cd%3E', '');
    assert.doesNotMatch(ours, /[@#]|:\/\//, text);
    const outsideOfCode = ours.replace(/`[^`\n]+`/g, '');
    assert.doesNotMatch(outsideOfCode, /[*_~`@#<>]|:\/\/|\]\(|:[^\s:]+:/, text);
  }
});

test('Mattermost and Rocket.Chat show values to copy as they are', () => {
  const notification = hostileNotification('x');
  notification.facts = [['Selector', '_dmarc *s1*']];
  assert.match(
    show('slack', slackCompatibleService(5000), notification),
    /\*\*Selector\*\*: `_dmarc \*s1\*`/,
  );
});

const NAME = 'Sale & <bad> 20% _off_ *now*: news@acme.example';
for (const id of ['teams', 'discord', 'ntfy', 'pagerduty'] as const)
  test(`Ordinary names stay readable in ${id}`, () => {
    const named = {
      ...hostileNotification('Plain'),
      facts: [['Message', NAME]] as [string, string][],
    };
    assert.ok(show(id, SERVICES[id](), named).includes(NAME));
  });

test('The most important parts stay when a message is too long', () => {
  const long = hostileNotification('🦊'.repeat(10_000));
  for (const id of ['discord', 'telegram', 'ntfy', 'apprise'] as const)
    assert.match(
      show(id, SERVICES[id](), long),
      /…\n\n(?:Open report(?:: \S+)?\n\n)?Rule 🦊+/u,
      id,
    );
});
