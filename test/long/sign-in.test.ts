/** Invitations, sign-in, sign-out and password reset in a real browser: keyboard, no JavaScript, accessibility. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { findViolations } from '../helpers/axe.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { type MailSink, startMailSink } from '../outbox/mail-sink.ts';
import { givePassword, PASSWORD } from '../team/browser.ts';

const OWNER = 'owner@example.com';
const NEW = 'four words make one';

/** Plain HTTP with a host name: browsers then send the least information about the origin of a form. */
async function start(t: TestContext): Promise<{ service: TestService; sink: MailSink }> {
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_BASE_URL: 'http://app.example',
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  await givePassword(service, OWNER);
  return { service, sink };
}

/** The link in the last email, after it has been sent. */
async function mailedLink({ app }: TestService, sink: MailSink): Promise<string> {
  await app.scheduler.stop();
  app.scheduler.start();
  const { text } = await parseMessage(sink.taken.at(-1)!.raw);
  return /^http:\/\/app\.example\/\S+$/m.exec(text!)![0];
}

describe('Sign-in pages in a browser', { skip: skipUnlessInstalled('chromium') }, () => {
  const open = async (
    t: TestContext,
    { http }: TestService,
    options: BrowserContextOptions = {},
  ): Promise<Page> => {
    const browser = await startBrowser(http.port);
    t.after(() => browser.close());
    const context = await browser.newContext(options);
    return context.newPage();
  };

  const submit = (page: Page) => page.click('button[type=submit]');
  const heading = (page: Page) => page.locator('h1').innerText();

  it('invitation, sign-in and password reset work without JavaScript over http', async (t) => {
    const { service, sink } = await start(t);
    const page = await open(t, service, { javaScriptEnabled: false });
    await service.call('POST', '/v1/team/invitations', { json: { email: 'bob@example.com' } });
    const invitation = await mailedLink(service, sink);

    await page.goto(invitation);
    await page.fill('#name', 'Bob');
    await page.fill('#password', PASSWORD);
    await page.fill('#repeated', 'something else');
    await submit(page);
    assert.match(await page.locator('#repeated-wrong').innerText(), /don't match\.$/);
    assert.equal(await page.inputValue('#name'), 'Bob');
    assert.equal(await page.inputValue('#password'), '');
    await page.fill('#password', PASSWORD);
    await page.fill('#repeated', PASSWORD);
    await submit(page);
    assert.equal(page.url(), 'http://app.example/');
    assert.equal(await page.locator('.menu-name').textContent(), 'Bob');
    assert.equal(await page.locator('#account-menu > p').textContent(), 'bob@example.com');
    const cookies = await page.context().cookies();
    assert.deepEqual(
      cookies.map(({ name, httpOnly, sameSite, path }) => [name, httpOnly, sameSite, path]),
      ['deliverability', 'deliverability-device'].map((name) => [name, true, 'Lax', '/']),
    );

    await page.click('[popovertarget="account-menu"]');
    await page.click('text=Sign out');
    assert.match(await page.locator('[role=status]').innerText(), /You're signed out\./);
    const left = (await page.context().cookies()).map(({ name }) => name);
    assert.deepEqual(left, ['deliverability-device'], 'which is not a session');
    await page.click('text=Forgot your password?');
    await page.fill('#email', 'bob@example.com');
    await submit(page);
    assert.equal(await heading(page), 'Check your inbox');

    const link = await mailedLink(service, sink);
    await page.goto(link);
    await page.fill('#password', NEW);
    await page.fill('#repeated', NEW);
    await submit(page);
    assert.match(await page.locator('[role=status]').innerText(), /Your password is set\./);
    await page.fill('#email', 'bob@example.com');
    await page.fill('#password', NEW);
    await submit(page);
    assert.equal(await heading(page), 'Test your first message');

    await page.goto(link);
    assert.equal(await heading(page), "This link doesn't work");
    assert.match(await page.locator('[role=alert]').innerText(), /has been used/);
  });

  it('sign-in works with the keyboard alone', async (t) => {
    const { service } = await start(t);
    const page = await open(t, service);
    await page.goto('http://app.example/');
    // Skips the skip link and the theme button.
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sign-in');
    // The email field has the focus when the page is loaded; password and button follow.
    await page.waitForSelector('#email:focus');
    await page.keyboard.type(OWNER);
    await page.keyboard.press('Tab');
    await page.keyboard.type('not the password');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sign-in');
    await page.waitForSelector('#form-error');
    // The input is kept, and the focus is on the field to correct.
    assert.equal(await page.inputValue('#email'), OWNER);
    await page.waitForSelector('#password:focus');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Sign in');
    await page.keyboard.press('Enter');
    await page.waitForURL('http://app.example/');
    assert.equal(await heading(page), 'Test your first message');
  });

  it('other sites cannot sign anyone in', async (t) => {
    const { service } = await start(t);
    const page = await open(t, service);
    await page.route('http://evil.example/**', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" action="http://app.example/sign-in">
          <input name="email" value="${OWNER}"><input name="password" value="${PASSWORD}">
          <button type="submit">Win</button></form>`,
      }),
    );
    await page.goto('http://evil.example/');
    const [answer] = await Promise.all([page.waitForResponse('**/sign-in'), submit(page)]);
    assert.equal(answer.status(), 403);
    assert.deepEqual(await page.context().cookies(), []);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`pages pass axe and do not scroll sideways in the ${colorScheme} theme`, async (t) => {
      const { service, sink } = await start(t);
      await service.call('POST', '/v1/team/invitations', { json: { email: 'bob@example.com' } });
      const invitation = await mailedLink(service, sink);
      await service.call('POST', '/v1/password_resets', { key: null, json: { email: OWNER } });
      const link = await mailedLink(service, sink);
      const page = await open(t, service, { colorScheme });
      const checkPage = async (what: string) => {
        for (const width of [1280, 390, 320]) {
          await page.setViewportSize({ width, height: 800 });
          assert.deepEqual(await findViolations(page), [], `${what}, ${width} px`);
          const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.equal(scrollWidth, width, what);
        }
      };
      const openAndCheck = async (path: string) => {
        await page.goto(new URL(path, 'http://app.example').href);
        await checkPage(path);
      };
      await openAndCheck('/');
      await openAndCheck('/sign-in?done=signed-out');
      await page.fill('#email', OWNER);
      await page.fill('#password', 'not the password');
      await submit(page);
      await checkPage('a wrong password');
      for (const path of ['/forgot-password', '/forgot-password?done=sent', '/password/unknown'])
        await openAndCheck(path);
      for (const path of [link, invitation]) {
        await openAndCheck(path);
        if (path === invitation) await page.fill('#name', 'Bob');
        for (const field of ['#password', '#repeated']) await page.fill(field, 'password123');
        await submit(page);
        await checkPage('an invalid password');
      }
      await page.fill('#password', PASSWORD);
      await page.fill('#repeated', PASSWORD);
      await submit(page);
      await checkPage('signed in');
      assert.equal(await heading(page), 'Test your first message');
    });
});
