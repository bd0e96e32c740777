/** The overview and the pages of reports in a browser: as a person uses them, on a phone and on a desktop. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Share } from '../../src/shares/schema.ts';
import { storeTest } from '../dashboard/stored-tests.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage, latin1 } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { checkLook, type MemberBrowser, SIZES, startMemberBrowser } from './dashboard.ts';

async function start(t: TestContext) {
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'reports@example.com',
    },
  });
  return { service, sink };
}

/** A test of a real message by SMTP. */
async function receive(service: TestService, name: string): Promise<string> {
  const { id, address } = await service.createTest({ name });
  await sendMail({ port: service.smtp.port, to: address, raw: latin1(goodMessage()) });
  const { status } = await service.getTest(id, '?wait=50');
  assert.equal(status, 'completed');
  return id;
}

/** Tests of several weeks with issues, a failing domain, and an open incident. */
async function fill(service: TestService): Promise<void> {
  await service.call('POST', '/v1/domains', { json: { name: 'example.com' } });
  await service.app.db
    .updateTable('domains')
    .set({
      status: 'verified',
      health_status: 'critical',
      health_score: 31,
      missing_since: '2026-11-20T10:00:00.000Z',
    })
    .execute();
  await service.call('POST', '/v1/alerts', {
    json: { name: 'Low scores', condition: 'score_below', threshold: 100, channels: ['webhook'] },
  });
  await receive(service, 'The newsletter');
  for (let day = 1; day < 40; day++)
    await storeTest(service.app, {
      hoursAgo: 24 * day,
      score: 60 + (day % 5) * 8,
      grade: 'C',
      issues: ['dmarc_policy'],
      subject: day === 2 ? `${'A long subject without an end '.repeat(50)}\u202e` : 'Receipt',
    });
}

const PAGES = ['/', '/?period=month', '/reports', '/reports/shares', '/reports/schedules'];

test('Every page is accessible and fits the screen, with data and without', async (t) => {
  const { service } = await start(t);
  const browser = await startMemberBrowser(t, service);
  for (const path of ['/', '/reports/shares/new', ...PAGES.slice(2)])
    await checkLook(browser, path);
  await fill(service);
  const [test] = (await service.call<{ data: { id: string }[] }>('GET', '/v1/tests')).body.data;
  const share = await service.call<Share>('POST', '/v1/reports/share', {
    json: { test_ids: [test!.id], title: 'x'.repeat(200) },
  });
  const schedule = await service.call<{ id: string }>('POST', '/v1/reports/schedules', {
    json: { name: 'Weekly', frequency: 'weekly', recipients: ['ann@example.com'] },
  });
  const path = `/reports/schedules/${schedule.body.id}`;
  await service.call('POST', `/v1${path}/send`);
  for (const page of [
    ...PAGES,
    `/reports/shares/${share.body.id}`,
    `/reports/shares/new?test_ids=${test!.id}`,
    path,
    `${path}/edit`,
    '/reports/schedules/new',
  ])
    await checkLook(browser, page);
});

for (const [size, viewport] of Object.entries(SIZES))
  test(`A ${size}: from what is broken to the figures of a month`, async (t) => {
    const { service } = await start(t);
    await fill(service);
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/', { viewport });
    const broken = page.getByRole('region', { name: 'Fix this domain first' });
    await broken
      .getByRole('link', { name: /example\.com: 192\.0\.2\.1 has no PTR record/ })
      .waitFor();
    assert.match(await page.locator('.key-figures').innerText(), /Average score/);
    await page.getByRole('link', { name: '30 days' }).click();
    await page.waitForURL('**/?period=month');
    await page.getByRole('heading', { name: 'Last 30 days' }).waitFor();
    assert.equal(await page.locator('#trend .slot').count(), 30);
    await page.getByText('Show as a table').click();
    await page.locator('.figures-table tbody tr').nth(29).waitFor();
    await page.getByLabel('Domain', { exact: true }).selectOption({ label: 'example.com' });
    await page.waitForURL('**/?period=month&domain_id=dom_*');
    const example = page.getByRole('link', { name: /Latest example/ });
    if (size === 'desktop') assert.ok((await example.count()) <= 5);
  });

async function createShare(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Share reports' }).click();
  await page.getByLabel('The newsletter').check();
  await page.getByLabel('Title (optional)').fill('For the agency');
  await page.getByLabel('Expires after').selectOption('1 day');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText('The link is ready').waitFor();
  return page.locator('#link code').first().innerText();
}

for (const [size, viewport] of Object.entries(SIZES))
  test(`A ${size}: a member shares a report, anyone opens it, the member revokes it`, async (t) => {
    const { service } = await start(t);
    await receive(service, 'The newsletter');
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/reports/shares', { viewport });
    const url = await createShare(page);
    const { pathname } = new URL(url);
    const opened = await fetch(service.url + pathname);
    assert.equal(opened.status, 200);
    assert.match(await opened.text(), /For the agency/);
    await page.goto(`${service.url}/reports/shares`);
    await page.getByRole('link', { name: 'For the agency' }).click();
    await page.getByText('Revoke…').click();
    await page.getByRole('button', { name: 'Revoke link' }).click();
    await page.getByText('Link revoked').waitFor();
    assert.equal((await fetch(service.url + pathname)).status, 410);
  });

async function fillSchedule(page: Page): Promise<void> {
  await page.getByLabel('Name').fill('Every month');
  await page.getByLabel('Recipients', { exact: true }).fill('ann@example.com');
}

for (const [size, viewport] of Object.entries(SIZES))
  test(`A ${size}: an admin schedules a report, previews it, and sends it now`, async (t) => {
    const { service, sink } = await start(t);
    await receive(service, 'The newsletter');
    const browser: MemberBrowser = await startMemberBrowser(t, service, 'admin');
    const page = await browser.open('/reports/schedules', { viewport });
    await page.getByRole('link', { name: 'Create schedule' }).click();
    // Only the fields of the chosen frequency are shown.
    assert.equal(await page.getByLabel('Day of the month').isVisible(), false);
    await page.getByLabel('How often').selectOption('Every month');
    assert.equal(await page.getByLabel('Day (weekly)').isVisible(), false);
    await page.getByLabel('Day of the month').fill('15');
    await fillSchedule(page);
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('Day 15 of every month at 08:00').waitFor();
    const [preview] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: /Preview/ }).click(),
    ]);
    await preview.getByText('Every month').first().waitFor();
    await preview.close();
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByText('The report is being sent').waitFor();
    await sink.waitFor(/Every month/);
    // The result of the delivery is recorded just after the server has accepted the message.
    await page.waitForFunction(async () => {
      const html = await (await fetch(location.href)).text();
      return html.includes('id="runs"') && !html.includes('Sending');
    });
    await page.reload();
    await page.locator('#runs').getByText('Sent', { exact: true }).first().waitFor();
  });

test('With the keyboard alone, an admin creates a schedule after an error', async (t) => {
  const { service } = await start(t);
  const browser = await startMemberBrowser(t, service, 'admin');
  const page = await browser.open('/reports/schedules/new');
  const tabTo = async (id: string) => {
    for (let i = 0; i < 80; i++) {
      if (await page.evaluate(`document.activeElement?.id === '${id}'`)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`${id} gets no focus`);
  };
  const pressSubmit = async () => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(`document.activeElement?.textContent === 'Create schedule'`)) break;
    }
    await page.keyboard.press('Enter');
  };
  await tabTo('name');
  await page.keyboard.type('Every Monday');
  await tabTo('recipients');
  await page.keyboard.type('not an address');
  await pressSubmit();
  await page.locator('#recipients-wrong').waitFor();
  assert.equal(await page.inputValue('#name'), 'Every Monday');
  await tabTo('recipients');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('ann@example.com');
  await pressSubmit();
  await page.getByText('Schedule created.').waitFor();
});

test('A printed summary has its figures, but no navigation and no controls', async (t) => {
  const { service } = await start(t);
  await fill(service);
  const browser = await startMemberBrowser(t, service, 'viewer');
  const page = await browser.open('/reports?period=month');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('.key-figures').isVisible(), true);
  assert.equal(await page.locator('.figures-table table').isVisible(), true);
  for (const hidden of ['#navigation', '.tabs', '.scope', '.curl', '.actions .button'])
    for (const element of await page.locator(hidden).all())
      assert.equal(await element.isVisible(), false, hidden);
});
