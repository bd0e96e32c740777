/** The pages of alerts and webhooks in a real browser: whole flows, the keyboard, every size and theme. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const options = { skip: skipUnlessInstalled('chromium') };

/** A service that can send email and webhooks. */
async function start(t: TestContext) {
  const receiver = await startReceiver(t);
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      ...receiver.env,
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  return { service, receiver, sink };
}

/** Submits a message whose score is below 100, and waits for its result. */
async function completeTest(service: TestService): Promise<void> {
  const { body } = await service.call('POST', '/v1/tests/raw?client_ip=192.0.2.1&helo=a', {
    headers: { 'content-type': 'message/rfc822' },
    body: goodMessage(),
  });
  const { status } = await service.getTest(String(body.id), '?wait=40');
  assert.equal(status, 'completed');
}

/** Presses Tab until the element with this accessible name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null;
      if (element?.closest('nav')) return '';
      return element?.labels?.[0]?.textContent ?? element?.textContent ?? '';
    });
    if (focused.trim().startsWith(name)) return;
  }
  assert.fail(`${name} cannot be reached with the keyboard`);
}

test(
  'A person creates a rule, tests it, gets an alert, and reads the incident',
  options,
  async (t) => {
    const { service, sink } = await start(t);
    const browser = await startMemberBrowser(t, service, 'admin');
    for (const viewport of Object.values(SIZES)) {
      const page = await browser.open('/alerts', { viewport });
      const name = `Too low at ${viewport.width}`;
      await page.getByRole('link', { name: 'Create rule' }).click();
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('SPF, DKIM or DMARC').check();
      assert.equal(await page.getByLabel('Threshold, in points').isVisible(), false);
      await page.getByLabel('The score is too low').check();
      await page.getByLabel('Threshold, in points').fill('100');
      await page.getByLabel('Email recipients').fill(`ops${viewport.width}@example.com`);
      await page.getByRole('button', { name: 'Create rule' }).click();
      await page.getByText('Rule created.').waitFor();
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByText('Sample notifications queued.').waitFor();
      await sink.waitFor(new RegExp(`Sample[^]*Too low at ${viewport.width}`));
      await page.reload();
      await page.getByText('Email sent').waitFor();
      await completeTest(service);
      await page.goto(`${service.url}/alerts`);
      const row = page.getByRole('row', { name: 'Score' }).first();
      await row.getByRole('link').click();
      await page.getByRole('heading', { name: /scored \d+, below 100/ }).waitFor();
      await page.getByRole('heading', { name: 'What to do' }).waitFor();
      await page.getByText('Still open').waitFor();
      await page.goto(`${service.url}/alerts`);
      await page.getByRole('link', { name }).click();
      await page.getByText('Delete rule…').click();
      await page.getByRole('button', { name: 'Delete rule', exact: true }).click();
      await page.getByText('Rule deleted.').waitFor();
      await page.context().close();
    }
  },
);

test(
  'A person adds an endpoint, fixes it after failures, and resends what it missed',
  options,
  async (t) => {
    const { service, receiver } = await start(t);
    const browser = await startMemberBrowser(t, service);
    const page = await browser.open('/webhooks', { viewport: SIZES.phone });
    await page.getByRole('link', { name: 'Add endpoint' }).click();
    await page.getByLabel('URL', { exact: true }).fill(receiver.url);
    assert.equal(await page.getByLabel('test.failed').isVisible(), false);
    await page.getByLabel('All events').uncheck();
    await page.getByLabel('test.completed').check();
    await page.getByLabel('test.failed').check();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const secret = await page.locator('#secret code').textContent();
    assert.match(secret!, /^whsec_/);
    receiver.respond = () => ({ status: 500, body: '<img src=x onerror=alert(1)>' });
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('Test event sent.').waitFor();
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    receiver.respond = () => 200;
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByText('The endpoint responded with 200.').waitFor();
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link').last().click();
    await page.getByText('Rotate secret…').click();
    await page.getByRole('button', { name: 'Rotate secret', exact: true }).click();
    const rotated = await page.locator('#secret code').textContent();
    assert.match(rotated!, /^whsec_/);
    assert.notEqual(rotated, secret);
    // Held while the endpoint is disabled, and recovered afterwards.
    await page.goto(`${service.url}/webhooks`);
    await page.locator('.row-link').click();
    const path = new URL(page.url()).pathname;
    await service.app.db
      .updateTable('webhook_endpoints')
      .set({ auto_disabled_at: new Date().toISOString(), failing_since: new Date().toISOString() })
      .execute();
    await completeTest(service);
    await page.reload();
    await page.getByText('This endpoint was disabled automatically').waitFor();
    await page.getByRole('button', { name: 'Enable endpoint' }).first().click();
    await page.getByRole('button', { name: 'Resend missed deliveries' }).click();
    await page.getByText('1 delivery is being resent.').waitFor();
    await receiver.waitForRequests(3);
    await page.goto(`${service.url}${path}`);
    // On a phone, a button opens the filters.
    await page.locator('.filter-button').click();
    await page.getByLabel('State').selectOption('succeeded');
    await page.waitForURL(/status=succeeded/);
    assert.ok((await page.locator('.row-link').count()) >= 1);
  },
);

test('A rule is created and deleted with the keyboard alone', options, async (t) => {
  const { service } = await start(t);
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open('/alerts');
  await tabTo(page, 'Create rule');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/alerts\/new$/);
  await tabTo(page, 'Name');
  await page.keyboard.type('By keyboard');
  await page.keyboard.press('Tab');
  const chosen = page.locator('[name="condition"]:checked');
  const before = await chosen.inputValue();
  await page.keyboard.press('ArrowDown');
  assert.notEqual(await chosen.inputValue(), before);
  await tabTo(page, 'Webhook');
  await page.keyboard.press('Space');
  await tabTo(page, 'Create rule');
  await page.keyboard.press('Enter');
  await page.getByText('Rule created.').waitFor();
  await page.getByText('Webhook not configured').first().waitFor();
  await tabTo(page, 'Delete rule…');
  await page.keyboard.press('Enter');
  await tabTo(page, 'Delete rule');
  await page.keyboard.press('Enter');
  await page.getByText('Rule deleted.').waitFor();
});

test(
  'The pages of alerts and webhooks fit every size and theme, also with hostile texts',
  options,
  async (t) => {
    const { service, receiver } = await start(t);
    receiver.respond = () => ({
      status: 500,
      headers: { 'x-long': 'w'.repeat(2000) },
      body: `${'y'.repeat(3000)}\u202e<script>alert(1)</script>`,
    });
    const post = async (path: string, json: object = {}): Promise<string> => {
      const { status, body, text } = await service.call('POST', path, { json });
      assert.ok(status < 300, text);
      return String(body.id);
    };
    const empty = await startMemberBrowser(t, service);
    for (const path of ['/alerts', '/webhooks']) await checkLook(empty, path);
    const endpoint = await post('/v1/webhooks/endpoints', {
      url: `${receiver.url}/${'long'.repeat(300)}`,
      events: ['*'],
      description: `<b>\u202e${'d'.repeat(480)}`,
    });
    const rule = await post('/v1/alerts', {
      name: `<i>${'n'.repeat(190)}`,
      condition: 'score_below',
      threshold: 100,
      channels: ['email', 'webhook', 'slack'],
      recipients: [`${'r'.repeat(60)}@${'d'.repeat(60)}.example.com`],
    });
    await post(`/v1/alerts/${rule}/test`);
    await completeTest(service);
    const delivery = await post(`/v1/webhooks/endpoints/${endpoint}/test`);
    await service.call('GET', `/v1/webhooks/deliveries/${delivery}?wait=20`);
    const { body } = await service.call<{ data: { id: string }[] }>('GET', '/v1/alert_incidents');
    const browser = await startMemberBrowser(t, service);
    for (const path of [
      '/alerts',
      '/alerts/new',
      `/alerts/${rule}`,
      `/incidents/${body.data[0]!.id}`,
      '/webhooks',
      '/webhooks/new',
      `/webhooks/${endpoint}`,
      `/webhooks/deliveries/${delivery}`,
    ])
      await checkLook(browser, path);
  },
);
