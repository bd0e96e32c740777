/** Members in a real browser: sign-in, and what every page must hold at every size and theme. */

import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Role } from '../../src/http/actor.ts';
import type { TestService } from '../helpers/app.ts';
import { COLOR_RULES, findViolations } from '../helpers/axe.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { isFullSize } from '../helpers/full-size.ts';
import { givePassword, signIn } from '../team/browser.ts';

export const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };

interface OpenOptions extends BrowserContextOptions {
  expectedErrors?: RegExp;
}

export interface MemberBrowser {
  /** A page of the signed-in member. Errors in its console fail the test, except expected ones. */
  open(path: string, options?: OpenOptions): Promise<Page>;
}

let shared: Promise<Browser> | undefined;

after(async () => (await shared)?.close());

/** Starting a browser takes as long as some tests, which each have their own contexts. */
async function browserFor(t: TestContext, port: number | undefined): Promise<Browser> {
  if (port === undefined) {
    shared ??= startBrowser();
    return shared;
  }
  const browser = await startBrowser(port);
  t.after(() => browser.close());
  return browser;
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
  const browser = await browserFor(t, port);
  const contexts: BrowserContext[] = [];
  t.after(() => Promise.all(contexts.map((context) => context.close())));
  const errors: string[] = [];
  t.after(() => assert.deepEqual(errors, [], 'no errors in the console'));
  return {
    async open(path, { expectedErrors, ...options } = {}) {
      const context = await browser.newContext({ viewport: SIZES.desktop, ...options });
      contexts.push(context);
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

/** The page on which looks are checked. */
const PAGES = new WeakMap<MemberBrowser, Page>();

/**
 * A page is opened once for each browser and goes to the other paths: a new page takes longer than what is checked
 * on it.
 */
async function goTo(browser: MemberBrowser, path: string): Promise<Page> {
  const page = PAGES.get(browser);
  if (page) await page.goto(new URL(path, page.url()).href);
  const opened = page ?? (await browser.open(path));
  PAGES.set(browser, opened);
  return opened;
}

const IS_TOO_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

/** Texts whose letters are below each other, because another style made them narrow. */
const SQUEEZED = `[...document.querySelectorAll('main :is(p, li, dd, h1, h2, h3)')].filter((element) =>
  element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }) &&
  !element.closest('.visually-hidden') &&
  element.textContent.trim().length > 24 && element.getBoundingClientRect().width < 64 &&
  getComputedStyle(element).display !== 'inline'
).map(({ outerHTML }) => outerHTML.slice(0, 120))`;

type Theme = 'light' | 'dark';

/** Beside other tests, each size has one theme: layouts depend on the size, colors on the theme. */
const THEMES: Record<keyof typeof SIZES, Theme[]> = isFullSize
  ? { phone: ['light', 'dark'], desktop: ['light', 'dark'] }
  : { phone: ['light'], desktop: ['dark'] };

/** Accessible in both themes on a phone and on a desktop, and no wider than these screens and those between. */
export async function checkLook(browser: MemberBrowser, path: string): Promise<void> {
  const page = await goTo(browser, path);
  // Pages follow the size of the window and the theme of the system without a reload: styles do, and no script.
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of THEMES[size as keyof typeof SIZES]) {
      await page.emulateMedia({ colorScheme });
      const name = `${path} at ${viewport.width} px, ${colorScheme}`;
      const options = colorScheme === 'dark' ? { runOnly: COLOR_RULES } : {};
      assert.deepEqual(await findViolations(page, options), [], name);
      assert.equal(await page.evaluate(IS_TOO_WIDE), false, `${name} scrolls sideways`);
      assert.deepEqual(await page.evaluate(SQUEEZED), [], `${name} has squeezed texts`);
    }
  }
  for (const width of [641, 768, 961]) {
    await page.setViewportSize({ width, height: 900 });
    assert.equal(
      await page.evaluate(IS_TOO_WIDE),
      false,
      `${path} at ${width} px scrolls sideways`,
    );
  }
  await page.emulateMedia({ reducedMotion: 'reduce' });
  assert.deepEqual(
    await page.evaluate(MOVING),
    [],
    `${path} moves in spite of the wish for less motion`,
  );
  await page.emulateMedia({ reducedMotion: null });
}

/** Elements with an animation or a transition. */
const MOVING = `[...document.querySelectorAll('*')].filter((element) => {
  const { animationName, transitionDuration } = getComputedStyle(element);
  return animationName !== 'none' || !/^0s(, 0s)*$/.test(transitionDuration);
}).map(({ tagName, className }) => tagName + ' ' + className)`;
