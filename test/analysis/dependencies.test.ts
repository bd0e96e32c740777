/** What follows from a failure: one cause is one finding, with its whole gain. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Check, Finding } from '../../src/analysis/check.ts';
import { CHECKS } from '../../src/analysis/checks.ts';
import { causesOf } from '../../src/analysis/dependencies.ts';
import { analyzeBy, fakeCheck, never } from './fake-checks.ts';

const after = (id: string, found: Parameters<typeof fakeCheck>[1], ...dependsOn: string[]): Check =>
  fakeCheck(id, found, { dependsOn });

it('what depends on a failed check is skipped, and says from what it follows', async () => {
  const { of } = await analyzeBy([fakeCheck('a', 'fail'), after('b', 'fail', 'a')]);
  const { status, title, detail, earned, gain, fix } = of('b');
  assert.deepEqual([status, earned, gain, fix], ['skipped', null, 0, null]);
  assert.deepEqual([title, detail], ['B: follows from a.', 'follows from a']);
  assert.equal(of('a').status, 'fail');
});

it('it is so whatever it found itself, and only after a failure', async () => {
  for (const found of ['pass', 'warn', 'fail', 'error', 'skipped', 'info'] as const) {
    const { of } = await analyzeBy([fakeCheck('a', 'fail'), after('b', found, 'a')]);
    assert.equal(of('b').detail, 'follows from a', found);
  }
  for (const cause of ['pass', 'warn', 'error', 'skipped', 'info'] as const) {
    const { of } = await analyzeBy([fakeCheck('a', cause), after('b', 'fail', 'a')]);
    assert.equal(of('b').status, 'fail', cause);
  }
});

it('a chain leads to its root, even through a check that did not fail itself', async () => {
  const { of } = await analyzeBy([
    after('d', 'fail', 'c'),
    after('c', 'pass', 'b'),
    after('b', 'fail', 'a'),
    fakeCheck('a', 'fail'),
  ]);
  for (const id of ['b', 'c', 'd']) assert.equal(of(id).detail, 'follows from a', id);
});

it('several roots are all named, each once', async () => {
  const { of } = await analyzeBy([
    fakeCheck('a', 'fail'),
    fakeCheck('b', 'fail'),
    fakeCheck('ok', 'pass'),
    after('c', 'fail', 'a'),
    after('d', 'fail', 'c', 'a', 'ok', 'b'),
  ]);
  assert.deepEqual(
    [of('d').title, of('d').detail],
    ['D: follows from a and b.', 'follows from a, b'],
  );
});

it('a finding may have a cause of its own', async () => {
  const same = (id: string, ...dependsOn: string[]) =>
    fakeCheck(id, () => ({ status: 'fail', title: 'So.', detail: 'So.', dependsOn }));
  const { of } = await analyzeBy([
    fakeCheck('a', 'fail'),
    same('b', 'a'),
    same('c'),
    same('d', 'dmarc'),
  ]);
  assert.equal(of('b').detail, 'follows from a');
  assert.deepEqual([of('c').status, of('d').status], ['fail', 'fail']);
});

it('a cause that is not among the checks is none', async () => {
  const { of } = await analyzeBy([after('b', 'fail', 'missing')]);
  assert.equal(of('b').status, 'fail');
});

it('two that name each other follow from the one that failed', async () => {
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
  assert.deepEqual([of('a').status, of('b').detail], ['fail', 'follows from a']);
});

it('of several checks with one id any may be the cause', () => {
  const named = (id: string, ...dependsOn: string[]) => ({ id, dependsOn });
  const found = (status: 'fail' | 'pass'): Finding => ({ status, title: 'So.', detail: 'So.' });
  const checks = [named('key'), named('key'), named('b', 'key'), named('c', 'b')];
  const causes = causesOf(checks, [found('fail'), found('pass'), found('pass'), found('fail')]);
  assert.deepEqual(causes, [[], [], ['key'], ['key']]);
});

it('the gain of the root is the gain of all that follows from it', async () => {
  const { of, score } = await analyzeBy([
    fakeCheck('a', 'fail', { points: 10 }),
    { ...after('b', 'pass', 'a'), points: 20 },
    fakeCheck('c', 'fail', { points: 20 }),
  ]);
  // 30 of 60 points; with `a` 60 of 80, because `b` would count again; with `c` 50 of 60.
  assert.deepEqual([score, of('a').gain, of('c').gain, of('b').gain], [50, 25, 33.3, 0]);
});

it('what would fail still is no gain, unless it has the very cause of the root', async () => {
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

it('what followed and never ended is not waited for', async (t) => {
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
  assert.equal((await analysis).of('b').detail, 'follows from a');
});

it('the checks of the program depend on checks that there are, and in no circle', () => {
  const byId = new Map(CHECKS.map((check) => [check.id, check]));
  assert.equal(byId.size, CHECKS.length, 'no id is used twice');
  const walk = (id: string, path: string[]): void => {
    assert.ok(byId.has(id), `${path.at(-1)} names ${id}`);
    assert.ok(!path.includes(id), [...path, id].join(' → '));
    for (const next of byId.get(id)!.dependsOn ?? []) walk(next, [...path, id]);
  };
  for (const { id, curedBy = [] } of CHECKS) {
    walk(id, []);
    for (const other of curedBy.flat()) assert.ok(byId.has(other), `${id} is cured by ${other}`);
  }
});
