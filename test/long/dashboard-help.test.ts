/** The help in Chromium: the "?" by keyboard and on a phone, chapters at both sizes and themes, without requests elsewhere. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startTestService } from '../helpers/app.ts';
import { findViolations } from '../helpers/axe.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const options = { skip: skipUnlessInstalled('chromium') };

async function start(t: TestContext) {
  const service = await startTestService(t);
  return { service, browser: await startMemberBrowser(t, service) };
}

const ACTIVE =
  'document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent';

test('The panel opens, is read and closes with the keyboard alone', options, async (t) => {
  const { service, browser } = await start(t);
  const page = await browser.open('/domains');
  const { keyboard } = page;
  const panel = page.locator('.help-panel');
  await page.locator('.help-button').focus();
  assert.equal(await panel.isVisible(), false);
  await keyboard.press('Enter');
  await panel.waitFor();
  await keyboard.press('Tab');
  assert.equal(await page.evaluate(ACTIVE), 'How do I add a domain?');
  await keyboard.press('Escape');
  await panel.waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(ACTIVE), 'Help for this page', 'the focus returns');
  await keyboard.press('Enter');
  await keyboard.press('Tab');
  await keyboard.press('Enter');
  await page.waitForURL(`${service.url}/help/monitoring#add-a-domain`);
  const { y } = (await page.locator('#add-a-domain').boundingBox())!;
  assert.ok(y >= 0 && y < 100, `the heading is at ${y}`);
});

test(
  'The panel fits the screen, is accessible, and closes at a click beside it',
  options,
  async (t) => {
    const { browser } = await start(t);
    const page = await browser.open('/system');
    for (const viewport of Object.values(SIZES)) {
      await page.setViewportSize(viewport);
      const header = page.locator('header').first();
      const closed = await header.boundingBox();
      await page.locator('.help-button').click();
      assert.deepEqual(await header.boundingBox(), closed, 'the panel moves nothing');
      const box = (await page.locator('.help-panel').boundingBox())!;
      assert.ok(box.x >= 0 && box.x + box.width <= viewport.width, `${viewport.width}`);
      assert.ok(box.y >= 0 && box.y + box.height <= viewport.height, `${viewport.width}`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await findViolations(page), [], `${viewport.width} ${colorScheme}`);
      }
      await page.locator('h1').click();
      await page.locator('.help-panel').waitFor({ state: 'hidden' });
    }
  },
);

test('Chapters are accessible, fit every screen and request nothing else', options, async (t) => {
  const { service, browser } = await start(t);
  const page = await browser.open('/help/scoring');
  const others: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(service.url)) others.push(request.url());
  });
  await page.reload();
  await page.getByText('On this page').click();
  await page.getByRole('link', { name: 'Caps', exact: true }).click();
  assert.deepEqual(others, []);
  for (const name of ['', '/configuration', '/scoring', '/reverse-proxies', '/webhooks', '/pages'])
    await checkLook(browser, `/help${name}`);
});

test(
  'Without a script and a session, a chapter is read from the sign-in page',
  options,
  async (t) => {
    const { service, browser } = await start(t);
    const page = await browser.open('/domains', { javaScriptEnabled: false });
    await page.locator('.help-button').click();
    await page.getByRole('link', { name: 'All chapters' }).click();
    await page.waitForURL(`${service.url}/help`);
    await page.context().clearCookies();
    await page.goto(`${service.url}/sign-in`);
    await page.getByRole('link', { name: 'Help', exact: true }).click();
    await page.getByRole('link', { name: 'Install', exact: true }).click();
    await page.getByRole('heading', { name: 'Install', exact: true }).waitFor();
  },
);

test('The search finds a chapter and opens it', options, async (t) => {
  const { service, browser } = await start(t);
  const page = await browser.open('/tests');
  await page.keyboard.press('/');
  await page.keyboard.type('restore drill');
  await page.locator('dialog').getByRole('option').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.url}/help/operations#restore-drill`);
});
