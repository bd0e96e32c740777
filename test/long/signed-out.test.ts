/** What a browser still shows after its member has signed out. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { chromium, type Page } from 'playwright-core';
import { startTestService } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { givePassword, signIn } from '../team/browser.ts';

const skip = skipUnlessInstalled('chromium');

/** A signed-in browser that keeps pages for "back", as people have it. Playwright turns that off. */
async function startKeepingBrowser(t: TestContext) {
  const service = await startTestService(t);
  await givePassword(service, 'owner@example.com');
  const { cookie } = await signIn(service, 'owner@example.com');
  const [name, value] = cookie.split(/=(.*)/s) as [string, string];
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  t.after(() => browser.close());
  const context = await browser.newContext();
  await context.addCookies([{ name, value, url: service.url }]);
  return { service, context };
}

async function signOut(page: Page): Promise<void> {
  await page.locator('[popovertarget="account-menu"]').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText("You're signed out.").waitFor();
}

for (const how of ['sign-out', 'the session has ended elsewhere'])
  test(`"Back" shows no private page after ${how}`, { skip }, async (t) => {
    const { service, context } = await startKeepingBrowser(t);
    const page = await context.newPage();
    await page.goto(`${service.url}/team`);
    await page.evaluate('window.mark = 1');
    await page.goto(`${service.url}/api-keys`);
    // The browser does keep pages: otherwise this test would show nothing.
    await page.goBack({ waitUntil: 'commit' });
    assert.equal(await page.evaluate('window.mark'), 1);
    if (how === 'sign-out') await signOut(page);
    else {
      await service.app.db.deleteFrom('sessions').execute();
      await page.goto(`${service.url}/domains`);
    }
    await page.goBack({ waitUntil: 'commit' });
    await page.waitForURL(/\/sign-in\?next=%2Fteam/);
    await page.getByLabel('Password').waitFor();
    assert.equal(await page.getByText('owner@example.com').count(), 0);
  });

test('Other tabs show no private page after sign-out', { skip }, async (t) => {
  const { service, context } = await startKeepingBrowser(t);
  const [page, other] = [await context.newPage(), await context.newPage()];
  await other.goto(`${service.url}/team`);
  await page.goto(`${service.url}/api-keys`);
  await signOut(page);
  await other.getByLabel('Password').waitFor();
  assert.match(other.url(), /\/sign-in\?next=%2Fteam/);
});
