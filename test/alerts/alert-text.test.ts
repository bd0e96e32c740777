/** The texts of notifications, for each condition, opened and resolved. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IncidentEvent, RunSummary } from '../../src/alerts/alert-text.ts';
import { composeNotification } from '../../src/alerts/alert-text.ts';
import { alertMail } from '../../src/alerts/channels/alert-mail.ts';
import { slackMessage } from '../../src/alerts/channels/slack-message.ts';
import type { TestSummary } from '../../src/alerts/conditions/condition.ts';
import type { AlertIncidentRow, AlertRow } from '../../src/store/tables.generated.ts';

const CONFIG = { APP_URL: 'https://app.example.com' };
const RULE: AlertRow = {
  id: 'alt_1',
  name: 'Our rule',
  condition: 'score_below',
  threshold: 70,
  enabled: 1,
  channels: '["email"]',
  domain_id: null,
  tags: null,
  recipients: null,
  slack_webhook_url: null,
  last_triggered_at: null,
  reminder_hours: null,
  created_at: '2026-11-20T10:00:00.000Z',
};
const OPEN: AlertIncidentRow = {
  id: 'inc_1',
  alert_id: 'alt_1',
  subject: 'example.com',
  status: 'open',
  value: '{}',
  test_id: 'test_1',
  run_id: null,
  opened_at: '2026-11-21T10:00:00.000Z',
  resolved_at: null,
  resolution: null,
  closing_id: null,
  next_reminder_at: null,
  condition: 'score_below',
  threshold: 70,
};
const OVER = {
  status: 'resolved',
  resolved_at: '2026-11-21T13:25:00.000Z',
  resolution: 'condition_ended',
} as const;
const TEST: TestSummary = {
  id: 'test_1',
  checks: '[]',
  subject: 'Hello',
  score: 38,
  spf: 'pass',
  dkim: 'fail',
  dmarc: 'fail',
};
const GOOD: TestSummary = { ...TEST, id: 'test_2', score: 91, dkim: 'pass', dmarc: 'pass' };
const RUN: RunSummary = {
  findings: JSON.stringify([
    {
      target: '192.0.2.25',
      list: 'bl.spamcop.net',
      list_name: 'SpamCop',
      tier: 2,
      codes: ['127.0.0.2'],
      meaning: null,
    },
  ]),
  monitor: { id: 'mon_1', name: 'Our addresses', type: 'blocklist', domain_id: null },
};
const SPAMCOP = { zone: 'bl.spamcop.net', name: 'SpamCop', tier: 2 };

interface Case {
  condition: AlertRow['condition'];
  value: object;
  /** Replaces the test. */
  run?: RunSummary;
  subject?: string;
}

function notificationFor({ condition, value, run, subject }: Case, end?: TestSummary | null) {
  const isOver = end !== undefined;
  const incident: AlertIncidentRow = {
    ...OPEN,
    ...(isOver ? OVER : ({} as object)),
    ...(run ? { test_id: null, run_id: 'run_1' } : {}),
    subject: subject ?? OPEN.subject,
    value: JSON.stringify(value),
  };
  const event: IncidentEvent = {
    type: isOver ? 'resolved' : 'triggered',
    alert: { ...RULE, condition },
    incident,
    test: run ? null : isOver ? end : TEST,
    run: run ?? null,
  };
  return composeNotification(CONFIG, event);
}

const LOW: Case = { condition: 'score_below', value: { score: 38, threshold: 70 } };
const AUTH: Case = {
  condition: 'auth_fail',
  value: { spf: 'temperror', dkim: 'fail', dmarc: 'none' },
};
const MAIL_LISTED: Case = { condition: 'blocklist_hit', value: { lists: [SPAMCOP] } };
const LISTED: Case = { ...MAIL_LISTED, run: RUN, subject: '192.0.2.25' };

test('composeNotification titles state the problem and its resolution per condition', () => {
  const cases: [made: Case, opened: string, over: string][] = [
    [
      LOW,
      'Mail from example.com scored 38, below 70',
      'Mail from example.com scored 91, no longer below 70',
    ],
    [
      AUTH,
      'DKIM and DMARC do not pass for mail from example.com',
      'SPF, DKIM and DMARC pass again for mail from example.com',
    ],
    [
      { ...AUTH, value: { spf: 'softfail', dkim: 'pass', dmarc: null } },
      'SPF does not pass for mail from example.com',
      'SPF, DKIM and DMARC pass again for mail from example.com',
    ],
    [
      MAIL_LISTED,
      'Mail from example.com is affected by a blocklist: SpamCop',
      'Mail from example.com is no longer affected by a blocklist',
    ],
    [LISTED, '192.0.2.25 is listed by SpamCop', '192.0.2.25 is no longer listed'],
    [
      {
        ...LISTED,
        value: { lists: 'ABCDE'.split('').map((name) => ({ zone: name, name, tier: 1 })) },
      },
      '192.0.2.25 is listed by A, B, C and 2 more',
      '192.0.2.25 is no longer listed',
    ],
  ];
  for (const [made, opened, over] of cases) {
    const [first, last] = [notificationFor(made), notificationFor(made, GOOD)];
    assert.deepEqual([first.kind, first.title], ['Alert', opened]);
    assert.deepEqual([last.kind, last.title], ['Resolved', over]);
    assert.equal(alertMail(CONFIG, 'a@example.com', last).subject, `Resolved: ${over}`);
    assert.deepEqual(last.steps, []);
  }
});

test('composeNotification facts compare measured and expected values', () => {
  const [opened, over] = [notificationFor(LOW), notificationFor(LOW, GOOD)];
  assert.deepEqual(opened.facts, [
    ['From domain', 'example.com'],
    ['Score', '38 of 100'],
    ['Alerts below', '70'],
    ['Since', '21 Nov 2026, 10:00 UTC'],
    ['Message', 'Hello'],
    ['Rule', 'Our rule'],
  ]);
  assert.deepEqual(over.facts.slice(1, 5), [
    ['Score', '91 of 100 (was 38)'],
    ['Alerts below', '70'],
    ['Since', '21 Nov 2026, 10:00 UTC'],
    ['Until', '21 Nov 2026, 13:25 UTC'],
  ]);
  assert.deepEqual(notificationFor(AUTH, GOOD).facts.slice(1, 4), [
    ['SPF', 'pass (was temperror)'],
    ['DKIM', 'pass (was fail)'],
    ['DMARC', 'pass (was none)'],
  ]);
  assert.deepEqual(notificationFor(LISTED).facts.slice(0, 2), [
    ['Target', '192.0.2.25'],
    ['Listed by', 'SpamCop'],
  ]);
  assert.deepEqual(notificationFor(LISTED, null).facts[1], ['Was listed by', 'SpamCop']);
});

test('composeNotification names the target of a monitor run even after its deletion', () => {
  const found = { run_id: 'run_1', test_id: null, subject: '8.8.4.4' };
  const facts = (run: RunSummary | null, by: Partial<AlertIncidentRow> = found) => {
    const alert = { ...RULE, condition: 'blocklist_hit' } as const;
    const value = JSON.stringify(MAIL_LISTED.value);
    return composeNotification(CONFIG, {
      type: 'resolved',
      alert,
      test: null,
      run,
      incident: { ...OPEN, ...OVER, status: 'resolved', ...by, value },
    }).facts[0]![0];
  };
  assert.equal(facts(null), 'Target');
  assert.equal(facts(RUN), 'Target');
  assert.equal(facts({ ...RUN, monitor: { ...RUN.monitor, type: 'domain_health' } }), 'Domain');
  // A run can resolve what a test found.
  assert.equal(facts(RUN, {}), 'From domain');
});

test('composeNotification shows no score when the resolving test is unknown', () => {
  for (const end of [null, TEST]) {
    const { title, facts } = notificationFor(LOW, end);
    assert.equal(title, 'Mail from example.com no longer scores below 70');
    assert.equal(facts[1]![1], '38 of 100');
  }
});

test('composeNotification for a listing names the delisting steps and link', () => {
  const { steps, link } = notificationFor(LISTED);
  assert.match(steps[0]!.text, /First find and stop .* https:\/\/www\.spamcop\.net\//);
  assert.equal(link!.url, 'https://app.example.com/monitors/mon_1');
  // The run was deleted, or the operator added the list.
  for (const run of [
    { ...RUN, findings: '[]' },
    { ...RUN, findings: RUN.findings.replaceAll('bl.spamcop.net', 'own.example') },
  ])
    assert.match(notificationFor({ ...LISTED, run }).steps[0]!.text, /First find and stop/);
  const monitor = { ...RUN.monitor, type: 'domain_health', domain_id: 'dom_1' } as const;
  const byDomain = notificationFor({ ...LISTED, run: { findings: '[]', monitor } });
  assert.equal(byDomain.link!.url, 'https://app.example.com/domains/dom_1');
  assert.match(byDomain.steps[0]!.text, /First find and stop/);
});

test('composeNotification includes only fixes relevant to the condition', () => {
  const check = (id: string, category: string, gain: number, value: string) => ({
    id,
    category,
    gain,
    status: 'fail',
    title: `${id} is wrong.`,
    points: 1,
    fix: { text: 'Fix it.', record: { type: 'TXT', name: 'example.com', value } },
  });
  const checks = JSON.stringify([
    check('ip_blocklists', 'reputation', 1, 'x'),
    check('links', 'content', 2, 'x'.repeat(451)),
    check('dkim', 'authentication', 3, 'p=<the key>'),
    check('spf', 'authentication', 4, 'v=spf1 -all'),
  ]);
  const stepsOf = (made: Case) => {
    const { condition } = made;
    const incident = { ...OPEN, value: JSON.stringify(made.value) };
    const alert = { ...RULE, condition };
    const event = { type: 'triggered', alert, incident, run: null } as const;
    const { steps } = composeNotification(CONFIG, { ...event, test: { ...TEST, checks } });
    return steps.map(({ title, record }) => [title, record?.value ?? null]);
  };
  const [spf, dkim] = [
    ['spf is wrong.', 'v=spf1 -all'],
    ['dkim is wrong.', null],
  ];
  assert.deepEqual(stepsOf(LOW), [spf, dkim, ['links is wrong.', null]]);
  assert.deepEqual(stepsOf(AUTH), [spf, dkim]);
  assert.deepEqual(stepsOf(MAIL_LISTED), [['ip_blocklists is wrong.', 'x']]);
});

test('composeNotification marks samples in every channel', () => {
  const event = { type: 'test', alert: RULE, incident: null, test: null, run: null } as const;
  const notification = composeNotification(CONFIG, event);
  const { subject, text, html } = alertMail(CONFIG, 'a@example.com', notification);
  assert.equal(subject, 'Sample: Alerts from “Our rule” will arrive here');
  assert.match(text, /^Sample: /);
  assert.match(text.replace(/\s+/g, ' '), /Nothing is wrong, and no action is needed\./);
  assert.match(text, /Alerts when: a test scores below 70/);
  assert.ok(html.includes('>○&nbsp;Sample</td>') && !html.includes('class="fail"'));
  assert.match(slackMessage(notification).text, /^Sample: /);
});
