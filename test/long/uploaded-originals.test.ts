/** Originals of five providers and of a Postfix server, chosen on the page of a new test in Chromium. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Test } from '../../src/mailtests/schema.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { COLOR_RULES, findViolations } from '../helpers/axe.ts';
import { loadOriginal, originalsZone } from '../helpers/originals.ts';
import { SIZES, startMemberBrowser } from './dashboard.ts';

const CLIENT = '203.0.114.9 (mail.lantern-books.example), encrypted, on 20 Nov 2026, 09:46 UTC.';
const VALUES = ['203.0.114.9', 'mail.lantern-books.example', 'bounce@lantern-books.example'];
const UNKNOWN = 'How the message was received is not known: this is a file.';

const RECEIVERS: [original: string, receiver: string][] = [
  ['gmail', 'Gmail'],
  ['outlook-com', 'Outlook.com / Microsoft 365'],
  ['yahoo', 'Yahoo'],
  ['icloud', 'iCloud'],
  ['fastmail', 'Fastmail'],
  ['postfix-dovecot', 'mx1.reader.example'],
];

const fieldValues = (page: Page) =>
  Promise.all(['#client_ip', '#helo', '#mail_from'].map((field) => page.inputValue(field)));

/** Chooses the file, and waits until the page says this about it. */
async function choose(page: Page, original: string, summary: string): Promise<void> {
  await page.setInputFiles('#file', loadOriginal(original).path);
  await page.locator('#upload').getByText(summary, { exact: true }).waitFor();
}

async function send(page: Page, { getTest }: TestService): Promise<Test> {
  await Promise.all([
    page.waitForURL('**/tests/test_*'),
    page.click('button:text("Test this message")'),
  ]);
  const [id] = /test_\w+/.exec(page.url())!;
  // The page of the test watches it, and would lose its connection when the service stops.
  await page.goto('about:blank');
  return getTest(id, '?wait=50');
}

const session = ({ envelope }: Test) => [envelope!.client_ip, envelope!.helo, envelope!.mail_from];
const sources = ({ envelope }: Test) =>
  (['client_ip', 'helo', 'mail_from'] as const).map(
    (name) => envelope!.file?.origins[name]?.source,
  );

describe('Originals on the page of a new test', () => {
  test('The page says who received each, and the test uses the values of the file', async (t) => {
    const service = await startTestService(t, { zone: originalsZone() });
    const page = await (await startMemberBrowser(t, service, 'member')).open('/tests/new');
    for (const [original, receiver] of RECEIVERS) {
      await page.goto(`${service.url}/tests/new`);
      await choose(page, original, `${receiver} received it from ${CLIENT}`);
      assert.deepEqual(await fieldValues(page), VALUES, original);
      assert.equal(await page.isVisible('#client_ip'), true, 'the values can be edited');
      const tested = await send(page, service);
      assert.deepEqual(session(tested), VALUES, original);
      assert.deepEqual(sources(tested), ['file', 'file', 'file'], original);
      assert.deepEqual(tested.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass' }, original);
    }
  });

  test('Values that the member edits win, and stay when another file is chosen', async (t) => {
    const service = await startTestService(t, { zone: originalsZone() });
    const page = await (await startMemberBrowser(t, service, 'member')).open('/tests/new');
    await choose(page, 'gmail', `Gmail received it from ${CLIENT}`);
    await page.fill('#client_ip', '203.0.114.77');
    await choose(page, 'from-a-build', UNKNOWN);
    assert.deepEqual(await fieldValues(page), ['203.0.114.77', '', '']);
    await choose(page, 'yahoo', `Yahoo received it from ${CLIENT}`);
    assert.deepEqual(await fieldValues(page), ['203.0.114.77', ...VALUES.slice(1)]);
    const tested = await send(page, service);
    assert.deepEqual(session(tested), ['203.0.114.77', ...VALUES.slice(1)]);
    assert.equal(sources(tested)[0], 'given');
    assert.equal(tested.auth_results.spf, 'fail');
  });

  test('A pasted original is read too, and what was never received says so', async (t) => {
    const service = await startTestService(t, { zone: originalsZone() });
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/tests/new', { expectedErrors: /status of 400/ });
    const summary = page.locator('#upload [data-receipt-summary]');
    await choose(page, 'sent-copy', UNKNOWN);
    assert.deepEqual(await fieldValues(page), ['', '', '']);
    // A file that is no message has no receipt. The error comes when it is sent.
    await page.setInputFiles('#file', {
      name: 'a.pdf',
      mimeType: 'application/pdf',
      buffer: Buffer.from('%PDF-1.7\n'),
    });
    await summary.waitFor({ state: 'hidden' });
    await page.setInputFiles('#file', []);
    await page.fill('#text', `\n\n${loadOriginal('gmx').raw.toString('latin1')}`);
    await page.press('#text', 'Tab');
    await page.getByText(`GMX received it from ${CLIENT}`).waitFor();
    const tested = await send(page, service);
    assert.deepEqual(session(tested), VALUES);
    assert.deepEqual(sources(tested), ['file', 'file', 'file']);
  });

  test('Without scripts, the test of an upload uses the values of the file', async (t) => {
    const service = await startTestService(t, { zone: originalsZone() });
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/tests/new', { javaScriptEnabled: false });
    await page.setInputFiles('#file', loadOriginal('fastmail').path);
    const tested = await send(page, service);
    assert.deepEqual(session(tested), VALUES);
    assert.deepEqual(sources(tested), ['file', 'file', 'file']);
  });

  test('The page with a receipt is accessible at every size and in both themes', async (t) => {
    const service = await startTestService(t);
    const page = await (await startMemberBrowser(t, service, 'member')).open('/tests/new');
    await choose(page, 'outlook-com', `Outlook.com / Microsoft 365 received it from ${CLIENT}`);
    for (const viewport of Object.values(SIZES))
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const options = colorScheme === 'dark' ? { runOnly: COLOR_RULES } : {};
        assert.deepEqual(await findViolations(page, options), []);
        const isTooWide = 'document.documentElement.scrollWidth > innerWidth';
        assert.equal(await page.evaluate(isTooWide), false, `${viewport.width} px`);
      }
  });
});
