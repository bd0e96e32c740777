/** Dependencies between checks, and limits on what a finding may contain. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Check, Finding, Json } from '../../src/analysis/check.ts';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import { dependencyDetail, factsOf, failedDependencies } from '../../src/analysis/result.ts';
import { causesOf, trimEvidence, trimFix, trimText } from '../../src/analysis/run-checks.ts';
import { analyzeBy, fakeCheck, never } from './fake-checks.ts';

const after = (id: string, found: Parameters<typeof fakeCheck>[1], ...dependsOn: string[]): Check =>
  fakeCheck(id, found, { dependsOn });

it('A check that depends on a failed check is skipped and names it', async () => {
  const { of } = await analyzeBy([fakeCheck('a', 'fail'), after('b', 'fail', 'a')]);
  const { status, title, detail, earned, gain, fix } = of('b');
  assert.deepEqual([status, earned, gain, fix], ['skipped', null, 0, null]);
  assert.deepEqual([title, detail], ['B: not checked because A failed.', 'Not checked: A failed.']);
  assert.equal(of('a').status, 'fail');
});

it('Dependent checks are skipped only after a failure, whatever they found', async () => {
  for (const found of ['pass', 'warn', 'fail', 'error', 'skipped', 'info'] as const) {
    const { of } = await analyzeBy([fakeCheck('a', 'fail'), after('b', found, 'a')]);
    assert.equal(of('b').detail, 'Not checked: A failed.', found);
  }
  for (const cause of ['pass', 'warn', 'error', 'skipped', 'info'] as const) {
    const { of } = await analyzeBy([fakeCheck('a', cause), after('b', 'fail', 'a')]);
    assert.equal(of('b').status, 'fail', cause);
  }
});

it('A dependency chain names its root cause', async () => {
  const { of } = await analyzeBy([
    after('d', 'fail', 'c'),
    after('c', 'pass', 'b'),
    after('b', 'fail', 'a'),
    fakeCheck('a', 'fail'),
  ]);
  for (const id of ['b', 'c', 'd']) assert.equal(of(id).detail, 'Not checked: A failed.', id);
});

it('Several root causes are each named once', async () => {
  const { of } = await analyzeBy([
    fakeCheck('a', 'fail'),
    fakeCheck('b', 'fail'),
    fakeCheck('ok', 'pass'),
    after('c', 'fail', 'a'),
    after('d', 'fail', 'c', 'a', 'ok', 'b'),
  ]);
  assert.deepEqual(
    [of('d').title, of('d').detail],
    ['D: not checked because A and B failed.', 'Not checked: A, B failed.'],
  );
});

it('A finding can declare its own cause', async () => {
  const same = (id: string, ...dependsOn: string[]) =>
    fakeCheck(id, () => ({ status: 'fail', title: 'So.', detail: 'So.', dependsOn }));
  const { of } = await analyzeBy([
    fakeCheck('a', 'fail'),
    same('b', 'a'),
    same('c'),
    same('d', 'dmarc'),
  ]);
  assert.equal(of('b').detail, 'Not checked: A failed.');
  assert.deepEqual([of('c').status, of('d').status], ['fail', 'fail']);
});

it('A missing dependency is ignored', async () => {
  const { of } = await analyzeBy([after('b', 'fail', 'missing')]);
  assert.equal(of('b').status, 'fail');
});

it('Of two mutually dependent checks, only the failed one counts as a cause', async () => {
  const found =
    (status: 'fail' | 'skipped', ...dependsOn: string[]) =>
    () => ({
      status,
      title: 'So.',
      detail: 'So.',
      dependsOn,
    });
  const { of } = await analyzeBy([
    fakeCheck('a', found('fail', 'b')),
    fakeCheck('b', found('skipped', 'a')),
  ]);
  assert.deepEqual([of('a').status, of('b').detail], ['fail', 'Not checked: A failed.']);
});

it('causesOf considers every check with the same ID', () => {
  const named = (id: string, ...dependsOn: string[]) => ({ id, dependsOn });
  const found = (status: 'fail' | 'pass'): Finding => ({ status, title: 'So.', detail: 'So.' });
  const checks = [named('key'), named('key'), named('b', 'key'), named('c', 'b')];
  const causes = causesOf(checks, [found('fail'), found('pass'), found('pass'), found('fail')]);
  assert.deepEqual(causes, [[], [], ['key'], ['key']]);
});

it('The gain of a root cause includes its dependent checks', async () => {
  const { of, score } = await analyzeBy([
    fakeCheck('a', 'fail', { points: 10 }),
    { ...after('b', 'pass', 'a'), points: 20 },
    fakeCheck('c', 'fail', { points: 20 }),
  ]);
  // 30 of 60 points; with `a` 60 of 80, because `b` would count again; with `c` 50 of 60.
  assert.deepEqual([score, of('a').gain, of('c').gain, of('b').gain], [50, 25, 33.3, 0]);
});

it('Gain excludes checks that would still fail for another reason', async () => {
  const gainOfRoot = async (dependent: Check) => {
    const root = fakeCheck('a', 'fail', { points: 10 });
    const { of } = await analyzeBy([root, { ...dependent, points: 20 }]);
    return of('a').gain;
  };
  // 30 of 40 points; then 40 of 60, or 60 of 60.
  assert.equal(await gainOfRoot(after('b', 'fail', 'a')), 0);
  const same = { status: 'fail' as const, title: 'So.', detail: 'So.', dependsOn: ['a'] };
  assert.equal(await gainOfRoot(fakeCheck('b', () => same)), 25);
});

it('A dependent check that never ends is not awaited', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let started = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const endless = () => {
    started();
    return never();
  };
  const analysis = analyzeBy([fakeCheck('a', 'fail'), after('b', endless, 'a')], { deadlineMs: 9 });
  await running;
  t.mock.timers.tick(9);
  assert.equal((await analysis).of('b').detail, 'Not checked: A failed.');
});

it('The declared checks have unique IDs and no circular dependencies', () => {
  const byId = new Map(CHECKS.map((check) => [check.id, check]));
  assert.equal(byId.size, CHECKS.length, 'no id is used twice');
  const walk = (id: string, path: string[]): void => {
    assert.ok(byId.has(id), `${path.at(-1)} names ${id}`);
    assert.ok(!path.includes(id), [...path, id].join(' → '));
    for (const next of byId.get(id)!.dependsOn ?? []) walk(next, [...path, id]);
  };
  for (const { id, fixedBy = [] } of CHECKS) {
    walk(id, []);
    for (const other of fixedBy.flat()) assert.ok(byId.has(other), `${id} is fixed by ${other}`);
  }
});

it('trimText keeps 2,000 characters and marks truncation', () => {
  const whole = 'a'.repeat(2000);
  assert.equal(trimText(whole), whole);
  assert.equal(trimText(`${whole}b`), `${whole}…`);
});

it('trimEvidence returns normal evidence unchanged', () => {
  const evidence = {
    domain: 'example.com',
    bits: 2048,
    ok: true,
    none: null,
    list: ['a', { b: 1 }],
  };
  assert.equal(trimEvidence(evidence), evidence);
});

it('trimEvidence truncates long lists, texts and names', () => {
  const key = 'k'.repeat(3000);
  const trimmed = trimEvidence({ list: Array(150).fill('x'), [key]: 'v'.repeat(3000) });
  const list = trimmed.list as string[];
  assert.equal(list.length, 101);
  assert.equal(list[100], '… and 50 more');
  const [, [name, value]] = Object.entries(trimmed) as [unknown, [string, string]];
  assert.deepEqual([name, value], [`${'k'.repeat(2000)}…`, `${'v'.repeat(2000)}…`]);
});

it('trimEvidence keeps at most 100 keys per object', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]));
  assert.equal(Object.keys(trimEvidence({ many }).many as object).length, 100);
});

it('trimEvidence limits nesting and is idempotent', () => {
  let deep: Json = 'bottom';
  for (let i = 0; i < 5000; i++) deep = [deep];
  const trimmed = trimEvidence({ deep });
  assert.ok(JSON.stringify(trimmed).length < 100);
  assert.equal(trimEvidence(trimmed), trimmed);
});

it('trimText and trimEvidence replace control and bidi characters', () => {
  assert.equal(trimText('a\u001b[2Jb\u202ec\td\ne\u200f'), 'a·[2Jb·c\td\ne\u200f');
  assert.deepEqual(trimEvidence({ 'k\u0000': ['v\u2066'] }), { k·: ['v·'] });
});

it('trimFix drops a record too long to publish', () => {
  const record = { type: 'TXT', name: 'example.com', value: 'v=spf1 -all' };
  assert.deepEqual(trimFix({ text: 'Do so.', record }), { text: 'Do so.', record });
  const long = { ...record, value: 'x'.repeat(2001) };
  assert.deepEqual(trimFix({ text: 'y'.repeat(2001), record: long }), {
    text: `${'y'.repeat(2000)}…`,
  });
});

it('failedDependencies reads the labels of failed checks, and no other detail', () => {
  const cases: [detail: string, ids: string[]][] = [
    [dependencyDetail(['DMARC record', 'SPF']), ['DMARC record', 'SPF']],
    ['Not checked: no DMARC record.', []],
    ['Not checked: dmarc', []],
  ];
  for (const [detail, ids] of cases)
    assert.deepEqual(failedDependencies({ status: 'skipped', detail }), ids, detail);
  assert.deepEqual(failedDependencies({ status: 'fail', detail: dependencyDetail(['SPF']) }), []);
});

it('No label has a comma, so that a detail with several labels can be read', () => {
  for (const { label } of CHECKS) assert.doesNotMatch(label, /,/);
  assert.equal(new Set(CHECKS.map(({ label }) => label)).size, CHECKS.length);
});

it('The details of skipped checks name labels, and facts have ids again', async () => {
  const { checks } = await analyzeBy([
    fakeCheck('a_b', 'fail', { label: 'First check' }),
    fakeCheck('c', 'pass', { dependsOn: ['a_b'] }),
  ]);
  assert.equal(checks.at(-1)!.detail, 'Not checked: First check failed.');
  assert.deepEqual(factsOf(checks).get('c')!.failedCauses, ['a_b']);
});
