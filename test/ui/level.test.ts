/** Levels of percentages and grades: different colors, enough contrast, and a sign without color. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { gradeOf } from '../../src/analysis/grade.ts';
import { FRAME_STYLE } from '../../src/ui/frame.tsx';
import { GRADE_STARTS, LEVEL_STYLE, levelClass, levelOf, Steps } from '../../src/ui/level.tsx';

const filled = (percent: number): number =>
  renderToString(h(Steps, { percent })).match(/class="fill"/g)!.length;

test('Each grade has a level of its own, which more filled steps show', () => {
  for (let score = 0; score <= 100; score += 1) {
    const [grade] = GRADE_STARTS.find(([, start]) => score >= start)!;
    assert.equal(grade, gradeOf(score));
    assert.equal(levelOf(score), 5 - GRADE_STARTS.findIndex(([one]) => one === grade));
    assert.equal(filled(score), levelOf(score));
  }
  assert.notEqual(levelClass(87), levelClass(40));
  assert.equal(levelClass(null), 'unknown');
});

/** The light and the dark value of each variable. */
const VARIABLES = new Map(
  [...FRAME_STYLE.matchAll(/(--[\w-]+): (light-dark\([^)]+\))/g)].map(([, name, value]) => [
    name!,
    value!,
  ]),
);
const colorsOf = (value: string): string[] => {
  const found = /var\((--[\w-]+)\)/.exec(value);
  return (found ? VARIABLES.get(found[1]!)! : value).match(/#[0-9a-f]{6}/g)!;
};

function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

const contrast = (a: string, b: string): number => {
  const [high, low] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (high! + 0.05) / (low! + 0.05);
};

test('The colors of levels differ and have the contrast of WCAG AA in both themes', () => {
  const levels = [...LEVEL_STYLE.matchAll(/\.level-\d \{ --tone: (.+?); --soft: (.+?); \}/g)];
  assert.equal(levels.length, 5);
  for (const theme of [0, 1]) {
    const tones = levels.map(([, tone]) => colorsOf(tone!)[theme]!);
    assert.equal(new Set(tones).size, 5);
    for (const [index, tone] of tones.entries())
      for (const ground of [
        colorsOf(levels[index]![2]!)[theme]!,
        colorsOf('var(--surface)')[theme]!,
        colorsOf('var(--page)')[theme]!,
      ])
        assert.ok(contrast(tone, ground) >= 4.5, `${tone} on ${ground}`);
  }
});
