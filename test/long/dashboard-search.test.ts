/** The search over every page, in Chromium: keyboard, both sizes and themes, without a script, after the session. */

// @one-database: about a page in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { storeTest } from '../dashboard/stored-tests.ts';
import { startTestService } from '../helpers/app.ts';
import { findViolations } from '../helpers/axe.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const options = { skip: skipUnlessInstalled('chromium') };

async function start(t: TestContext) {
  const service = await startTestService(t);
  const names = ['Spring sale', 'Spring news'];
  const ids: string[] = [];
  for (const name of names)
    ids.push(
      await storeTest(service.app, { name, search: `${name}\nann@example.com\n`.toLowerCase() }),
    );
  await service.call('POST', '/v1/domains', { json: { name: 'spring.example' } });
  return { service, ids, browser: await startMemberBrowser(t, service) };
}

const fieldOf = (page: Page) => page.getByRole('combobox', { name: 'Search' });
/** Results of the first letters may be shown before. */
async function searchSpring(page: Page): Promise<void> {
  const complete = page.waitForResponse(/q=spring$/);
  await page.keyboard.type('spring');
  await complete;
  await optionsOf(page).nth(2).filter({ hasText: 'Spring sale' }).waitFor();
}

const optionsOf = (page: Page) => page.locator('dialog').getByRole('option');

test(
  'The search opens, chooses, follows and closes with the keyboard alone',
  options,
  async (t) => {
    const { service, ids, browser } = await start(t);
    const page = await browser.open('/team');
    const { keyboard } = page;
    const link = page.getByRole('link', { name: 'Account' });
    await page.locator('[popovertarget="account-menu"]').click();
    await link.focus();
    await keyboard.press('/');
    const field = fieldOf(page);
    await field.waitFor();
    assert.equal(await field.inputValue(), '', 'the key itself is not typed');
    await keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });

    await page.locator('.brand').focus();
    await keyboard.press('Control+k');
    await searchSpring(page);
    const titles = await optionsOf(page).locator('bdi:first-child').allTextContents();
    assert.deepEqual(titles.slice(0, 3), ['spring.example', 'Spring news', 'Spring sale']);
    const chosen = () =>
      field.evaluate(
        (each) => document.getElementById(each.getAttribute('aria-activedescendant')!)?.textContent,
      );
    await keyboard.press('ArrowDown');
    assert.match((await chosen())!, /^spring\.example/);
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    assert.match((await chosen())!, /^Spring sale/);
    await keyboard.press('ArrowUp');
    assert.match((await chosen())!, /^Spring news/);
    assert.equal(await page.locator('[aria-selected="true"]').count(), 1);
    assert.equal(await field.getAttribute('aria-expanded'), 'true');
    await keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    assert.ok(await page.locator('.brand').evaluate((each) => each === document.activeElement));

    await keyboard.press('Control+k');
    await searchSpring(page);
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await page.waitForURL(`${service.url}/tests/${ids[1]}`);

    await keyboard.press('/');
    await searchSpring(page);
    await keyboard.press('Enter');
    await page.waitForURL(`${service.url}/search?q=spring`);
    await page.getByRole('link', { name: 'spring.example' }).waitFor();
  },
);

test(
  'The keys do not open the search while someone types, nor a second one',
  options,
  async (t) => {
    const { browser } = await start(t);
    const page = await browser.open('/tests');
    const filter = page.locator('input[name="q"]');
    await filter.focus();
    await page.keyboard.type('a/b');
    assert.equal(await filter.inputValue(), 'a/b');
    assert.equal(await page.locator('dialog').count(), 0);
    await page.keyboard.press('Control+k');
    await fieldOf(page).waitFor();
    await page.keyboard.type('x/y');
    await page.keyboard.press('Control+k');
    assert.equal(await page.locator('dialog').count(), 1);
    assert.equal(await fieldOf(page).inputValue(), 'x/y');
    await page.getByText('No results').waitFor();
  },
);

test(
  'The search is accessible and fits the screen at both sizes and in both themes',
  options,
  async (t) => {
    const { browser } = await start(t);
    const page = await browser.open('/account');
    for (const viewport of Object.values(SIZES)) {
      await page.setViewportSize(viewport);
      const open = page.getByRole('link', { name: 'Search', exact: true });
      assert.ok(await open.isVisible());
      await open.click();
      await fieldOf(page).fill('spring');
      await optionsOf(page).first().waitFor();
      await page.keyboard.press('ArrowDown');
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await findViolations(page), [], `${viewport.width} ${colorScheme}`);
      }
      const box = (await page.locator('dialog').boundingBox())!;
      assert.ok(box.x >= 0 && box.x + box.width <= viewport.width);
      assert.ok(box.y >= 0 && box.y + box.height <= viewport.height);
      await page.getByRole('button', { name: 'Close' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
    }
    await checkLook(browser, '/search');
    await checkLook(browser, '/search?q=spring');
  },
);

test('Without a script, the link leads to a page with a form', options, async (t) => {
  const { browser, service } = await start(t);
  const page = await browser.open('/tests', { javaScriptEnabled: false });
  await page.getByRole('link', { name: 'Search', exact: true }).click();
  await page.waitForURL(`${service.url}/search`);
  await page.getByLabel('Search for').fill('sale');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Spring sale' }).click();
  await page.waitForURL(/\/tests\/test_/);
});

test(
  'In a report, the search works too; after the session, Enter leads to the sign-in',
  options,
  async (t) => {
    const { browser, service, ids } = await start(t);
    const page = await browser.open(`/tests/${ids[0]}`, { expectedErrors: /401/ });
    await page.keyboard.press('/');
    await fieldOf(page).fill('spring');
    await optionsOf(page).first().waitFor();
    await service.app.db.deleteFrom('sessions').execute();
    await fieldOf(page).fill('sale');
    await page.getByText('Press Enter to open the search page.').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/sign-in\?next=%2Fsearch%3Fq%3Dsale/);
  },
);
