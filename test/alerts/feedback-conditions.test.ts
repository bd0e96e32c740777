/** Tables of days and answers for the conditions about what receivers report. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConditionId, conditionOf } from '../../src/alerts/conditions/index.ts';
import { evaluateCondition, resolutionOf } from '../../src/alerts/evaluate.ts';
import type { Observation, Observations } from '../../src/events/observations.ts';

const SUBJECT = { subject: 'example.com', domainId: 'dom_1' };
const tls = (succeeded: number, failed: number): Observation => ({
  kind: 'tls',
  ...SUBJECT,
  day: '2026-11-21',
  succeeded,
  failed,
  reporters: 2,
});
const complaints = (count: number, messages: number): Observation => ({
  kind: 'receiver_day',
  ...SUBJECT,
  day: '2026-11-21',
  complaints: count,
  messages,
  receivers: ['yahoo.com'],
  reporters: 3,
});

test('tls_failing needs 10 failed sessions and more than 1%; fewer say neither', () => {
  const cases: [succeeded: number, failed: number, answer: string][] = [
    [0, 0, 'unknown'],
    [1000, 0, 'no'],
    [990, 10, 'no'],
    [989, 10, 'yes'],
    [91, 9, 'unknown'],
    [0, 9, 'unknown'],
    [0, 10, 'yes'],
  ];
  for (const [succeeded, failed, answer] of cases) {
    const rule = { condition: 'tls_failing', threshold: null } as const;
    const found = evaluateCondition(rule, tls(succeeded, failed)).answer;
    assert.equal(found, answer, `${failed} of ${succeeded + failed}`);
  }
});

test('complaint_rate needs 5 complaints and the threshold; fewer above it say neither', () => {
  const cases: [count: number, messages: number, threshold: number | null, answer: string][] = [
    [0, 0, null, 'unknown'],
    [5, 5000, null, 'yes'],
    [5, 5001, null, 'no'],
    [4, 100, null, 'unknown'],
    [9, 5000, 2, 'no'],
    [10, 5000, 2, 'yes'],
    [0, 10, null, 'no'],
  ];
  for (const [count, messages, threshold, answer] of cases) {
    const rule = { condition: 'complaint_rate', threshold } as const;
    const found = evaluateCondition(rule, complaints(count, messages)).answer;
    assert.equal(found, answer, `${count} of ${messages}`);
  }
});

test('Without reports for a week, incidents about TLS and complaints are no longer watched', () => {
  const silent: [condition: 'tls_failing' | 'complaint_rate', observation: Observation][] = [
    ['tls_failing', { ...tls(0, 0), day: null } as Observation],
    ['complaint_rate', { ...complaints(0, 0), day: null } as Observation],
  ];
  for (const [condition, observation] of silent) {
    const { answer } = evaluateCondition({ condition, threshold: null }, observation);
    assert.equal(answer, 'unknown');
    const incident = { condition, subject: 'example.com', value: '{}', run_id: null };
    const context = { answer: 'unknown', blocklistsInUse: new Set<string>() } as const;
    assert.equal(resolutionOf(incident, observation, context), 'no_longer_watched');
  }
});

const source = (changes: Partial<Observations['source']>): Observation => ({
  kind: 'source',
  subject: 'src_1',
  domainId: 'dom_1',
  domain: 'example.com',
  name: 'Mailchimp',
  day: '2026-11-21',
  messages: 1200,
  failed: 180,
  reporters: 3,
  isOurs: true,
  failingSince: null,
  newSince: null,
  ...changes,
});

test('A failing source has recovered only if messages pass: not if it is silent, or is someone else’s', () => {
  const cases: [changes: Partial<Observations['source']>, resolution: string | null][] = [
    [{ failed: 0 }, 'condition_ended'],
    [{ day: null, messages: 0, failed: 0 }, 'no_longer_watched'],
    [{ isOurs: false }, 'no_longer_watched'],
    [{ failingSince: '2026-11-10', day: null, messages: 0, failed: 0 }, null],
  ];
  for (const [changes, resolution] of cases) {
    const rule = { condition: 'source_failing', threshold: null } as const;
    const { answer } = evaluateCondition(rule, source(changes));
    assert.notEqual(answer, 'yes');
    const incident = { condition: rule.condition, subject: 'src_1', value: '{}', run_id: null };
    const context = { answer: answer as 'no', blocklistsInUse: new Set<string>() };
    assert.equal(resolutionOf(incident, source(changes), context), resolution);
  }
});

test('The words of alerts name the day, the messages, and who counted them', () => {
  const since = { failingSince: '2026-11-20', newSince: '2026-11-20' };
  const cases: [condition: ConditionId, observation: Observation, lead: RegExp][] = [
    [
      'source_failing',
      source(since),
      /^On 21 Nov 2026, 180 of 1,200 messages .*, according to 3 r/,
    ],
    ['new_source', source(since), /^On 21 Nov 2026, 180 of 1,200 messages .*, according to 3 r/],
    ['tls_failing', tls(989, 10), /^On 21 Nov 2026, 10 of 999 sessions .*, according to 2 r/],
    [
      'complaint_rate',
      complaints(9, 4000),
      /^On 21 Nov 2026, Yahoo reported 9 complaints\. DMARC reports from 3 reporters count 4,000 m/,
    ],
  ];
  for (const [condition, observation, lead] of cases) {
    const verdict = evaluateCondition({ condition, threshold: null }, observation);
    assert.equal(verdict.answer, 'yes', condition);
    if (verdict.answer !== 'yes') continue;
    const opened = { subject: 'example.com', value: verdict.value, foundByRun: false };
    assert.match(conditionOf({ condition }).openedText(opened).lead, lead);
  }
});
