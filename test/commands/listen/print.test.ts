/** What is printed of deliveries: a line for each type of event, nothing that moves the cursor, colour where wanted. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { receiptJson, receiptText, summarizeEvent } from '../../../src/commands/listen/print.ts';
import type { Receipt } from '../../../src/commands/listen/receive.ts';
import { EVENT_TYPES } from '../../../src/events/events.ts';

const PLAIN = { width: 80, color: false };

function receipt(change: Partial<Receipt> = {}): Receipt {
  const event = { id: 'evt_1', type: 'test.failed', livemode: true, data: {} };
  return {
    at: Date.UTC(2026, 10, 21, 10, 0, 2),
    event,
    json: event,
    verification: { verified: true, isPreviousSecret: false },
    delivery: 1,
    status: 200,
    fault: null,
    forwarded: false,
    ...change,
  };
}

const SUMMARIES: Record<string, [data: Record<string, unknown>, line: string]> = {
  'test.completed': [
    {
      score: 87,
      grade: 'B',
      subject: 'News',
      from_address: 'a@example.com',
      auth_results: { spf: 'pass', dkim: null, dmarc: 'fail' },
    },
    'score 87, grade B, “News”, from a@example.com, SPF pass, DMARC fail',
  ],
  'test.failed': [
    { failure_reason: 'not_received', address: 'abc@inbox.example' },
    'not_received, address abc@inbox.example',
  ],
  'test.placement_settled': [
    { inbox_placement: { gmail: 'promotions', gmx: 'spam' }, subject: 'News' },
    'gmail promotions, gmx spam, “News”',
  ],
  'feedback.stopped': [
    { name: 'example.com', last_report_at: '2026-11-22T01:00:00.000Z' },
    'example.com, last report 2026-11-22T01:00:00.000Z',
  ],
  'complaint.received': [
    { kind: 'abuse', subject: 'News', provider: 'mailbox.example' },
    'abuse, “News”, at mailbox.example',
  ],
  'bounce.received': [
    {
      class: 'policy',
      status_code: '5.7.26',
      provider: 'mailbox.example',
      diagnostic: '550 5.7.26 no',
    },
    'policy, 5.7.26, at mailbox.example, “550 5.7.26 no”',
  ],
  'domain.verified': [{ name: 'example.com' }, 'example.com'],
  'domain.verification_failed': [{ name: 'example.com' }, 'example.com'],
  'domain.health_changed': [
    { name: 'example.com', health: { status: 'critical' }, previous_health: 'healthy' },
    'example.com, now critical, before healthy',
  ],
  'domain.records_changed': [
    {
      name: 'example.com',
      changes: [
        { type: 'TXT', name: '_dmarc.example.com', before: ['a'], after: ['b'] },
        { type: 'MX', name: 'example.com', before: [], after: ['b'] },
      ],
    },
    'example.com, TXT _dmarc.example.com, MX example.com',
  ],
  'monitor.alert': [
    { status: 'alerting', monitor: { name: 'Lists', type: 'blocklist' } },
    'Lists, blocklist, alerting',
  ],
  'alert.triggered': [
    { alert: { name: 'Low score' }, subject: 'example.com', value: 40 },
    'Low score, example.com, value 40',
  ],
  'alert.resolved': [
    { alert: { name: 'Low score' }, subject: 'example.com', value: 90, resolution: 'recovered' },
    'Low score, example.com, value 90, recovered',
  ],
};

test('summarizeEvent prints one line per event type and omits missing fields', () => {
  for (const type of EVENT_TYPES) {
    // New types need no line here: their declarations say what is printed.
    const [data, line] = SUMMARIES[type] ?? [{}, null];
    const event = { id: 'evt_1', type, livemode: true, data };
    if (line !== null) assert.equal(summarizeEvent(event), line);
    const bare = summarizeEvent({ ...event, data: {} });
    assert.ok(bare === '' || bare === 'no score', bare);
  }
  assert.equal(summarizeEvent({ id: 'e', type: 'new.type', livemode: true, data: {} }), '');
});

test('summarizeEvent treats Object.prototype names as unknown event types', () => {
  for (const type of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const event = { id: 'evt_1', type, livemode: true, data: {} };
    assert.equal(summarizeEvent(event), '');
    assert.ok(receiptText(receipt({ event }), PLAIN).includes(`  ${type}  evt_1  live\n`));
  }
});

test('receiptText strips control characters and truncates untrusted text', () => {
  const nasty = `\u001b[2J\r\u009b1A\u202e${'x'.repeat(500)}`;
  const data = { failure_reason: nasty, address: { not: 'text' } };
  const event = { id: nasty, type: nasty, livemode: false, data };
  for (const type of [nasty, 'test.failed']) {
    const text = receiptText(
      receipt({ event: { ...event, type }, fault: nasty, status: 502 }),
      PLAIN,
    );
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    assert.ok(text.length < 1200, String(text.length));
  }
});

test('receiptText shows verification, delivery and response; color changes only escape codes', () => {
  const cases: [Partial<Receipt>, string[]][] = [
    [{}, ['10:00:02  test.failed  evt_1  live', '✓ verified', 'responded 200']],
    [
      { verification: { verified: false, reason: 'it is old' }, status: 400, fault: 'it is old' },
      ['10:00:02  test.failed  evt_1  live', '✗ not verified: it is old', 'responded 400'],
    ],
    [
      { verification: null, delivery: 3, forwarded: true, status: 204 },
      [
        '10:00:02  test.failed  evt_1  live',
        '✗ not verified: no signing secret',
        'repeated: delivery 3 of this event',
        'responded 204 from your program',
      ],
    ],
    [
      { event: null, verification: null, status: 413, fault: 'too large' },
      ['10:00:02  no event', 'responded 413: too large'],
    ],
  ];
  for (const [change, lines] of cases) {
    const plain = receiptText(receipt(change), PLAIN);
    assert.equal(plain, `${lines.join('\n          ')}\n\n`);
    const colored = receiptText(receipt(change), { width: 80, color: true });
    assert.notEqual(colored, plain);
    assert.equal(stripVTControlCharacters(colored), plain);
  }
});

test('receiptJson prints one JSON line with the reason for a rejection', () => {
  const refused = {
    verification: { verified: false, reason: 'it is old' } as const,
    fault: 'it is old',
  };
  const text = receiptJson(receipt({ ...refused, status: 400 }));
  assert.match(text, /^[^\n]+\n$/);
  const { verified, former_secret, fault, answered } = JSON.parse(text);
  assert.deepEqual([verified, former_secret, fault, answered], [false, null, 'it is old', 400]);
  assert.equal(JSON.parse(receiptJson(receipt({ verification: null }))).verified, null);
});
