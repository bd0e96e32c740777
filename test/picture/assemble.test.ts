/** Whatever sources say, the headline, the problems and the lines of sources do not contradict one another. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { COSTS, type IssueId } from '../../src/picture/costs.ts';
import { type Finding, fine, notKnown, problem, reportOf } from '../../src/picture/findings.ts';
import { assemble } from '../../src/picture/headline.ts';
import { SOURCES, type SourceId, TOPICS } from '../../src/picture/vocabulary.ts';
import { assertConsistent } from './consistent.ts';

const DOMAIN = { domain_id: 'dom_1', name: 'example.com' };

test('Every failure costs more than every warning, and no two kinds of problems cost the same', () => {
  const costs = COSTS.map(({ cost }) => cost);
  assert.deepEqual(
    costs,
    costs.toSorted((a, b) => b - a),
  );
  assert.equal(new Set(costs).size, costs.length);
  for (const { id, state, cost } of COSTS) assert.equal(state === 'fail', cost >= 50, id);
});

/** A finding of any kind; texts of any length. */
const finding = (source: SourceId) =>
  fc
    .record({
      topic: fc.constantFrom(...TOPICS),
      text: fc.string({ minLength: 1, maxLength: 300 }),
      since: fc.option(fc.constantFrom('2026-11-01', '2026-11-20T10:00:00.000Z', '2026-10-03')),
      kind: fc.constantFrom<IssueId | 'fine' | 'unknown'>(
        ...COSTS.map(({ id }) => id),
        ...Array.from({ length: 20 }, (_, i) => (i % 2 ? ('fine' as const) : ('unknown' as const))),
      ),
    })
    .map(({ kind, ...said }): Finding => {
      const statement = { ...said, source, origin: source, at: null, path: '/' };
      if (kind === 'fine') return fine(statement);
      if (kind === 'unknown') return notKnown(statement);
      return problem(kind, statement);
    });

const report = (source: SourceId) =>
  fc
    .tuple(
      fc.constantFrom('pass' as const, 'unknown' as const, 'not_set_up' as const),
      fc.array(finding(source), { maxLength: 4 }),
    )
    .map(([state, findings]) =>
      reportOf({ source, state, text: source, at: null, path: '/' }, findings),
    );

const reports = fc.tuple(...SOURCES.map(report));

test('assemble never contradicts a source, whatever the five say', () => {
  fc.assert(
    fc.property(reports, (found) => {
      const picture = assemble(DOMAIN, found);
      assertConsistent(picture);
      const shown = picture.problems.flatMap(({ statements }) => statements);
      for (const { problem: bad, text } of found.flatMap(({ findings }) => findings))
        if (bad !== null) assert.ok(shown.some((statement) => statement.text === text));
    }),
    { numRuns: 2000 },
  );
});

test('Without problems, the headline says of which sources nothing is known', () => {
  const lines = (states: string[]) =>
    assemble(
      DOMAIN,
      SOURCES.map((source, i) =>
        reportOf({ source, state: states[i] as 'pass', text: '', at: null, path: '/' }, []),
      ),
    );
  const said = (...states: string[]) => {
    const { state, headline } = lines(states);
    return `${state}: ${headline}`;
  };
  assert.equal(
    said('pass', 'pass', 'pass', 'pass', 'pass'),
    'pass: No problems found in DNS, tests, placement, feedback and receivers.',
  );
  assert.equal(
    said('pass', 'pass', 'not_set_up', 'not_set_up', 'not_set_up'),
    'pass: No problems found in DNS and tests.',
  );
  assert.equal(
    said('pass', 'unknown', 'not_set_up', 'pass', 'unknown'),
    'unknown: No problems found in DNS and feedback. Unknown: tests and receivers.',
  );
  assert.equal(
    said('unknown', 'not_set_up', 'not_set_up', 'unknown', 'not_set_up'),
    'unknown: Nothing is known about this domain yet.',
  );
});

test('The date of a problem belongs to its title; of others, only the same kind of problem counts', () => {
  const said = { topic: 'reputation' as const, text: 'text', at: '2026-11-20', path: '/' };
  const since = (...findings: Finding[]) =>
    assemble(DOMAIN, [
      reportOf({ source: 'receivers', state: 'pass', text: '', at: null, path: '/' }, findings),
    ]).since;
  const snds = { ...said, source: 'receivers' as const, origin: 'Microsoft SNDS' };
  const red = problem('address_red', { ...snds, since: '2026-11-01' });
  assert.equal(
    since(problem('address_blocked', { ...snds, since: '2026-11-18' }), red),
    '2026-11-18',
  );
  assert.equal(since(problem('address_blocked', snds), red), null);
  const unread = problem('address_red', { ...snds, source: 'tests', since: null });
  assert.equal(since(red, unread), '2026-11-01');
  assert.equal(since(unread, red), '2026-11-01');
});

test('A good address beside a bad one is no contradiction, a good source beside a bad one is', () => {
  const said = { topic: 'reputation' as const, text: 'text', at: '2026-11-20', path: '/' };
  const snds = { ...said, source: 'receivers' as const, origin: 'Microsoft SNDS' };
  const isDisputed = (good: Finding) =>
    assemble(DOMAIN, [
      reportOf({ source: 'receivers', state: 'pass', text: '', at: null, path: '/' }, [
        problem('address_red', snds),
        good,
      ]),
    ]).problems[0]!.is_disputed;
  assert.equal(isDisputed(fine(snds)), false);
  assert.equal(isDisputed(fine({ ...snds, source: 'tests' })), true);
});
