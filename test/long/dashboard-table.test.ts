/** The table of domains in a browser: on the spot with the script, by links without it, and compact on a phone. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fillDomains } from '../../scripts/bench/filled-domains.ts';
import { refreshDue } from '../../src/domain-table/refresh.ts';
import { startTestService } from '../helpers/app.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

async function start(t: TestContext, count: number) {
  const service = await startTestService(t);
  await service.app.scheduler.stop();
  await fillDomains(service.app.db, count);
  await refreshDue(service.app);
  return { service, browser: await startMemberBrowser(t, service, 'member') };
}

const NAMES = '.domain-table tbody .row-link bdi';

test('Typing, choosing and sorting change the table without a new page, and the URL keeps it', async (t) => {
  const { browser } = await start(t, 24);
  const page = await browser.open('/domains');
  const names = () => page.locator(NAMES).allInnerTexts();
  const shows = (query: string) => page.waitForURL((url) => url.search === query);
  await page.evaluate('window.loadedOnce = true');
  await page.getByLabel('Name contains').pressSequentially('customer-2');
  await shows('?q=customer-2');
  assert.deepEqual(
    (await names()).sort(),
    [2, 20, 21, 22, 23].map((i) => `customer-${i}.example`),
  );
  await page.getByRole('link', { name: 'Domain', exact: true }).click();
  await shows('?q=customer-2&sort=name');
  const sorted = await names();
  assert.deepEqual(sorted, sorted.toSorted());
  await page.keyboard.press('Enter');
  await shows('?q=customer-2&sort=name&order=desc');
  assert.deepEqual(await names(), sorted.toReversed());
  assert.equal(await page.getByLabel('Sort by').inputValue(), 'name');
  await page.getByLabel('Tag', { exact: true }).selectOption('marketing');
  await shows('?q=customer-2&tag=marketing&sort=name&order=desc');
  assert.deepEqual(await names(), ['customer-21.example']);
  await page.getByLabel('Name contains').fill('');
  await page.getByLabel('Group by').selectOption('client');
  await page.waitForURL(/group=client/);
  await page.locator('.domain-table .group').nth(7).waitFor();
  assert.equal(await page.evaluate('window.loadedOnce'), true, 'never loaded again');
  const url = page.url();
  await page.reload();
  assert.equal(await page.locator('.domain-table .group').count(), 8);
  assert.equal(page.url(), url);
});

test('Tags are given to selected rows, after filtering on the spot too', async (t) => {
  const { browser } = await start(t, 12);
  const page = await browser.open('/domains');
  await page.getByLabel('Name contains').pressSequentially('customer-1');
  await page.waitForURL(/q=customer-1$/);
  const add = page.getByRole('button', { name: 'Add tag' });
  assert.equal(await add.getAttribute('aria-disabled'), 'true', 'nothing is selected yet');
  await page.getByLabel('Select all').check();
  await page.getByText('3 selected').waitFor();
  await page.getByLabel('Tags, separated by commas').fill('client:new');
  await add.click();
  await page.getByText('Tags of 3 domains changed.').waitFor();
  assert.equal(await page.locator('.domain-table .tag', { hasText: 'client:new' }).count(), 3);
});

test('Without script, the table sorts and filters by links and a button', async (t) => {
  const { browser } = await start(t, 12);
  const page = await browser.open('/domains', { javaScriptEnabled: false });
  await page.getByRole('link', { name: 'Domain', exact: true }).click();
  await page.waitForURL(/sort=name/);
  await page.getByLabel('Name contains').fill('customer-1');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/q=customer-1/);
  assert.deepEqual(
    await page.locator(NAMES).allInnerTexts(),
    [1, 10, 11].map((i) => `customer-${i}.example`),
  );
});

test('All columns fit at 1280 px; at 390 px each row has at most two lines, and eight are in sight', async (t) => {
  const { browser, service } = await start(t, 30);
  await service.call('POST', '/v1/domains', {
    json: { name: `${'a-long-label-of-a-name.'.repeat(8)}example`, tags: ['x'.repeat(50)] },
  });
  const wide = await browser.open('/domains');
  const overflow = `(() => {
    const table = document.querySelector('.table');
    return [document.documentElement.scrollWidth - innerWidth, table.scrollWidth - table.clientWidth];
  })()`;
  assert.deepEqual(await wide.evaluate(overflow), [0, 0]);
  assert.equal(await wide.locator('.domain-table th:visible').count(), 11);
  const phone = await browser.open('/domains', { viewport: SIZES.phone });
  assert.deepEqual(await phone.evaluate(overflow), [0, 0]);
  const rows = await phone.locator('.domain-table tbody tr').all();
  let inSight = 0;
  for (const row of rows) {
    const { y, height } = (await row.boundingBox())!;
    assert.ok(height >= 44 && height <= 64, `${height} px`);
    if (y + height <= SIZES.phone.height) inSight++;
  }
  assert.ok(inSight >= 8, `${inSight} rows`);
  for (const path of ['/domains', '/domains?group=client&sort=dmarc', '/'])
    await checkLook(browser, path);
});
