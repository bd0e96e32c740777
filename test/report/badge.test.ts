/** Badges: valid XML for any text, readable, and as wide as their text in Chromium. */

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { type BadgeState, badgeColor, badgeSvg } from '../../src/report/badge.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { EVIL } from './scheduled-reports.ts';

const STATES: BadgeState[] = ['healthy', 'warning', 'critical', 'unknown'];
const widthOf = (svg: string) => Number(/^<svg [^>]*width="(\d+)"/.exec(svg)![1]);

test('badgeSvg has an accessible label and the color of its state', () => {
  const svg = badgeSvg({ label: 'deliverability', message: '87 of 100', state: 'healthy' });
  assert.match(
    svg,
    /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]*role="img" aria-label="deliverability: 87 of 100">/,
  );
  assert.ok(svg.includes('<title>deliverability: 87 of 100</title>'));
  assert.ok(svg.includes(`fill="${badgeColor('healthy')}"`));
  assert.equal(new Set(STATES.map(badgeColor)).size, STATES.length);
  // IDs would collide on a page with two badges.
  assert.doesNotMatch(svg, /\bid=|url\(/);
});

test('Badge colors have sufficient contrast with white text', () => {
  for (const state of STATES) {
    const [r, g, b] = badgeColor(state)
      .match(/[0-9a-f]{2}/g)!
      .map((hex) => {
        const value = Number.parseInt(hex, 16) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      }) as [number, number, number];
    const contrast = 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05);
    assert.ok(contrast >= 4.5, `${state}: ${contrast}`);
  }
});

test('badgeSvg width follows its text, and long text is truncated', () => {
  const width = (message: string) => widthOf(badgeSvg({ label: 'a', message, state: 'unknown' }));
  assert.ok(width('iiii') < width('aaaa') && width('aaaa') < width('WWWW'));
  assert.equal(width('x'.repeat(60)) > width('x'.repeat(59)), true);
  assert.ok(width('W'.repeat(5000)) < 800);
});

describe('Badge in Chromium', { skip: skipUnlessInstalled('chromium') }, () => {
  it('is valid XML with hostile text, runs nothing and fits its words', async (t) => {
    const browser = await startBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    for (const message of ['87 of 100', EVIL, '漢字 and “quotes”', '', 'WMwm@%ij.'.repeat(6)]) {
      const svg = badgeSvg({ label: 'mail & <b>', message, state: 'warning' });
      await page.setContent(svg);
      const seen = (await page.evaluate(`(() => {
        const { documentElement } = new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml');
        const image = document.querySelector('svg');
        const texts = [...image.querySelectorAll('text')].map((text) => text.getBBox()).filter(({ width }) => width > 0);
        return {
          root: documentElement.nodeName,
          scripts: document.querySelectorAll('script, b').length,
          inside: texts.every((box) => box.x >= 0 && box.x + box.width <= image.viewBox.baseVal.width),
          apart: texts.length < 2 || texts[0].x + texts[0].width <= texts[1].x,
        };
      })()`)) as object;
      assert.deepEqual(seen, { root: 'svg', scripts: 0, inside: true, apart: true }, message);
    }
  });

  it('has a width table within 10 percent of the font', async (t) => {
    const browser = await startBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    for (const label of [
      'deliverability',
      'shop.example.com',
      'NOT KNOWN',
      '0123456789',
      'email health',
    ]) {
      const svg = badgeSvg({ label, message: '', state: 'unknown' });
      const textLength = Number(/textLength="(\d+)"/.exec(svg)![1]);
      const needed = (await page.evaluate(`(() => {
        const context = document.createElement('canvas').getContext('2d');
        context.font = "11px 'DejaVu Sans'";
        return context.measureText(${JSON.stringify(label)}).width;
      })()`)) as number;
      assert.ok(Math.abs(textLength - needed) <= needed / 10, `${label}: ${textLength}, ${needed}`);
    }
  });
});
