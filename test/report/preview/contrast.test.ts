import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contrastRatio,
  hexColor,
  nearestReadable,
  neededContrast,
} from '../../../src/report/preview/contrast.ts';

test('contrastRatio computes the known ratios of WCAG', () => {
  assert.equal(contrastRatio(0x000000, 0xffffff), 21);
  assert.equal(contrastRatio(0x336699, 0x336699), 1);
  // The two grays around the limit of 4.5:1 on white.
  assert.ok(contrastRatio(0x767676, 0xffffff) >= 4.5);
  assert.ok(contrastRatio(0x777777, 0xffffff) < 4.5);
  assert.equal(contrastRatio(0xffffff, 0x0000ff).toFixed(2), '8.59');
  assert.equal(contrastRatio(0xff0000, 0xffffff).toFixed(2), '4.00');
});

test('nearestReadable finds the nearest color that has the contrast', () => {
  assert.equal(hexColor(nearestReadable(0x999999, 0xffffff, 4.5)), '#767676');
  assert.equal(hexColor(nearestReadable(0x555555, 0x000000, 4.5)), '#757575');
  for (let color = 0; color <= 0xffffff; color += 0x1f3f7)
    for (const background of [0xffffff, 0, 0x777777, 0x1a73e8, color])
      for (const needed of [3, 4.5])
        assert.ok(
          contrastRatio(nearestReadable(color, background, needed), background) >= needed,
          `${hexColor(color)} on ${hexColor(background)}`,
        );
});

test('neededContrast depends on size and weight, and is null if they matter and are unknown', () => {
  const cases: [size: number | null, bold: boolean | null, needed: number | null][] = [
    [16, false, 4.5],
    [16, null, 4.5],
    [18.66, true, 3],
    [18.66, false, 4.5],
    [18.66, null, null],
    [24, null, 3],
    [null, true, null],
  ];
  for (const [size, bold, needed] of cases)
    assert.equal(neededContrast(size, bold), needed, `${size} ${bold}`);
});
