/** Charts in a real browser: their values with the mouse, the keyboard, a touch, and without script. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findDomain, presentListed } from '../../src/domains/queries.ts';
import { appendEvent } from '../../src/events/events.ts';
import { transact } from '../../src/store/open.ts';
import {
  ACCOUNTS_ENV,
  storeGmailDay,
  storeGmailDomain,
  storeWorkingAccounts,
} from '../dashboard/published.ts';
import { storeTest } from '../dashboard/stored-tests.ts';
import { BEGIN } from '../feedback/reading/builders.ts';
import { NOW, named, startFeedback } from '../feedback/start.ts';
import { reportsOfDay, STORY_ZONE } from '../feedback/story.ts';
import { checkLook, type MemberBrowser, SIZES, startMemberBrowser } from './dashboard.ts';

const DAY_S = 86_400;
/** Where pictures go, to look at them. */
const PICTURES = process.env.CHART_PICTURES;

/** Three weeks of reports with a gap, a policy that changed, a test that failed, and a month of Gmail. */
async function startCharts(t: TestContext) {
  const feedback = await startFeedback(
    t,
    { zone: STORY_ZONE, env: ACCOUNTS_ENV },
    NOW - 10 * DAY_S * 1000,
  );
  const { clock, domain, service } = feedback;
  const { app } = service;
  await transact(app.db, async (tx) => {
    const row = (await findDomain(tx, domain.id))!;
    const change = {
      name: '_dmarc.example.com',
      type: 'TXT',
      before: ['v=DMARC1; p=none'],
      after: ['v=DMARC1; p=quarantine'],
      dns_change_id: null,
    };
    const data = { ...presentListed(row), changes: [change] };
    await appendEvent(tx, { type: 'domain.records_changed', livemode: true, data }, app);
  });
  clock.set(NOW - 4 * DAY_S * 1000);
  await storeTest(app, { domain_id: domain.id, dmarc: 'fail', hoursAgo: 0 });
  clock.set(NOW);
  for (let day = 21; day >= 0; day--) {
    if (day > 12 && day < 16) continue;
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      reporters: 2,
      sendgridSigns: day < 6,
      newcomer: day < 8,
    }))
      await feedback.upload(report);
  }
  await named(feedback);
  await storeWorkingAccounts(app);
  await storeGmailDomain(app, 'example.com');
  for (let age = 28; age >= 2; age--)
    if (age % 9 !== 0)
      await storeGmailDay(app, 'example.com', age, {
        spam_rate: age === 7 ? 0.0034 : age < 12 ? 0.0012 : 0.0004,
        dkim_rate: 1 - age / 1000,
        spf_rate: age === 5 ? 0.62 : 0.98,
        dmarc_rate: 0.999,
        tls_rate: 1,
      });
  for (let hours = 1; hours < 160; hours += 9)
    await storeTest(app, { hoursAgo: hours, score: 60 + (hours % 37), grade: 'C' });
  return { ...feedback, path: `/feedback/domains/${domain.id}` };
}

const PLOT = '#by-day .plot';
const valueIn = (page: Page) => page.locator(`${PLOT} .chart-value`);

/** The middle of the bar with this index, of 30. */
async function positionOf(page: Page, index: number) {
  const box = (await page.locator(`${PLOT} svg`).first().boundingBox())!;
  // The scale is left of the plot, and part of what the browser measures.
  const plot = (await page.evaluate(
    `(() => { const { left, width } = document.querySelector('${PLOT} > svg').getBoundingClientRect(); return [left, width]; })()`,
  )) as [number, number];
  return { x: plot[0] + (plot[1] * (index + 0.5)) / 30, y: box.y + box.height / 2 };
}

test('A chart tells the value of each day with the mouse, the keyboard and a touch', async (t) => {
  const { service, path, domain } = await startCharts(t);
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open(path, { locale: 'en-GB' });
  const plot = page.locator(PLOT);
  const value = valueIn(page);
  assert.equal(await value.isVisible(), false);

  await plot.scrollIntoViewIfNeeded();
  // The mouse: a day with messages, and one without reports.
  const day = await positionOf(page, 27);
  await page.mouse.move(day.x, day.y);
  assert.match((await value.textContent())!, /^20 Nov 2026: \d+ messages; passed: \d+/);
  const gap = await positionOf(page, 15);
  await page.mouse.move(gap.x, gap.y);
  assert.equal(await value.textContent(), '8 Nov 2026: no reports');
  await page.mouse.move(5, 5);
  assert.equal(await value.isVisible(), false);

  // The keyboard: one stop for the whole chart, which names the value for screen readers.
  await plot.focus();
  await page.keyboard.press('Home');
  assert.equal(await value.textContent(), '24 Oct 2026: no reports');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await plot.getAttribute('aria-valuenow'), '1');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await plot.getAttribute('aria-valuenow'), '29');
  assert.match((await plot.getAttribute('aria-valuetext'))!, /^21 Nov 2026: \d+ messages; passed/);
  await page.keyboard.press('PageDown');
  assert.equal(await plot.getAttribute('aria-valuenow'), '22');
  assert.equal(await plot.getAttribute('role'), 'slider');
  assert.match((await plot.getAttribute('aria-label'))!, /^Messages by day from 24 Oct 2026 to/);
  await page.keyboard.press('Escape');
  assert.equal(await value.isVisible(), false);

  // What explains the figures: at the day, and as a list.
  const marked = await positionOf(page, 19);
  await page.mouse.move(marked.x, marked.y);
  const change = 'DMARC policy changed from none to quarantine';
  assert.match((await value.textContent())!, new RegExp(`^12 Nov 2026: .*\\. ${change}$`));
  const pins = page.locator('#by-day .chart-pins > li');
  assert.deepEqual(await pins.count(), 2);
  assert.match((await pins.nth(0).textContent())!, new RegExp(`12 Nov 2026 ${change}`));
  await pins.nth(0).getByRole('link').click();
  await page.waitForURL(new RegExp(`/domains/${domain.id}#history`));

  const phone = await browser.open(path, {
    viewport: SIZES.phone,
    hasTouch: true,
    isMobile: true,
    locale: 'de-DE',
  });
  await phone.locator(PLOT).scrollIntoViewIfNeeded();
  const touched = await positionOf(phone, 27);
  await phone.touchscreen.tap(touched.x, touched.y);
  // In the language of the browser, as all dates of the page.
  assert.match((await valueIn(phone).textContent())!, /^20\. Nov\. 2026: \d+ messages/);
  const dates = await phone.locator(`${PLOT} > svg > text`).allTextContents();
  assert.ok(dates.includes('22. Nov.'), dates.join());
  const box = (await valueIn(phone).boundingBox())!;
  assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await phone.getByRole('heading', { name: 'Messages by day' }).tap();
  assert.equal(await valueIn(phone).isVisible(), false);

  const paths = {
    feedback: path,
    year: `${path}?days=400`,
    week: `${path}?days=7`,
    overview: '/',
    receivers: `/domains/${domain.id}`,
    alert: '/alerts/new',
    list: '/feedback',
  };
  for (const one of Object.values(paths)) await checkLook(browser, one);
  await takePictures(browser, paths);
});

test('Without script, a chart has its scale, its dates and a title for each day', async (t) => {
  const { service, path } = await startCharts(t);
  const browser = await startMemberBrowser(t, service, 'viewer');
  const page = await browser.open(path, { javaScriptEnabled: false });
  const image = page.locator(`${PLOT} > svg`);
  assert.equal(await image.getAttribute('role'), 'img');
  assert.equal(await page.locator(`${PLOT} title`).count(), 30);
  const labels = await image.locator(':scope > text').allTextContents();
  for (const label of ['0', '24 Oct', '22 Nov']) assert.ok(labels.includes(label), labels.join());
  // A viewer reads what happened, and has no page of the domain.
  const pins = page.locator('#by-day .chart-pins > li');
  assert.match((await pins.first().textContent())!, /DMARC policy changed from none to quarantine/);
  assert.equal(await pins.first().getByRole('link').count(), 0);
});

async function takePictures(browser: MemberBrowser, paths: Record<string, string>) {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  for (const [name, path] of Object.entries(paths))
    for (const [size, viewport] of Object.entries(SIZES))
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.open(path, { viewport, colorScheme });
        const part = {
          overview: '#trend',
          feedback: '#by-day',
          year: '#by-day',
          week: '#by-day',
          receivers: '#gmail',
        };
        const card = part[name as keyof typeof part];
        const file = { path: `${PICTURES}/${name}-${size}-${colorScheme}.png` };
        if (card) {
          await page.locator(`${card} .plot`).first().focus();
          await page.keyboard.press('ArrowLeft');
          await page.keyboard.press('ArrowLeft');
          await page.locator(card).first().screenshot(file);
        } else await page.screenshot({ ...file, fullPage: name !== 'alert' });
        await page.close();
      }
}
