/** Pages on a phone: lists that show their rows, targets for fingers, popovers that move nothing, and filters. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startFilled } from '../dashboard/filled.ts';
import { findViolations } from '../helpers/axe.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { SIZES, startMemberBrowser } from './dashboard.ts';

const options = { skip: skipUnlessInstalled('chromium') };

const MIN_ROWS = 8;
/** Where a list begins, at most. */
const MAX_TOP = 260;
const TARGET = 44;
const MAX_ROW = 64;
const MAX_HEADER = 56;

interface Look {
  header: number;
  action: string;
  /** Its text, in lines. */
  actionLines: number;
  visible: number;
  top: number;
  rowHeights: number[];
  small: string[];
  isTooWide: boolean;
}

/** Runs in the page. */
function look(target: number): Look {
  const isShown = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  const rows = [...document.querySelectorAll('main table.rows tbody tr')].filter(isShown);
  const boxes = rows.map((row) => row.getBoundingClientRect());
  const small: string[] = [];
  for (const control of document.querySelectorAll<HTMLInputElement>(
    'a[href], button, summary, input:not([type="hidden"]), select, textarea',
  )) {
    if (!isShown(control) || control.closest('.skip, .visually-hidden')) continue;
    // A link inside a sentence may be as high as its line.
    const parent = control.parentElement!;
    const isInText =
      control.localName === 'a' &&
      getComputedStyle(control).display === 'inline' &&
      parent.textContent!.trim().length > control.textContent!.trim().length;
    if (isInText && !control.matches('.row-link')) continue;
    const areas = [control, ...(control.labels ?? [])];
    // On phones, the link of the row lies over the next step.
    if (control.matches('.row-link, .linked .step-link'))
      areas.push(control.closest('tr')! as never);
    const isLarge = areas
      .map((area) => area.getBoundingClientRect())
      .some(({ width, height }) => width > target - 0.5 && height > target - 0.5);
    if (!isLarge) small.push(control.outerHTML.slice(0, 120));
  }
  const lines = (element: Element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
  };
  const action = [...document.querySelectorAll('.bar button')].find(
    (button) => button.textContent === 'Get a test address',
  );
  return {
    header: document.querySelector('.bar')!.getBoundingClientRect().height,
    action: action && isShown(action) ? 'visible' : 'missing',
    actionLines: action ? lines(action) : 0,
    visible: boxes.filter(({ top, bottom }) => top >= 0 && bottom <= innerHeight).length,
    top: Math.round(boxes[0]?.top ?? 0),
    rowHeights: [...document.querySelectorAll('main table.compact tbody tr')]
      .filter(isShown)
      .map((row) => row.getBoundingClientRect().height),
    small,
    isTooWide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  };
}

test(
  'On a phone, every list shows eight rows, and every target is large enough',
  options,
  async (t) => {
    const { service, lists, others } = await startFilled(t);
    const browser = await startMemberBrowser(t, service, 'owner');
    const page = await browser.open('/', { viewport: SIZES.phone });
    const faults: string[] = [];
    const check = (isFine: boolean, fault: string) => {
      if (!isFine) faults.push(fault);
    };
    for (const path of [...lists, ...others]) {
      await page.goto(service.url + path);
      const found = await page.evaluate(look, TARGET);
      for (const control of found.small) faults.push(`${path} has a small target: ${control}`);
      check(!found.isTooWide, `${path} scrolls sideways`);
      // The API reference has a header of its own.
      if (path === '/docs') continue;
      check(found.header <= MAX_HEADER, `${path}: the header has ${found.header} px`);
      check(found.action === 'visible', `${path}: no test address`);
      check(found.actionLines === 1, `${path}: the action has ${found.actionLines} lines`);
      for (const height of new Set(found.rowHeights))
        check(height >= TARGET && height <= MAX_ROW, `${path}: a row has ${height} px`);
      if (others.includes(path)) continue;
      check(found.visible >= MIN_ROWS, `${path} shows ${found.visible} rows`);
      check(found.top <= MAX_TOP, `${path}: the list begins at ${found.top} px`);
    }
    assert.deepEqual(faults, []);
  },
);

/** Runs in the page: where everything is that belongs to no popover. */
function places(): string[] {
  return [...document.querySelectorAll('body *')]
    .filter((element) => !element.closest('[popover]') && element.checkVisibility())
    .map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return `${element.localName}.${element.className} ${[x, y + scrollY, width, height]}`;
    });
}

/** Of each kind on a page: rows have the same. */
const MAX_OF_KIND = 2;

async function assertMovesNothing(page: Page, name: string): Promise<number> {
  let opened = 0;
  const kinds = new Map<string, number>();
  for (const button of await page.locator('[popovertarget]:not([popovertargetaction])').all()) {
    if (!(await button.isVisible())) continue;
    const kind = (await button.getAttribute('class')) ?? '';
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if (kinds.get(kind)! > MAX_OF_KIND) continue;
    const id = (await button.getAttribute('popovertarget'))!;
    await button.scrollIntoViewIfNeeded();
    // The pointer is there, so that no style of a pointer changes later.
    await button.hover();
    const before = await page.evaluate(places);
    await button.click();
    const panel = page.locator(`[id="${id}"]`);
    assert.ok(await panel.isVisible(), `${name}: ${id} opens`);
    assert.deepEqual(await page.evaluate(places), before, `${name}: ${id} moves the page`);
    const box = (await panel.boundingBox())!;
    const { width, height } = page.viewportSize()!;
    assert.ok(box.x >= 0 && box.x + box.width <= width + 0.5, `${name}: ${id} is cut`);
    assert.ok(box.y >= 0 && box.y + box.height <= height + 0.5, `${name}: ${id} is cut`);
    await page.keyboard.press('Escape');
    assert.equal(await panel.isVisible(), false, `${name}: Escape closes ${id}`);
    assert.ok(
      await button.evaluate((element) => element === document.activeElement),
      `${name}: the focus returns from ${id}`,
    );
    opened++;
  }
  return opened;
}

for (const [size, viewport] of Object.entries(SIZES))
  test(`Popovers move nothing, stay on the screen, and close on a ${size}`, options, async (t) => {
    const { service, lists, others } = await startFilled(t);
    const browser = await startMemberBrowser(t, service, 'owner');
    const page = await browser.open('/', { viewport });
    for (const path of [...lists, ...others]) {
      await page.goto(service.url + path);
      const opened = await assertMovesNothing(page, `${path} on a ${size}`);
      if (path !== '/docs') assert.ok(opened >= 2, `${path} has its tools and the account`);
    }
    // A click elsewhere closes one, too. Both themes are accessible while it is open.
    await page.goto(`${service.url}/api-keys`);
    const panel = page.locator('[popover]:has(.confirm-panel)').first();
    await page.getByRole('button', { name: 'Revoke…' }).first().click();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await findViolations(page), [], colorScheme);
    }
    assert.ok(await panel.isVisible());
    await page.locator('h1').click();
    assert.equal(await panel.isVisible(), false);
    // The link and the commands of the page.
    await page.getByRole('button', { name: 'Copy link or curl command' }).click();
    await page.getByRole('button', { name: 'Copy the link to this page' }).waitFor();
    assert.match(await page.locator('.curl code').last().innerText(), /^curl '/);
  });

const subjects = (page: Page) => page.locator('main .rows tbody .row-link').count();

test('Filters apply on change: the page, the focus and the history stay', options, async (t) => {
  const { service } = await startFilled(t);
  const browser = await startMemberBrowser(t, service, 'owner');
  const page = await browser.open('/tests', { expectedErrors: /status of 422/ });
  const all = await subjects(page);
  await page.evaluate('window.mark = 1');
  assert.equal(await page.getByRole('button', { name: 'Apply' }).isVisible(), false);
  const steps = await page.evaluate(() => history.length);
  await page.focus('#status');
  await page.selectOption('#status', 'completed');
  await page.waitForURL('**/tests?status=completed');
  const completed = await subjects(page);
  assert.ok(completed > 0 && completed < all);
  await page
    .getByRole('status')
    .filter({ hasText: `${completed} results` })
    .waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'status');
  await page.getByRole('link', { name: 'Clear filters' }).waitFor();
  // Letters are one step in the history, and the field keeps them.
  await page.focus('#q');
  await page.keyboard.type('News');
  await page.waitForURL('**/tests?q=News&status=completed');
  await page.keyboard.type('letter');
  await page.waitForURL('**/tests?q=Newsletter&status=completed');
  await page.getByRole('status').filter({ hasText: '1 result' }).waitFor();
  assert.equal(await page.inputValue('#q'), 'Newsletter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'q');
  assert.equal(await page.evaluate(() => history.length), steps + 2);
  await page.keyboard.type(' that nobody sent');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No tests match these filters' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'No tests match' }).waitFor();
  assert.equal(await page.evaluate('window.mark'), 1, 'the page was not loaded again');
  await page.goBack();
  await page.waitForURL('**/tests?status=completed');
  assert.equal(await page.inputValue('#q'), '');
  assert.equal(await subjects(page), completed);
  // An error is beside its field.
  await page.fill('#domain', 'a..b');
  await page.getByText('Error:').first().waitFor();
  // The list of another page, with its filters in one row.
  for (const path of ['/tests', '/audit-log', '/feedback/reports', '/alerts']) {
    await page.goto(service.url + path);
    const tops = await page
      .locator('form[data-filters] .field')
      .evaluateAll((fields) => fields.map((field) => field.getBoundingClientRect().top));
    assert.ok(tops.length > 1 && new Set(tops).size === 1, `${path}: ${tops}`);
  }
});

test(
  'On a phone, filters are a sheet that stays open while the list changes',
  options,
  async (t) => {
    const { service } = await startFilled(t);
    const browser = await startMemberBrowser(t, service, 'owner');
    const page = await browser.open('/tests', { viewport: SIZES.phone });
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.selectOption('#status', 'completed');
    await page.waitForURL('**/tests?status=completed');
    await page.selectOption('#score', 'below-70');
    await page.waitForURL('**/tests?status=completed&score=below-70');
    await page.getByRole('button', { name: 'Done' }).click();
    assert.equal(await page.isVisible('#status'), false);
    const button = page.locator('.filter-button');
    assert.match(await button.innerText(), /^Filters \(2\)\s+Completed · Below 70$/);
    await page.waitForFunction(() => document.activeElement?.matches('.filter-button'));
    await button.click();
    assert.equal(await page.inputValue('#score'), 'below-70');
    await page.locator('#filters-q').getByRole('link', { name: 'Clear filters' }).click();
    await page.waitForURL(/\/tests$/);
  },
);

for (const [size, viewport] of Object.entries(SIZES))
  test(`Without scripts, a button applies the filters on a ${size}`, options, async (t) => {
    const { service } = await startFilled(t);
    const browser = await startMemberBrowser(t, service, 'owner');
    const page = await browser.open('/tests', { viewport, javaScriptEnabled: false });
    if (size === 'phone') await page.getByRole('button', { name: 'Filters' }).click();
    await page.selectOption('#status', 'completed');
    assert.equal(await page.getByRole('button', { name: 'Done' }).isVisible(), false);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**/tests?*status=completed*');
  });
