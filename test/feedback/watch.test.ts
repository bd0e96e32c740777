/** When a source is new or failing, from its days alone. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayBefore } from '../../src/feedback/sums.ts';
import {
  recoveryReason,
  type SourceDay,
  sourceState,
} from '../../src/feedback/watch/source-state.ts';

const TODAY = '2026-11-21';
/** Before the newest day of which all reports have arrived. */
const ago = (days: number): string => dayBefore(TODAY, days + 1);
const reportsSince = (daysAgo: number): string[] =>
  Array.from({ length: daysAgo }, (_, i) => ago(daysAgo - i));

/** `messages` and how many of them pass; failing ones have the given disposition. */
function day(
  daysAgo: number,
  messages: number,
  passed: number,
  disposition: 'none' | 'quarantined' | 'rejected' = 'none',
): SourceDay {
  const failed = messages - passed;
  return {
    day: ago(daysAgo),
    messages,
    passed,
    dkim: passed,
    spf: 0,
    forwarded: 0,
    quarantined: disposition === 'quarantined' ? failed : 0,
    rejected: disposition === 'rejected' ? failed : 0,
  };
}

const days = (from: number, to: number, ...of: [number, number]): SourceDay[] =>
  Array.from({ length: from - to + 1 }, (_, i) => day(from - i, ...of));

const SOURCE = { mark: null, claim: null, label: null, new_since: null, failing_since: null };
const SERVICE = { ...SOURCE, key: 'service mailchimp' };
const NETWORK = { ...SOURCE, key: 'network 192.0.2.0/24' };
const DOMAIN = { today: TODAY, reportDays: reportsSince(79) };

test('A source that belongs to the domain fails only if it passed before', () => {
  const good = days(40, 3, 100, 100);
  const cases: [what: string, row: typeof SERVICE, days: SourceDay[], since: string | null][] = [
    ['passes', SERVICE, [...good, day(1, 100, 100)], null],
    ['6 % fail, but only 6 messages', SERVICE, [...good, day(1, 100, 94)], null],
    ['10 messages, but only 5 %', SERVICE, [...good, day(1, 200, 190)], null],
    ['11 messages, more than 5 %', SERVICE, [...good, day(1, 200, 189)], ago(1)],
    [
      'a day that failed and a later one that passes',
      SERVICE,
      [...good, day(2, 100, 0), day(1, 100, 100)],
      null,
    ],
    ['its first day', SERVICE, [day(1, 100, 0)], null],
    ['never passed', SERVICE, days(40, 1, 100, 0), null],
    ['a day too long ago', SERVICE, [...days(40, 9, 100, 100), day(8, 100, 0)], null],
    [
      'an outage long ago, and a new one',
      SERVICE,
      [...days(60, 50, 100, 0), ...days(49, 2, 100, 100), day(1, 100, 0)],
      ago(1),
    ],
    ['reports that are not complete', SERVICE, [...good, day(0, 100, 0)], null],
    ['a spoofer', NETWORK, days(40, 1, 100, 0), null],
    [
      'marked as foreign',
      { ...SERVICE, mark: 'foreign' as never },
      [...good, day(1, 100, 0)],
      null,
    ],
    ['marked as own', { ...NETWORK, mark: 'own' as never }, [...good, day(1, 100, 0)], ago(1)],
  ];
  for (const [what, row, given, since] of cases)
    assert.equal(sourceState(row, given, DOMAIN).failing_since, since, what);
});

test('A failing source recovers when its latest messages pass, or after two silent weeks', () => {
  const cases: [what: string, days: SourceDay[], recovers: boolean][] = [
    ['still fails', [day(3, 100, 0), day(1, 100, 0)], false],
    ['passes', [day(3, 100, 0), day(1, 100, 100)], true],
    ['5 % fail', [day(3, 100, 0), day(1, 100, 95)], true],
    ['few messages pass', [day(3, 100, 0), day(1, 9, 9)], false],
    ['few messages of two days pass', [day(3, 100, 0), day(2, 5, 5), day(1, 5, 5)], true],
    ['silent', [day(3, 100, 0)], false],
  ];
  for (const [what, given, recovers] of cases) {
    const row = { ...SERVICE, failing_since: ago(3) };
    const { failing_since } = sourceState(row, given, DOMAIN);
    assert.equal(failing_since, recovers ? null : ago(3), what);
  }
  const foreign = { ...SERVICE, mark: 'foreign' as never, failing_since: ago(3) };
  assert.equal(sourceState(foreign, [day(3, 100, 0)], DOMAIN).failing_since, null);
  const silent = { ...SERVICE, failing_since: ago(15) };
  assert.equal(sourceState(silent, [day(15, 100, 0)], DOMAIN).failing_since, null);
});

test('A recovery says why: nothing is called passing that is silent or not yet complete', () => {
  const failing = { mark: null, failing_since: ago(15) };
  const reasonOf = (given: SourceDay[], mark: 'own' | 'foreign' | null = null) =>
    recoveryReason({ ...failing, mark }, given, TODAY);
  assert.equal(reasonOf([day(15, 100, 0), day(1, 100, 100)]), 'passes');
  assert.equal(reasonOf([day(15, 100, 0)]), 'silent');
  // Reports of the current day are not complete, so they decide nothing.
  assert.equal(reasonOf([day(15, 100, 0), day(0, 50, 0)]), 'silent');
  assert.equal(reasonOf([day(1, 100, 100)], 'foreign'), 'not_ours');
});

test('A source is new if it was not seen for 60 days and its messages arrive', () => {
  const cases: [what: string, row: typeof NETWORK, days: SourceDay[], since: string | null][] = [
    ['few messages', NETWORK, [day(1, 9, 9)], null],
    ['passing messages', NETWORK, [day(1, 10, 10)], ago(1)],
    ['failing ones that arrive', NETWORK, [day(1, 10, 0)], ago(1)],
    ['failing ones that are rejected', NETWORK, [day(1, 500, 0, 'rejected')], null],
    ['failing ones that go to spam', NETWORK, [day(1, 500, 0, 'quarantined')], null],
    ['ten that pass among rejected ones', NETWORK, [day(1, 500, 10, 'rejected')], ago(1)],
    ['seen 60 days before', NETWORK, [day(61, 1, 1), day(1, 10, 10)], null],
    ['seen 61 days before', NETWORK, [day(62, 1, 1), day(1, 10, 10)], ago(1)],
    ['seen all the time, few messages', NETWORK, [...days(40, 2, 2, 2), day(1, 10, 10)], null],
    ['slow start', NETWORK, [...days(6, 2, 2, 2), day(1, 10, 10)], ago(1)],
    ['too long ago', NETWORK, [day(9, 10, 10)], null],
    ['classified', { ...NETWORK, mark: 'own' as never }, [day(1, 10, 10)], null],
    ['named', { ...NETWORK, label: 'Shop' as never }, [day(1, 10, 10)], null],
  ];
  for (const [what, row, given, since] of cases)
    assert.equal(sourceState(row, given, DOMAIN).new_since, since, what);
  const young = { ...DOMAIN, reportDays: reportsSince(14) };
  assert.equal(sourceState(NETWORK, [day(1, 10, 10)], young).new_since, null);
  const established = { ...DOMAIN, reportDays: reportsSince(15) };
  assert.equal(sourceState(NETWORK, [day(1, 10, 10)], established).new_since, ago(1));
});

test('A source is new for 14 days, or until somebody says what it is', () => {
  const at = (since: string, more: object = {}) =>
    sourceState({ ...NETWORK, new_since: since as never, ...more }, [day(1, 10, 10)], DOMAIN)
      .new_since;
  assert.equal(at(ago(12)), ago(12));
  assert.equal(at(ago(13)), null);
  assert.equal(at(ago(2), { mark: 'foreign' }), null);
  // Older reports that arrived later show it 60 days before, or 61.
  const after = (first: number) =>
    sourceState(
      { ...NETWORK, new_since: ago(2) as never },
      [day(first, 1, 1), day(2, 10, 10)],
      DOMAIN,
    ).new_since;
  assert.equal(after(62), null);
  assert.equal(after(63), ago(2));
  // It began slowly.
  assert.equal(after(8), ago(2));
  // It does not become new again.
  assert.equal(sourceState(NETWORK, days(15, 1, 10, 10), DOMAIN).new_since, null);
});
