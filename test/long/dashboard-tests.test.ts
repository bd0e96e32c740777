/** The list of tests, new tests and comparisons in Chromium, as members use them. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Test } from '../../src/mailtests/schema.ts';
import { startTestService, type TestService, temporaryFolder } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const ENVELOPE = 'helo=mail.example.com&mail_from=bounce@example.com';
const ZONE = {
  'example.com': {
    A: ['192.0.2.1'],
    MX: ['10 mail.example.com'],
    TXT: ['v=spf1 ip4:192.0.2.1 -all'],
  },
  'mail.example.com': { A: ['192.0.2.1'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
  '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
};

async function submitted(
  { call, getTest }: TestService,
  query: string,
  body = goodMessage(),
  clientIp = '192.0.2.1',
) {
  const headers = { 'content-type': 'message/rfc822' };
  const { body: test } = await call<Test>(
    'POST',
    `/v1/tests/raw?client_ip=${clientIp}&${ENVELOPE}&${query}`,
    {
      headers,
      body,
    },
  );
  return getTest(test.id, '?wait=20');
}

const titles = (page: Page) => page.locator('.rows tbody .test-title').allTextContents();

describe('Tests in the browser', () => {
  for (const [size, viewport] of Object.entries(SIZES))
    test(`A member filters, selects, compares, exports and deletes tests on a ${size}`, async (t) => {
      const service = await startTestService(t, { zone: ZONE });
      // Sent by a server that SPF does not name.
      await submitted(service, 'name=March&tags=newsletter', goodMessage(), '192.0.2.9');
      await submitted(service, 'name=April&tags=newsletter');
      await service.createTest({ name: 'Waits' });
      const browser = await startMemberBrowser(t, service, 'member');
      const page = await browser.open('/tests', { viewport });
      assert.deepEqual(await titles(page), ['Waits', 'April', 'March']);
      if (size === 'phone') {
        // The filters are a button until it opens them.
        assert.equal(await page.isVisible('#status'), false);
        await page.click('.filter-button');
      } else assert.equal(await page.isVisible('.filter-button'), false);
      // A choice applies at once, and the URL contains only what was chosen.
      await Promise.all([
        page.waitForURL('**/tests?status=completed'),
        page.selectOption('#status', 'completed'),
      ]);
      await page.fill('#tag', 'Newsletter');
      await Promise.all([
        page.waitForURL('**/tests?status=completed&tag=Newsletter'),
        page.press('#tag', 'Enter'),
      ]);
      assert.deepEqual(await titles(page), ['April', 'March']);
      if (size === 'phone') {
        assert.match(
          await page.innerText('.filter-button'),
          /^Filters \(2\)\s+Completed · Newsletter$/,
        );
        await page.click('button:text("Done")');
      }
      await page.check('[data-action="select-all"]');
      await page.click('button:text("Compare")');
      await page.waitForURL('**/tests/compare?a=*');
      assert.match(await page.innerText('.compared-verdict'), /The score rose by \d+ points/);
      assert.deepEqual(await page.locator('.compared h2').allInnerTexts(), ['March', 'April']);
      await page.goBack();
      await page.uncheck('[data-action="select-all"]');
      await page.check('[aria-label="Select March"]');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click('button:text-is("Export")'),
      ]);
      const csv = readFileSync(await download.path(), 'utf8')
        .trim()
        .split('\r\n');
      assert.equal(csv.length, 2);
      assert.match(csv[1]!, /,March,completed,/);
      await page.click('button:text("Delete…")');
      await page.waitForURL('**/tests/delete?*');
      assert.equal(await page.innerText('h1'), 'Delete 1 test?');
      await page.click('button:text("Delete 1 test")');
      await page.waitForURL('**/tests?status=completed&tag=Newsletter&deleted=1');
      assert.deepEqual(await titles(page), ['April']);
      assert.match(await page.innerText('.notice'), /Test deleted/);
    });

  test('A member uploads a file, and pastes a message with the keyboard alone', async (t) => {
    const service = await startTestService(t, { zone: ZONE });
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/tests/new', { viewport: SIZES.phone });
    const file = join(temporaryFolder(t), 'message.eml');
    const message = goodMessage({ Subject: 'Grüße aus der Datei' }).replaceAll('\n', '\r\n');
    writeFileSync(file, message);
    await page.setInputFiles('#file', file);
    await page.click('text=How it was sent');
    await page.fill('#client_ip', '192.0.2.1');
    await Promise.all([
      page.waitForRequest((request) => /\/tests\/test_\w+$/.test(request.url())),
      page.click('button:text("Test this message")'),
    ]);
    const [uploaded] = (await service.call<{ data: Test[] }>('GET', '/v1/tests')).body.data;
    const { text } = await service.call<string>('GET', `/v1/tests/${uploaded!.id}/source`);
    assert.equal(text, message);

    const other = await browser.open('/tests/new');
    await other.focus('#file');
    await other.keyboard.press('Tab');
    await other.keyboard.insertText(goodMessage({ Subject: 'By keyboard' }));
    await other.keyboard.press('Tab');
    await other.keyboard.press('Enter');
    await other.keyboard.press('Tab');
    await other.keyboard.type('192.0.2.1');
    await Promise.all([
      other.waitForRequest((request) => /\/tests\/test_\w+$/.test(request.url())),
      other.keyboard.press('Enter'),
    ]);
    const [pasted] = (await service.call<{ data: Test[] }>('GET', '/v1/tests')).body.data;
    const done = await service.getTest(pasted!.id, '?wait=20');
    assert.deepEqual([done.subject, done.envelope?.client_ip], ['By keyboard', '192.0.2.1']);
  });

  test('Buttons for selected tests are off until enough are selected, with a reason', async (t) => {
    const service = await startTestService(t);
    await service.createTest({ name: 'One' });
    await service.createTest({ name: 'Two' });
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/tests');
    const compare = page.getByRole('button', { name: 'Compare' });
    const exportButton = page.getByRole('button', { name: 'Export', exact: true });
    const count = page.locator('.selected-count');
    const states = async () => [
      await count.innerText(),
      await exportButton.isEnabled(),
      await compare.isEnabled(),
    ];
    const reason = async () =>
      page.textContent(`#${await compare.getAttribute('aria-describedby')}`);
    assert.deepEqual(await states(), ['None selected', false, false]);
    // A button that is off has the focus and says why, but does nothing.
    await compare.focus();
    await page.keyboard.press('Enter');
    assert.equal(page.url(), `${service.url}/tests`);
    assert.equal((await reason())?.trim(), 'Select exactly two tests first.');
    await page.check('[aria-label="Select One"]');
    assert.deepEqual(await states(), ['1 selected', true, false]);
    await page.check('[aria-label="Select Two"]');
    assert.deepEqual(await states(), ['2 selected', true, true]);
    assert.equal(await compare.getAttribute('aria-describedby'), null);
    assert.equal(await page.isChecked('[data-action="select-all"]'), true);
    await page.uncheck('[data-action="select-all"]');
    assert.deepEqual(await states(), ['None selected', false, false]);
    // After "back", the browser restores the boxes, and with them the buttons.
    await page.check('[aria-label="Select One"]');
    await page.click('button:text("Delete…")');
    await page.waitForURL('**/tests/delete?*');
    await page.goBack();
    assert.deepEqual(await states(), ['1 selected', true, false]);
  });

  test('Without scripts, filters open on a phone and the buttons for selected tests work', async (t) => {
    const service = await startTestService(t);
    await service.createTest({ name: 'One' });
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/tests', {
      viewport: SIZES.phone,
      javaScriptEnabled: false,
    });
    assert.equal(await page.isVisible('#status'), false);
    await page.click('.filter-button');
    await page.selectOption('#status', 'waiting');
    await page.click('button:text("Apply")');
    await page.waitForURL('**/tests?*status=waiting*');
    await page.check('[aria-label="Select One"]');
    await page.click('button:text("Delete…")');
    await page.waitForURL('**/tests/delete?*');
    // An error opens the filters.
    await page.goto(`${service.url}/tests?domain=a..b`);
    assert.equal(await page.isVisible('#domain'), true);
  });

  test('The history of a test compares any two tests in one click', async (t) => {
    const service = await startTestService(t, { zone: ZONE });
    const subject = 'عرض 2026: خصم 20% (ABC-123)';
    const ids: string[] = [];
    for (const clientIp of ['192.0.2.9', '192.0.2.1', '192.0.2.1'])
      ids.push((await submitted(service, '', goodMessage({ Subject: subject }), clientIp)).id);
    const [first, second, third] = ids;
    const browser = await startMemberBrowser(t, service, 'viewer');
    await checkLook(browser, `/tests/${third}`);
    const page = await browser.open(`/tests/${third}`);
    const rows = page.locator('.history-rows tbody tr');
    assert.equal(await rows.count(), 3);
    assert.match(await rows.nth(1).innerText(), /Resolved: SPF.*\+\d+/s);
    // Numbers stand where they do in the message: the title has its own direction.
    assert.equal(await rows.first().locator('bdi').innerText(), subject);
    const compared = (a: string, b: string) =>
      page.waitForURL(
        ({ pathname, searchParams }) =>
          pathname === '/tests/compare' &&
          searchParams.get('a') === a &&
          searchParams.get('b') === b,
      );
    // This test and any other, any test and the one before it, and any two.
    const clicks: [() => Promise<void>, string, string][] = [
      [() => rows.nth(2).getByText('Compare with this test').click(), first!, third!],
      [() => rows.nth(1).locator('.delta').click(), first!, second!],
      [() => page.locator('#history').getByRole('button').click(), second!, third!],
    ];
    for (const [click, a, b] of clicks) {
      await Promise.all([compared(a, b), click()]);
      await page.goBack();
    }
    await rows.nth(2).locator('[name="a"]').check();
    await rows.nth(1).locator('[name="b"]').check();
    await Promise.all([
      compared(first!, second!),
      page.locator('#history').getByRole('button').click(),
    ]);
  });

  test('A keyboard reaches every action on selected tests', async (t) => {
    const service = await startTestService(t);
    const { id } = await service.createTest({ name: 'Only one' });
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/tests');
    await page.focus(`input[value="${id}"]`);
    await page.keyboard.press('Space');
    await page.focus('button:text("Delete…")');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tests/delete?*');
    await page.focus('button:text("Delete 1 test")');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tests?deleted=1');
    assert.match(await page.innerText('main'), /No tests yet/);
  });

  test('The pages are accessible and fit at every size and theme', async (t) => {
    const service = await startTestService(t, { zone: ZONE });
    const long = `${'A very long subject '.repeat(200)}${'x'.repeat(500)}`;
    const first = await submitted(service, 'name=March&tags=a,b,c,d', goodMessage({ Date: null }));
    const last = await submitted(service, '', goodMessage({ Subject: long }));
    await service.createTest({ tags: ['x'.repeat(50), 'y'.repeat(50)] });
    const browser = await startMemberBrowser(t, service);
    for (const path of [
      '/tests',
      '/tests?q=nothing',
      '/tests/new',
      `/tests/compare?a=${first.id}&b=${last.id}`,
      '/tests/compare',
      `/tests/delete?ids=${first.id},${last.id}`,
    ])
      await checkLook(browser, path);
  });
});
