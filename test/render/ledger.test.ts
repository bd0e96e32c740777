/** The ledger: what each category adds, rounded so that the figures that are shown have the sum that is shown. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATEGORIES } from '../../src/analysis/check.ts';
import type { CategoryScore } from '../../src/analysis/result.ts';
import { WEIGHTS, wholeScore } from '../../src/analysis/score.ts';
import { ledgerOf } from '../../src/render/ledger.ts';
import { seededRandom } from '../helpers/random.ts';

const category = (name: CategoryScore['name'], earned: number, points: number): CategoryScore => ({
  name,
  score: points === 0 ? null : Math.floor((100 * earned) / points),
  weight: WEIGHTS[name],
  earned,
  points,
});

describe('the ledger', () => {
  it('adds shares of points times shares of the weights that ran', () => {
    const { rows, weight, sum } = ledgerOf({
      categories: [
        category('authentication', 47, 50),
        category('reputation', 0, 0),
        category('infrastructure', 10, 20),
      ],
    });
    assert.equal(weight, 50);
    assert.deepEqual(
      rows.map(({ name, share, adds }) => [name, share, adds]),
      [
        ['authentication', 0.94, 65.8],
        ['reputation', null, null],
        ['infrastructure', 0.5, 15],
      ],
    );
    assert.equal(sum, 80.8);
  });

  it('has no sum where nothing ran', () => {
    const { rows, sum } = ledgerOf({ categories: [category('content', 0, 0)] });
    assert.deepEqual([rows[0]!.adds, sum], [null, null]);
    assert.equal(ledgerOf({ categories: [] }).sum, null);
  });

  it('adds up as shown and never claims more than was earned, whatever the figures', () => {
    const { below } = seededRandom(20261121);
    for (let round = 0; round < 2000; round += 1) {
      const categories = CATEGORIES.map((name) => {
        const points = below(60);
        return category(name, below(2 * points + 1) / 2, points);
      });
      const { rows, weight, sum } = ledgerOf({ categories });
      const tenths = rows.map(({ adds }) => Math.round((adds ?? 0) * 10));
      assert.equal(
        tenths.reduce((a, b) => a + b, 0),
        Math.round((sum ?? 0) * 10),
      );
      const exact = categories.map(({ earned, points, weight: own }) =>
        points > 0 ? (100 * own * earned) / points / weight : 0,
      );
      const whole = exact.reduce((a, b) => a + b, 0);
      assert.equal(Math.floor(sum ?? 0), wholeScore(whole));
      exact.forEach((value, index) => {
        assert.ok(Math.abs(tenths[index]! / 10 - value) <= 0.1 + 1e-9);
      });
    }
  });
});
