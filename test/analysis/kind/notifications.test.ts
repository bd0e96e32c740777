/** Notifications of programs about what somebody did, and promotions that pretend to be one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listUnsubscribeCheck } from '../../../src/analysis/checks/list-unsubscribe.ts';
import { oneClick } from '../../../src/analysis/checks/one-click.ts';
import { classifyMessage } from '../../../src/analysis/kind.ts';
import { contextFor, runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

type Fields = Record<string, string>;

const UNSUBSCRIBE: Fields = { 'List-Unsubscribe': '<https://app.example/unsubscribe/1>' };
const PROJECT: Fields = { 'List-Id': 'tools/website <11.tools.git.example>', ...UNSUBSCRIBE };
const REPLY: Fields = {
  'In-Reply-To': '<issue_7@git.example>',
  References: '<issue_7@git.example>',
};
const AUTOMATIC: Fields = { 'Auto-Submitted': 'auto-generated' };

const html = (text: string): string =>
  `<html><body><p>${text}</p><p><a href="https://app.example/7">View it</a><br>You receive this email because of your account. <a href="https://app.example/unsubscribe/1">Unsubscribe</a> from this thread.</p></body></html>`;

const message = (subject: string, text: string, fields: Fields) =>
  goodMessage(
    {
      Subject: `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Transfer-Encoding': '8bit',
      ...fields,
    },
    `${html(text)}\n`,
  );

const NOTIFICATIONS: [name: string, subject: string, text: string, fields: Fields][] = [
  [
    'GitLab',
    'Re: website | Coupon field at checkout (#7)',
    'Ana commented: The coupon code SAVE20 gives 20% off twice. Can we ship the newsletter form later?',
    {
      ...PROJECT,
      ...REPLY,
      'X-GitLab-Project': 'website',
      'X-GitLab-NotificationReason': 'subscribed',
    },
  ],
  [
    'GitHub',
    '[tools/cli] Add a sale page (PR #12)',
    'What changed',
    { ...PROJECT, 'X-GitHub-Reason': 'review_requested' },
  ],
  [
    'Forgejo',
    'Re: [tools/cli] Crash (#3)',
    'I see it too.',
    { ...PROJECT, ...REPLY, 'X-Forgejo-Repository': 'cli' },
  ],
  ['Gitea', '[tools/cli] Crash (#3)', 'It crashes.', { ...PROJECT, 'X-Gitea-Repository': 'cli' }],
  [
    'Jira',
    '[JIRA] (SHOP-7) Black Friday banner',
    'Jan changed the status to Done.',
    { ...UNSUBSCRIBE, Precedence: 'bulk', 'X-JIRA-FingerPrint': 'a1', ...AUTOMATIC },
  ],
  [
    'Discourse',
    '[Forum] Re: Which boots?',
    'I bought mine at a clearance.',
    { ...PROJECT, ...REPLY, 'X-Discourse-Post-Id': '9', ...AUTOMATIC },
  ],
  [
    'Phabricator',
    '[Differential] D12: Fix',
    'ana accepted this revision.',
    { ...PROJECT, 'X-Phabricator-Sent-This-Message': 'Yes', Precedence: 'bulk' },
  ],
  [
    'Redmine',
    '[Website - Bug #7] Crash',
    'Issue #7 has been updated by Jan.',
    { ...UNSUBSCRIBE, 'X-Redmine-Issue-Id': '7', ...AUTOMATIC },
  ],
  [
    'Bugzilla',
    '[Bug 7] Crash',
    'Jan changed the bug.',
    { ...UNSUBSCRIBE, 'X-Bugzilla-Reason': 'CC' },
  ],
  [
    'Gerrit',
    'Change in website[main]: Fix',
    'Jan has uploaded this change.',
    { ...PROJECT, 'X-Gerrit-MessageType': 'newchange' },
  ],
  [
    'a wiki, by its words',
    'Lucie a commenté la page Congés',
    'Une nouvelle version est prête.',
    UNSUBSCRIBE,
  ],
  [
    'a task list, by its words',
    'Jan hat Ihnen zugewiesen: Rechnung prüfen',
    'Fällig am Freitag.',
    { ...UNSUBSCRIBE, ...AUTOMATIC },
  ],
  [
    'a board, by its words',
    'Ana mentioned you on the card Launch',
    'Can you look at this?',
    { ...UNSUBSCRIBE, 'X-SG-EID': 'a' },
  ],
  [
    'any program in a thread',
    'Re: Build 7',
    'Build 7 is fixed.',
    { ...PROJECT, ...REPLY, ...AUTOMATIC },
  ],
];

for (const [name, subject, text, fields] of NOTIFICATIONS)
  test(`A notification is transactional although it has List-Unsubscribe: ${name}`, async () => {
    const raw = message(subject, text, fields);
    const context = await contextFor({ message: raw });
    const { kind, confidence, reasons } = context.fact(classifyMessage);
    assert.equal(kind, 'transactional', reasons.join('\n'));
    assert.equal(confidence, 'likely', reasons.join('\n'));
    assert.match(reasons[0]!, /^It is a notification/);
    for (const check of [oneClick, listUnsubscribeCheck])
      assert.equal((await runCheck(check, { message: raw })).status, 'skipped');
  });

const PROMOTION =
  'Summer sale: 40% off everything, today only. Use the discount code SUMMER40. <a href="https://shop.example/products/1?utm_campaign=summer">Shop now</a>';

const PRETENDERS: [name: string, fields: Fields][] = [
  ['Auto-Submitted', { ...UNSUBSCRIBE, ...AUTOMATIC }],
  ['a field of GitHub', { ...UNSUBSCRIBE, 'X-GitHub-Reason': 'mention' }],
  [
    'a field of GitHub, and Auto-Submitted',
    { ...PROJECT, ...AUTOMATIC, 'X-GitHub-Reason': 'mention' },
  ],
  [
    'a field of Jira, sent by a campaign tool',
    { ...UNSUBSCRIBE, 'X-JIRA-FingerPrint': 'a', 'X-Campaign': '7' },
  ],
];

for (const [name, fields] of PRETENDERS)
  test(`A promotion is marketing, whatever its fields say: ${name}`, async () => {
    const context = await contextFor({ message: message('Summer sale', PROMOTION, fields) });
    const { kind, confidence, reasons } = context.fact(classifyMessage);
    assert.equal(kind, 'marketing', reasons.join('\n'));
    assert.notEqual(confidence, 'uncertain', reasons.join('\n'));
  });
