/** What every picture must be, whatever it shows. */

import assert from 'node:assert/strict';
import { MAX_TITLE } from '../../src/picture/findings.ts';
import type { Picture } from '../../src/picture/schema.ts';
import { SOURCES } from '../../src/picture/vocabulary.ts';

const RANK = ['fail', 'warn', 'unknown', 'pass', 'not_set_up'];

export function assertConsistent(picture: Picture): void {
  const states = picture.sources.map(({ state }) => state);
  const worst = RANK.find((state) => states.includes(state as never));
  assert.equal(picture.state, worst === 'not_set_up' ? 'unknown' : worst);
  assert.deepEqual(
    picture.sources.map(({ source }) => source),
    [...SOURCES],
  );
  assert.ok(picture.headline.length <= MAX_TITLE, picture.headline);
  const costs = picture.problems.map(({ cost }) => cost);
  assert.deepEqual(
    costs,
    costs.toSorted((a, b) => b - a),
  );
  const topics = picture.problems.map(({ topic }) => topic);
  assert.equal(new Set(topics).size, topics.length);
  const [first] = picture.problems;
  if (first) {
    const { headline, since, state, first_step } = picture;
    assert.deepEqual(
      { headline, since, state, first_step },
      {
        headline: first.title,
        since: first.since,
        state: first.state,
        first_step: first.first_step,
      },
    );
  } else assert.ok(picture.state === 'pass' || picture.state === 'unknown');
  for (const { topic, state, statements, is_disputed } of picture.problems) {
    assert.equal(statements[0]!.state, state);
    const of = (states: string[]) =>
      statements.filter((one) => states.includes(one.state)).map(({ source }) => source);
    assert.equal(
      topic !== 'content' &&
        of(['pass']).some((fine) => of(['fail', 'warn']).some((bad) => bad !== fine)),
      is_disputed,
    );
  }
  // A source is as bad as its worst statement.
  for (const line of picture.sources) {
    const said = picture.problems.flatMap(({ statements }) =>
      statements.filter(({ source }) => source === line.source).map(({ state }) => state),
    );
    for (const state of ['fail', 'warn'] as const)
      if (said.includes(state)) assert.ok(RANK.indexOf(line.state) <= RANK.indexOf(state));
  }
}
