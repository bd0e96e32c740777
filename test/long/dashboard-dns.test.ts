/** Name servers, the plan and its result in a real browser, on a phone and on a desktop, with and without scripts. */

// @one-database: about pages in a browser.
// @isolated: it adds a kind of name server before the schema of the API is built.

import '../dns-changes/memory-server.ts';

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memory } from '../dns-changes/memory-server.ts';
import { DMARC, startPublishing, WEAK } from '../dns-changes/publishing.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

for (const [size, viewport] of Object.entries(SIZES))
  test(`An admin publishes the record of a finding and undoes it on a ${size}`, async (t) => {
    const { domain, dns, service } = await startPublishing(t).then((service) => ({
      ...service,
      service,
    }));
    const browser = await startMemberBrowser(t, service, 'admin');
    // On the phone, nothing needs a script.
    const javaScriptEnabled = size === 'desktop';
    const page = await browser.open(`/domains/${domain.id}`, { viewport, javaScriptEnabled });
    await page.locator('#health .check-item > summary', { hasText: 'p=none' }).click();
    await page.getByRole('link', { name: 'Publish this record' }).first().click();
    await page.getByRole('heading', { name: 'Changes at ns1' }).waitFor();
    assert.match(await page.locator('.record-diff .removed').innerText(), /v=DMARC1; p=none/);
    assert.match(await page.locator('.record-diff .added').innerText(), /v=DMARC1; p=quarantine/);
    await page.getByText('Zone file').click();
    await page.getByText('_dmarc.example.com. 600 IN TXT').waitFor();
    if (javaScriptEnabled) await checkLook(browser, new URL(page.url()).pathname);
    await page.getByRole('button', { name: 'Publish these records' }).click();
    await page.getByText('1 change published.').waitFor();
    assert.notDeepEqual(dns.zone[DMARC], { TXT: [WEAK] });
    await page.getByRole('link', { name: DMARC }).click();
    await page.getByRole('heading', { name: 'DNS change' }).waitFor();
    for (const path of javaScriptEnabled ? [new URL(page.url()).pathname, '/dns/changes'] : [])
      await checkLook(browser, path);
    await page.getByText('Undo…').click();
    await page.getByRole('button', { name: 'Undo this change' }).click();
    await page.getByText('The old records are published again.').waitFor();
    assert.deepEqual(dns.zone[DMARC], { TXT: [WEAK] });
  });

test('An admin adds a name server, sees why it does not work, and corrects it', async (t) => {
  const service = await startPublishing(t);
  const browser = await startMemberBrowser(t, service, 'admin');
  const page = await browser.open('/dns', { viewport: SIZES.desktop });
  await page.getByRole('link', { name: 'Add name server' }).click();
  await page.getByRole('heading', { name: 'New name server' }).waitFor();
  await page.getByRole('link', { name: 'Memory', exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill('attic');
  await page.getByLabel('Memory room').fill('attic');
  await page.getByLabel('Memory password').fill('wrong');
  await page.getByRole('button', { name: 'Add and check' }).click();
  await page.getByText('The server does not accept the password.').waitFor();
  for (const path of ['/dns', '/dns/servers/new', new URL(page.url()).pathname])
    await checkLook(browser, path);
  await page.getByLabel('New Memory password').fill(memory.password);
  await page.getByRole('button', { name: 'Save and check' }).click();
  await page.getByText('Changes saved.').waitFor();
});
