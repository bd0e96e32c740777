/** Tables of facts and verdicts for each condition: yes, no, and unknown. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONDITIONS, OBSERVED_ON } from '../../src/alerts/conditions/index.ts';
import { evaluateCondition, resolutionOf } from '../../src/alerts/evaluate.ts';
import type { Observation } from '../../src/events/observations.ts';
import { ALL_DOMAINS } from '../../src/feedback/storage/watch-job.ts';
import { observeTest } from '../../src/mailtests/observe.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';

const TEST = {
  livemode: 1,
  from_domain: 'example.com',
  score: 80,
  spf: 'pass',
  dkim: 'pass',
  dmarc: 'pass',
  checks: null,
};

type Given = Partial<Omit<typeof TEST, 'score' | 'checks' | 'spf' | 'dkim'>> & {
  score?: number | null;
  spf?: string | null;
  dkim?: string | null;
  checks?: string | null;
};

function testWith(given: Given): Observation {
  const [one] = observeTest({ ...TEST, ...given } as TestRow);
  return one!;
}

/** Shares of 100 and 20 bytes, of which so many are in use. */
const storageOf = (total: number, unverified: number): Observation => ({
  kind: 'feedback_storage',
  subject: ALL_DOMAINS,
  domainId: null,
  used: { total, unverified },
  limit: { total: 100, unverified: 20 },
  percent: Math.floor(Math.max(total / 100, unverified / 20) * 100),
});

const scoreBelow = { condition: 'score_below', threshold: 70 } as const;
const authFail = { condition: 'auth_fail', threshold: null } as const;
const blocklistHit = { condition: 'blocklist_hit', threshold: null } as const;

test('score_below triggers below the threshold; a missing score is unknown', () => {
  const cases: [score: number | null, threshold: number | null, answer: string][] = [
    [69, 70, 'yes'],
    [70, 70, 'no'],
    [0, 0, 'no'],
    [0, 1, 'yes'],
    [99, 100, 'yes'],
    [69, null, 'yes'],
    [70, null, 'no'],
    [null, 100, 'unknown'],
  ];
  for (const [score, threshold, answer] of cases)
    assert.equal(
      evaluateCondition({ ...scoreBelow, threshold }, testWith({ score })).answer,
      answer,
      `${score} below ${threshold}`,
    );
  assert.deepEqual(evaluateCondition(scoreBelow, testWith({ score: 3 })), {
    answer: 'yes',
    value: { score: 3, threshold: 70 },
  });
});

test('auth_fail triggers on any known result but pass; resolving needs three passes', () => {
  const cases: [spf: string | null, dkim: string | null, dmarc: string, answer: string][] = [
    ['pass', 'pass', 'pass', 'no'],
    ['fail', 'pass', 'pass', 'yes'],
    ['softfail', 'pass', 'pass', 'yes'],
    ['pass', 'none', 'pass', 'yes'],
    ['pass', 'pass', 'permerror', 'yes'],
    ['temperror', 'pass', 'pass', 'unknown'],
    ['temperror', 'fail', 'pass', 'yes'],
    [null, 'pass', 'pass', 'unknown'],
    [null, null, 'temperror', 'unknown'],
    [null, 'pass', 'fail', 'yes'],
  ];
  for (const [spf, dkim, dmarc, answer] of cases)
    assert.equal(
      evaluateCondition(authFail, testWith({ spf, dkim, dmarc })).answer,
      answer,
      `${spf} ${dkim} ${dmarc}`,
    );
});

test('feedback_storage triggers from the threshold on, by the fuller of the two shares', () => {
  const cases: [total: number, unverified: number, threshold: number | null, answer: string][] = [
    [79, 0, null, 'no'],
    [80, 0, null, 'yes'],
    [30, 16, null, 'yes'],
    [30, 15, null, 'no'],
    [10, 0, 10, 'yes'],
    [99, 19, 100, 'no'],
    [100, 0, 100, 'yes'],
    [0, 0, 10, 'no'],
  ];
  const condition = 'feedback_storage';
  for (const [total, unverified, threshold, answer] of cases)
    assert.equal(
      evaluateCondition({ condition, threshold }, storageOf(total, unverified)).answer,
      answer,
      `${total} and ${unverified} from ${threshold}`,
    );
  assert.deepEqual(evaluateCondition({ condition, threshold: 50 }, storageOf(60, 3)), {
    answer: 'yes',
    value: {
      percent: 60,
      used: 60,
      limit: 100,
      unverified: 3,
      unverified_limit: 20,
      threshold: 50,
    },
  });
});

/** `1:listed` is a tier 1 list with a listing. Each has its own zone, starting with `a.example`. */
function checksWith(...lists: string[]): string {
  const evidence = {
    lists: lists.map((list, i) => {
      const [tier, status] = list.split(':');
      const letter = 'abcdef'[i];
      return { zone: `${letter}.example`, name: `List ${letter}`, tier: Number(tier), status };
    }),
  };
  return JSON.stringify([
    { id: 'ip_blocklists', evidence },
    { id: 'link_blocklists', evidence: {} },
  ]);
}

test('blocklist_hit triggers on tier 1 and 2 listings; failed lookups are unknown', () => {
  const cases: [lists: string[], answer: string][] = [
    [['1:listed', '2:not_listed'], 'yes'],
    [['1:not_listed', '2:listed'], 'yes'],
    [['1:error', '2:listed'], 'yes'],
    [['1:not_listed', '3:listed'], 'no'],
    [['1:not_listed', '2:not_listed'], 'no'],
    [['1:not_listed', '2:error'], 'unknown'],
    [['1:not_listed', '2:left_out'], 'no'],
    [['1:not_listed', '3:error'], 'no'],
    [['1:left_out', '2:left_out'], 'unknown'],
    [['3:listed', '3:not_listed'], 'unknown'],
    [[], 'unknown'],
  ];
  for (const [lists, answer] of cases)
    assert.equal(
      evaluateCondition(blocklistHit, testWith({ checks: checksWith(...lists) })).answer,
      answer,
      lists.join(' '),
    );
  assert.equal(evaluateCondition(blocklistHit, testWith({ checks: null })).answer, 'unknown');
});

/** A check that queried these domains. */
const domainCheck = (domains: string[], ...lists: [zone: string, status: string][]) => ({
  id: 'domain_blocklists',
  evidence: {
    domains: domains.map((name) => ({ name, roles: ['from'] })),
    lists: lists.map(([zone, status]) => ({ zone, name: zone, tier: 1, status })),
  },
});

const IN_USE = ['a.example', 'b.example', 'c.example'];

/** Whether a "no" resolves the incident. */
const ends = (
  run_id: string | null,
  opened: unknown,
  observed: Observation,
  inUse: string[] = IN_USE,
): boolean =>
  resolutionOf(
    { ...blocklistHit, run_id, subject: 'example.com', value: JSON.stringify(opened) },
    observed,
    { answer: 'no', blocklistsInUse: new Set(inUse) },
  ) !== null;

test('blocklist_hit resolves only when the lists that listed have answered', () => {
  const verdict = evaluateCondition(
    blocklistHit,
    testWith({ checks: checksWith('1:not_listed', '2:listed') }),
  );
  assert.equal(verdict.answer, 'yes');
  const { value } = verdict as Extract<typeof verdict, { answer: 'yes' }>;
  assert.deepEqual(value, { lists: [{ zone: 'b.example', name: 'List b', tier: 2, listed: [] }] });
  const cases: [lists: string[], answers: boolean][] = [
    [['1:not_listed', '2:not_listed'], true],
    [['1:not_listed', '2:left_out'], false],
    [['1:not_listed'], false],
    [['1:left_out', '2:not_listed'], true],
  ];
  for (const [lists, answers] of cases) {
    const observed = testWith({ checks: checksWith(...lists) });
    assert.equal(ends(null, value, observed), answers, lists.join(' '));
    // A list that is no longer in use keeps nothing open.
    assert.ok(ends(null, value, observed, ['a.example', 'c.example']));
  }
});

test('Tests and monitor runs resolve each other’s incidents only for the same subject', () => {
  const value = (...listed: string[]) => ({
    lists: [{ zone: 'a.example', name: 'A', tier: 1, listed }],
  });
  const changes = { appeared: [], gone: [], unknown: [] };
  const runOf = (...silent: string[]) =>
    ({
      kind: 'run',
      subject: 'example.com',
      findings: [],
      changes: {
        ...changes,
        unknown: silent.map((list) => ({ target: 'example.com', list })),
        targets: [{ target: 'example.com', known: true }],
      },
    }) as unknown as Observation;
  const testOf = (...checks: object[]) => testWith({ checks: JSON.stringify(checks) });
  const cases: [what: string, listed: string[], observed: Observation, answers: boolean][] = [
    ['a run, of the domain', ['example.com'], runOf(), true],
    ['a run, of the domain, and silent', ['example.com'], runOf('a.example'), false],
    ['a run, of the address', ['192.0.2.1'], runOf(), false],
    ['a run, of both', ['example.com', '192.0.2.1'], runOf(), false],
    ['a run, of an unknown listing', [], runOf(), false],
    [
      'a test that queried it',
      ['example.com'],
      testOf(domainCheck(['example.com', 'mx.example.net'], ['a.example', 'not_listed'])),
      true,
    ],
    [
      'a test whose query got no answer',
      ['example.com'],
      testOf(domainCheck(['example.com'], ['a.example', 'error'])),
      false,
    ],
    [
      'a test whose other check got an answer',
      ['example.com'],
      testOf(domainCheck(['example.com'], ['a.example', 'error']), {
        id: 'link_blocklists',
        evidence: { lists: [{ zone: 'a.example', name: 'A', tier: 1, status: 'not_listed' }] },
      }),
      false,
    ],
  ];
  for (const [what, listed, observed, answers] of cases)
    for (const run_id of [null, 'run_1'])
      assert.equal(
        ends(run_id, value(...listed), observed),
        answers,
        `${what}, found by ${run_id}`,
      );
  // Another test answers the same question, but says nothing about an address from a run.
  const other = testOf(domainCheck(['example.com'], ['a.example', 'not_listed']));
  const byWhom = [
    [null, true],
    ['run_1', false],
  ] as const;
  for (const [run_id, answers] of byWhom)
    assert.equal(ends(run_id, value('192.0.2.1'), other), answers);
});

test('Every alert condition observes something and describes its sample value', () => {
  for (const condition of CONDITIONS) {
    const { id, threshold, observes } = condition;
    assert.ok(observes.length > 0, id);
    for (const kind of observes) assert.ok(OBSERVED_ON[kind], id);
    const limit = threshold?.default ?? 0;
    const value = JSON.parse(JSON.stringify(condition.sampleValue(limit)));
    const foundByRun = !observes.includes('test');
    const incident = { subject: 'example.com', value, foundByRun };
    const { title, lead } = condition.openedText(incident);
    const over = condition.resolvedTitle(incident, { threshold: limit, test: null });
    const context = { threshold: limit, isOver: false, endedBy: null };
    assert.ok(condition.measurements(incident, context).length > 0, id);
    for (const heading of [title, over]) assert.match(heading, /^(?=.*example\.com).*[^.]$/, id);
    assert.match(lead, /[.?]$/, id);
    for (const part of [condition.alertsWhen(limit), condition.shortText])
      assert.match(part, /^\S.*[^.]$/, id);
  }
});

test('observeTest returns nothing for a message without From domain', () => {
  assert.deepEqual(observeTest({ ...TEST, from_domain: null } as TestRow), []);
});
