/** Members in a real browser: sign-in, and what every page must hold at every size and theme. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Role } from '../../src/http/actor.ts';
import type { TestService } from '../helpers/app.ts';
import { findViolations } from '../helpers/axe.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { givePassword, signIn } from '../team/browser.ts';

export const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };

type Size = (typeof SIZES)[keyof typeof SIZES];

interface OpenOptions extends BrowserContextOptions {
  expectedErrors?: RegExp;
}

export interface MemberBrowser {
  /** A page of the signed-in member. Errors in its console fail the test, except expected ones. */
  open(path: string, options?: OpenOptions): Promise<Page>;
}

/** A new member with this role, or the owner, signed in to one browser. */
export async function startMemberBrowser(
  t: TestContext,
  service: TestService,
  role: Role = 'owner',
  /** Host names below `.example` resolve to this port. */
  port?: number,
): Promise<MemberBrowser> {
  const email = role === 'owner' ? 'owner@example.com' : (await service.makeMember(role)).email;
  await givePassword(service, email);
  const { cookie } = await signIn(service, email);
  const [name, value] = cookie.split(/=(.*)/s) as [string, string];
  const browser = await startBrowser(port);
  t.after(() => browser.close());
  const errors: string[] = [];
  t.after(() => assert.deepEqual(errors, [], 'no errors in the console'));
  return {
    async open(path, { expectedErrors, ...options } = {}) {
      const context = await browser.newContext({ viewport: SIZES.desktop, ...options });
      await context.addCookies([{ name, value, url: service.url }]);
      const page = await context.newPage();
      page.on('console', (message) => {
        // A form with errors is answered by a page with the status of the error, which browsers report too.
        const isOwnStatus =
          message.location().url === page.url() && /status of 4\d\d/.test(message.text());
        // At the end of a test, the service stops before the browser.
        const isStopped = message.text().includes('net::ERR_CONNECTION_REFUSED');
        const isExpected =
          isOwnStatus || isStopped || expectedErrors?.test(message.text()) === true;
        if (message.type() === 'error' && !isExpected)
          errors.push(`${page.url()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.message}`));
      await page.goto(service.url + path);
      return page;
    },
  };
}

/** The pages on which looks are checked, by width. */
const PAGES = new WeakMap<MemberBrowser, Map<number, Page>>();

/**
 * Opens the path at this size. A page is opened once for each browser and goes to the others: a new page takes longer
 * than what is checked on it.
 */
async function goTo(browser: MemberBrowser, path: string, viewport: Size): Promise<Page> {
  const pages = PAGES.get(browser) ?? new Map<number, Page>();
  PAGES.set(browser, pages);
  const page = pages.get(viewport.width);
  if (page) await page.goto(new URL(path, page.url()).href);
  const opened = page ?? (await browser.open(path, { viewport }));
  pages.set(viewport.width, opened);
  return opened;
}

/** Accessible in both themes, and no wider than the screen, on a phone and on a desktop. */
export async function checkLook(browser: MemberBrowser, path: string): Promise<void> {
  for (const viewport of Object.values(SIZES)) {
    const page = await goTo(browser, path, viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      // Pages follow the theme of the system without a reload.
      await page.emulateMedia({ colorScheme });
      const name = `${path} at ${viewport.width} px, ${colorScheme}`;
      assert.deepEqual(await findViolations(page), [], name);
      const isTooWide =
        'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      assert.equal(await page.evaluate(isTooWide), false, `${name} scrolls sideways`);
    }
  }
}
