/** The page of a shared report in a real browser: external requests, accessibility, printing. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { REPORT_CSP, sharedPage } from '../../src/report/html/report-page.tsx';
import type { Share } from '../../src/report/share.ts';
import { findViolations } from '../helpers/axe.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { campaignShare, largeShare, shareOf } from '../report/reports.ts';

describe('Public report page in a browser', { skip: skipUnlessInstalled('chromium') }, () => {
  /** Serves the page. Other host names resolve to it too, so that external requests are recorded. */
  let web: Server;
  const served: string[] = [];
  const pages = new Map<string, string>();
  let browser: Browser;
  let campaign: Share;
  let alone: Share;

  before(async () => {
    web = createServer((request, response) => {
      served.push(`${request.headers.host} ${request.url}`);
      const html = pages.get(request.url ?? '');
      response.writeHead(html === undefined ? 404 : 200, {
        'Content-Security-Policy': REPORT_CSP,
        'Content-Type': 'text/html; charset=utf-8',
      });
      response.end(html);
    });
    await once(web.listen(0, '127.0.0.1'), 'listening');
    browser = await startBrowser((web.address() as AddressInfo).port);
    campaign = await campaignShare();
    alone = shareOf(campaign.reports.slice(1, 2));
  });

  after(async () => {
    await browser.close();
    web.close();
  });

  const urlOf = (share: Share): string => {
    const path = `/${pages.size}`;
    pages.set(path, sharedPage(share));
    return `http://127.0.0.1:${(web.address() as AddressInfo).port}${path}`;
  };

  async function open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    // The browser may already be closing.
    page.on('close', () => void context.close().catch(() => {}));
    await page.goto(url);
    await page.waitForLoadState('networkidle');
    return page;
  }

  const unfold = (page: Page) =>
    page.evaluate(() => {
      for (const each of document.querySelectorAll('details')) each.open = true;
    });

  it('makes no external requests and runs no injected scripts', async () => {
    const evil = `<script>console.log('ran:')</script><img src="https://evil.example/" onerror="console.log('ran:')"><style>@import "https://evil.example/"</style>`;
    const reports = campaign.reports.map((report) => ({
      ...report,
      name: evil,
      subject: evil,
      summary: evil,
      from_address: `a@${evil}`,
      checks: report.checks.map((check) => ({
        ...check,
        title: evil,
        detail: evil,
        evidence: { [evil]: [evil, { href: evil }] },
      })),
    }));
    for (const share of [{ ...campaign, title: evil, reports }, shareOf(reports.slice(0, 1))]) {
      served.length = 0;
      const url = urlOf(share);
      const context = await browser.newContext();
      const page = await context.newPage();
      const ran: string[] = [];
      page.on('console', (message) => ran.push(message.text()));
      await page.goto(url);
      await unfold(page);
      await page.waitForLoadState('networkidle');
      assert.deepEqual([served.length, ran], [1, []]);
      await context.close();
    }
  });

  for (const width of [1280, 390])
    it(`passes axe in both themes and does not scroll sideways at ${width} px`, async () => {
      for (const share of [campaign, alone]) {
        const page = await open(urlOf(share), { viewport: { width, height: 900 } });
        // Axe takes seconds: one width is tested folded, the other unfolded.
        const isFolded = width === 1280;
        if (!isFolded) await unfold(page);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          assert.deepEqual(await findViolations(page), [], colorScheme);
        }
        if (isFolded) await unfold(page);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        await page.close();
      }
    });

  for (const javaScriptEnabled of [true, false])
    it(`a table row opens its report ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      const page = await open(urlOf(campaign), { javaScriptEnabled });
      const report = page.locator('#test-2');
      assert.equal(await report.isVisible(), false);
      await page.locator('.tests a').nth(1).click();
      await report.locator('.verdict').waitFor({ state: 'visible' });
      assert.equal(await page.locator('#test-1').isVisible(), false);
      const top = await page.locator('.shared-test').nth(1).boundingBox();
      assert.ok(top!.y > -20 && top!.y < 100, `its head is in sight: ${top!.y}`);
      await report.getByText('Back to overview').click();
      await page.waitForURL(/#overview$/);
      await page.close();
    });

  it('prints everything, each report on a new page', async () => {
    const page = await open(urlOf(campaign), { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    const folded = await page.evaluate(
      () =>
        [...document.querySelectorAll('details > :not(summary)')].filter(
          (each) => each.getBoundingClientRect().height === 0,
        ).length,
    );
    assert.equal(folded, 0);
    const breaks = await page.evaluate(() =>
      [...document.querySelectorAll('.shared-test')].map(
        (each) => getComputedStyle(each).breakBefore,
      ),
    );
    assert.deepEqual(breaks, ['page', 'page', 'page', 'page']);
    await page.close();
  });

  it('opens with 100 tests in under 15 seconds', async (t) => {
    const url = urlOf(await largeShare());
    const page = await open(url);
    await page.locator('.tests a').last().click();
    await page.locator('#test-100 .verdict').waitFor({ state: 'visible' });
    const ready = await page.evaluate(
      () => (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming).duration,
    );
    t.diagnostic(`${Math.round(ready)} ms`);
    assert.ok(ready < 15_000, `${ready} ms`);
    await page.close();
  });
});
