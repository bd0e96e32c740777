/** Inboxes in Chromium, as members use them. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService } from '../helpers/app.ts';
import { sendMail } from '../helpers/send.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const MAIL = 'From: a@example.com\r\nSubject: Spring\r\n\r\nText\r\n';

test('A member creates an inbox, sees the test of its message, and deletes it', async (t) => {
  const service = await startTestService(t);
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open('/inboxes', { viewport: SIZES.phone });
  await checkLook(browser, '/inboxes');
  await page.getByRole('link', { name: 'Create inbox' }).first().click();
  await page.getByLabel('Name').first().fill('Nightly newsletter');
  await Promise.all([
    page.waitForURL('**/inboxes/ibx_*'),
    page.locator('main').getByRole('button', { name: 'Get a test address' }).click(),
  ]);
  const to = (await page.locator('main .copyable code', { hasText: '@' }).first().textContent())!;
  await sendMail({ port: service.smtp.port, to, raw: MAIL });
  await page.reload();
  assert.match((await page.locator('.rows tbody').textContent())!, /Nightly newsletter/);
  const path = new URL(page.url()).pathname;
  await checkLook(browser, path);
  await checkLook(browser, '/inboxes');
  await page.getByText('Delete inbox…').click();
  await Promise.all([
    page.waitForURL('**/inboxes?done=deleted'),
    page.getByRole('button', { name: 'Delete inbox', exact: true }).click(),
  ]);
  assert.match((await page.locator('main').textContent())!, /Inbox deleted/);
});
