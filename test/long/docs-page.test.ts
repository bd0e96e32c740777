/** The API docs page in a real browser: accessibility, narrow screens, no JavaScript. */

// @one-database: about a page in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startTestService } from '../helpers/app.ts';
import { findViolations } from '../helpers/axe.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

test('API docs page passes axe in both themes and does not scroll sideways', {
  skip: skipUnlessInstalled('chromium'),
}, async (t) => {
  const { url } = await startTestService(t);
  const browser = await startBrowser();
  t.after(() => browser.close());
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    const viewport = { width, height: 900 };
    const page = await browser.newPage({ viewport, colorScheme });
    await page.goto(`${url}/docs`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(wide, width, 'nothing is cut off or has to be scrolled to the side');
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    assert.deepEqual(await findViolations(page), [], `${width} ${colorScheme}`);
    await page.close();
  }
});

test('API docs page links work without JavaScript', {
  skip: skipUnlessInstalled('chromium'),
}, async (t) => {
  const { url } = await startTestService(t);
  const browser = await startBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(`${url}/docs`);
  await page.locator('nav.contents a[href="#createApiKey"]').click();
  await page.locator('#createApiKey h3').waitFor();
  assert.ok(await page.locator('#createApiKey:target').isVisible());
  const response = page.locator('#createApiKey details').first();
  await response.locator('summary').click();
  assert.ok(await response.getByText('livemode').first().isVisible());
  assert.deepEqual(
    [...new Set(requested.filter((url) => !url.startsWith('data:')))],
    [`${url}/docs`],
  );
});

const PAINTED = ['/docs'];
const MAX_FIRST_PAINT_MS = 300;
const VISITS = 7;

/** The median over new visits, each without cache. */
async function firstPaintOf(browser: Browser, url: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < VISITS; i++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    const paint = await page.waitForFunction(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    );
    times.push(Number(await paint.jsonValue()));
    await context.close();
  }
  return times.toSorted((a, b) => a - b)[Math.floor(VISITS / 2)]!;
}

test('API docs pages are painted within 0.3 s', {
  skip: skipUnlessInstalled('chromium'),
}, async (t) => {
  const { url } = await startTestService(t);
  const browser = await startBrowser();
  t.after(() => browser.close());
  for (const path of PAINTED) {
    // Rendered once, by the first request.
    await (await fetch(url + path)).text();
    const median = await firstPaintOf(browser, url + path);
    t.diagnostic(`${path}: first contentful paint after ${Math.round(median)} ms`);
    assert.ok(median < MAX_FIRST_PAINT_MS, `${path}: ${median} ms`);
  }
});
