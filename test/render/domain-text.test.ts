/** The health of a domain as text: what comes first, records to copy, and nothing that moves the cursor. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { DomainCheck, DomainHealth } from '../../src/analysis/domain/domain-health.ts';
import { domainText } from '../../src/render/domain-text.ts';

const check = (changes: Partial<DomainCheck>): DomainCheck => ({
  id: 'mx',
  label: 'Mail servers (MX)',
  category: 'infrastructure',
  status: 'pass',
  severity: null,
  title: 'Mail to example.com can be delivered.',
  detail: 'Replies find a server.',
  evidence: {},
  points: 4,
  reference: { name: 'RFC 5321 §5.1', url: 'https://www.rfc-editor.org/rfc/rfc5321' },
  fix: null,
  ...changes,
});

const health = (checks: DomainCheck[], changes: Partial<DomainHealth> = {}): DomainHealth => ({
  name: 'example.com',
  status: 'critical',
  score: 40,
  summary: 'example.com needs attention: 1 critical problem and 2 warnings.',
  checks,
  ...changes,
});

const LONG = `v=spf1 ${'include:spf.example.com '.repeat(10)}-all`;
const MIXED = health([
  check({ severity: 'warning', status: 'warn', points: 2, title: 'A mild thing.' }),
  check({ severity: 'warning', status: 'fail', points: 3, title: 'A worse thing.' }),
  check({
    severity: 'critical',
    status: 'fail',
    points: 3,
    title: 'A grave thing.',
    fix: { text: 'Publish this.', record: { type: 'TXT', name: 'example.com', value: LONG } },
  }),
  check({}),
  check({ status: 'info', title: 'Good to know.' }),
  check({ status: 'error', title: 'Not shown.', detail: 'No answer came in time.' }),
]);

test('verdict, then what to fix by gravity, then a line a check', () => {
  const text = domainText(MIXED, { width: 80, color: false });
  const order = [
    '40/100  critical  example.com\nexample.com needs attention',
    'Fix these first\n  ✗ A grave thing.',
    '  ! A worse thing.',
    '  ! A mild thing.',
    'Checks\n  ! Mail servers (MX)         A mild thing.',
    '  ! Mail servers (MX)         A worse thing.',
    '  ✗ Mail servers (MX)         A grave thing.',
    '  ✓ Mail servers (MX)         Mail to example.com',
    '  i Mail servers (MX)         Good to know.',
    '  ? Mail servers (MX)         No answer came in time.',
  ].map((piece) => text.indexOf(piece));
  assert.ok(
    order.every((at, index) => at >= 0 && at > (order[index - 1] ?? -1)),
    `${order}\n${text}`,
  );
});

test('a record stands alone on its line, whole, and all else fits the width', () => {
  for (const width of [40, 80, 200]) {
    const lines = domainText(MIXED, { width, color: false }).split('\n');
    const record = lines.filter((line) => line.includes('v=spf1'));
    assert.deepEqual(record, [`      example.com TXT ${LONG}`]);
    const others = lines.filter((line) => line !== record[0]);
    assert.ok(
      others.every((line) => line.length <= Math.max(width, 52)),
      others.join('\n'),
    );
  }
});

test('colour changes nothing but colour', () => {
  const coloured = domainText(MIXED, { width: 80, color: true });
  assert.notEqual(coloured, stripVTControlCharacters(coloured));
  assert.equal(stripVTControlCharacters(coloured), domainText(MIXED, { width: 80, color: false }));
});

test('with nothing to fix that is said, and otherwise only of what is known', () => {
  const text = (changes: Partial<DomainHealth>) =>
    domainText(health([check({})], changes), { width: 80, color: false });
  assert.match(
    text({ status: 'healthy', score: 100 }),
    /^100\/100 {2}healthy[\s\S]*nothing to fix\./,
  );
  assert.match(text({ status: 'unknown', score: null }), /^unknown {2}example\.com/);
  assert.match(
    text({ status: 'unknown', score: null }),
    /In what could be found out there is noth/,
  );
});

test('what comes from the DNS cannot move the cursor', () => {
  const evil = '\u001b[2J\r\u0007\u202e';
  const text = domainText(
    health([
      check({
        severity: 'critical',
        status: 'fail',
        title: `a${evil}`,
        detail: `b${evil}`,
        label: `c${evil}`,
        fix: { text: `d${evil}`, record: { type: 'TXT', name: `e${evil}`, value: `f${evil}` } },
      }),
    ]),
    { width: 80, color: false },
  );
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
});
