/** Tables of days and answers for the conditions about what receivers report. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateCondition, resolutionOf } from '../../src/alerts/evaluate.ts';
import type { Observation } from '../../src/events/observations.ts';

const SUBJECT = { subject: 'example.com', domainId: 'dom_1' };
const tls = (succeeded: number, failed: number): Observation => ({
  ...{ kind: 'tls', ...SUBJECT, day: '2026-11-21', succeeded, failed, reporters: 2 },
});
const complaints = (count: number, messages: number): Observation => ({
  ...{ kind: 'receiver_day', ...SUBJECT, day: '2026-11-21', complaints: count, messages },
  ...{ receivers: ['yahoo.com'], reporters: 3 },
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
