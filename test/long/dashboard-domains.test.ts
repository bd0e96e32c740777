/** The pages of domains and monitors in a real browser, as people use them, on a phone and on a desktop. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createDnsResolver } from '../../src/net/dns/network-resolver.ts';
import { offlineWebClient } from '../../src/net/http/web.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import {
  ACCOUNTS_ENV,
  storeAddressDay,
  storeBlock,
  storeGmailDay,
  storeGmailDomain,
  storeRequirement,
  storeWorkingAccounts,
} from '../dashboard/published.ts';
import { startTestService } from '../helpers/app.ts';
import { blocklistZone, listIn } from '../helpers/blocklists.ts';
import { testClock } from '../helpers/clock.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { ADDRESS, REVERSED } from '../monitors/monitoring.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

/** With a DNS server on loopback. Its clock moves on only when a test says so, so no answer expires by itself. */
async function startPages(t: TestContext, env: Record<string, string> = {}) {
  const clock = testClock(Date.now());
  const dns = await startDnsServer({ ...blocklistZone(), ...structuredClone(GOOD_ZONE) });
  t.after(() => dns.close());
  const resolver = createDnsResolver({ servers: [dns.address], clock });
  t.after(() => resolver.close());
  const service = await startTestService(t, {
    clock,
    resolver,
    web: offlineWebClient,
    probeMailTls: async () => ({ status: 'unreachable', silent: false, detail: 'port 25 is shut' }),
    env: { DELIVERABILITY_BLOCKLISTS: '-all,+zen.spamhaus.org,+dbl.spamhaus.org', ...env },
  });
  return { service, dns, clock };
}

const mainText = (page: Page) => page.locator('main').innerText();

/** The record on the page, read as a person would copy it. */
async function readRecord(page: Page): Promise<{ name: string; value: string }> {
  const codes = await page.locator('#verification .dns-record code').allInnerTexts();
  return { name: codes[1]!, value: codes[2]! };
}

for (const [size, viewport] of Object.entries(SIZES))
  test(`A member adds, verifies and fixes a domain on a ${size}`, async (t) => {
    const { service, dns, clock } = await startPages(t);
    const browser = await startMemberBrowser(t, service, 'member');
    const page = await browser.open('/domains', { viewport });
    await page.getByLabel('Add domains').fill('a..b');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Error:').waitFor();
    await page.getByLabel('Add domains').fill('https://example.com/shop');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'Verify example.com' }).waitFor();

    await page.getByRole('button', { name: 'Verify now' }).click();
    await page.getByText('No TXT record found').first().waitFor();
    const { name, value } = await readRecord(page);
    dns.zone[name] = { TXT: [value] };
    dns.zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=none'] };
    clock.advance(60_000);
    await page.getByRole('button', { name: 'Verify now' }).click();
    await page.getByText('Record found. example.com is verified.').waitFor();
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('Health check completed.').waitFor();
    await page.getByRole('heading', { name: 'Fix these first' }).waitFor();
    await page
      .locator('#health .check-item > summary', { hasText: 'no address for reports' })
      .click();
    const finding = page.locator('#health .check-item', { hasText: 'no address for reports' });
    const fix = await finding.locator('.dns-record').innerText();
    assert.match(fix, /_dmarc\.example\.com/);

    dns.zone['_dmarc.example.com'] = structuredClone(GOOD_ZONE)['_dmarc.example.com']!;
    clock.advance(120_000);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('example.com is healthy').first().waitFor();
    assert.equal(await page.getByRole('heading', { name: 'Fix these first' }).count(), 0);

    await page.getByText('Delete domain…').click();
    await page.getByRole('button', { name: 'Delete example.com' }).click();
    await page.getByText('Domain deleted.').waitFor();
  });

test('A listing is found, understood and resolved with the keyboard alone', async (t) => {
  const { service, dns, clock } = await startPages(t);
  Object.assign(dns.zone, listIn('zen.spamhaus.org', REVERSED, '127.0.0.2'));
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open('/monitors');
  const { keyboard } = page;
  await focusByTab(page, 'Create monitor');
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New monitor' }).waitFor();
  await focusByTab(page, 'Blocklists');
  await keyboard.press('Enter');
  await page.locator('textarea[name="targets"]').waitFor();
  await focusByTab(page, 'Name');
  await keyboard.type('Our servers');
  await focusByTab(page, 'IP addresses and names');
  await keyboard.type(ADDRESS);
  await focusByTab(page, 'Create monitor');
  await keyboard.press('Enter');
  await page.getByText('Monitor created.').waitFor();
  await focusByTab(page, 'Run now');
  await keyboard.press('Enter');
  await page.getByText(`Spamhaus ZEN lists ${ADDRESS}`).first().waitFor();
  assert.match(await mainText(page), /The last run has one finding/);

  for (const name of Object.keys(listIn('zen.spamhaus.org', REVERSED, '127.0.0.2')))
    delete dns.zone[name];
  clock.advance(120_000);
  await focusByTab(page, 'Run now');
  await keyboard.press('Enter');
  await page.getByText('No problem found', { exact: true }).waitFor();
  assert.match(await mainText(page), /Resolved: Spamhaus ZEN lists/);

  await focusByTab(page, 'Pause');
  await keyboard.press('Enter');
  await page.getByText('Monitor paused.').waitFor();
  await focusByTab(page, 'Delete monitor…');
  await keyboard.press('Enter');
  await focusByTab(page, 'Delete monitor');
  await keyboard.press('Enter');
  await page.getByText('Monitor deleted.').waitFor();
});

/** Presses Tab until the control with this name has the focus. */
async function focusByTab(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 100; presses++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(
      `(({ labels, textContent }) => (labels?.[0] ?? { textContent }).textContent.trim())(document.activeElement)`,
    );
    if (focused === name) return;
  }
  assert.fail(`Tab never reaches “${name}”`);
}

test('Every page of domains and monitors is accessible in both themes and fits both screens', async (t) => {
  const { service, dns } = await startPages(t);
  const { call } = service;
  const browser = await startMemberBrowser(t, service, 'admin');
  for (const path of ['/domains', '/monitors']) await checkLook(browser, path);
  const add = async (name: string) =>
    (
      await call<{ id: string; verification: { name: string; value: string } }>(
        'POST',
        '/v1/domains',
        { json: { name, badge_enabled: true } },
      )
    ).body;
  const broken = await add('example.com');
  dns.zone['example.com'] = {
    TXT: ['v=spf1 include:nowhere.example +all'],
    MX: ['10 mx.example.com'],
  };
  dns.zone[broken.verification.name] = { TXT: [broken.verification.value] };
  await call('POST', `/v1/domains/${broken.id}/verify`);
  await call('GET', `/v1/domains/${broken.id}/health`);
  const long = await add(`${'a-long-label-of-a-name.'.repeat(8)}example`);
  Object.assign(dns.zone, listIn('zen.spamhaus.org', REVERSED, '127.0.0.2'));
  const { body: monitor } = await call<{ id: string; status: string }>('POST', '/v1/monitors', {
    json: { name: 'x'.repeat(200), type: 'blocklist', targets: [ADDRESS, '2001:4860::1'] },
  });
  const member = await browser.open(`/monitors/${monitor.id}`);
  await member.getByRole('button', { name: 'Run now' }).click();
  await member.getByText(`Spamhaus ZEN lists ${ADDRESS}`).first().waitFor();
  for (const path of [
    '/domains',
    '/domains?state=pending',
    `/domains/${broken.id}`,
    `/domains/${long.id}?done=verify`,
    '/monitors',
    '/monitors/new',
    '/monitors/new?type=blocklist',
    `/monitors/${monitor.id}`,
  ])
    await checkLook(browser, path);
});

/** In trouble at Gmail and Outlook, beside what DNS says. */
async function storeTrouble(
  { app }: Awaited<ReturnType<typeof startPages>>['service'],
  name: string,
) {
  await storeWorkingAccounts(app);
  await storeGmailDomain(app, name);
  await storeGmailDomain(app, `${'a-long-label-of-a-name.'.repeat(8)}example`, {
    problem: 'no_permission',
    problem_detail: 'The account may not read the domain.',
  });
  const errors = JSON.stringify([
    { type: 'reject', reason: 'low_ip_reputation', rate: 0.08, count: 210 },
    { type: 'temp_fail', reason: 'a_reason_of_the_future', rate: 0.01, count: null },
  ]);
  for (let age = 28; age >= 2; age--)
    if (age % 6 !== 0)
      await storeGmailDay(app, name, age, {
        spam_rate: age > 8 ? 0.0004 : 0.0041,
        spf_rate: 0.99,
        dkim_rate: 1,
        dmarc_rate: 0.7,
        tls_rate: 1,
        tls_messages: 1200,
        reject_rate: 0.08,
        temp_fail_rate: 0.01,
        errors,
      });
  for (const requirement of ['SPF', 'ONE_CLICK_UNSUBSCRIBE', 'A_NEW_REQUIREMENT'])
    await storeRequirement(app, name, { requirement, status: 'NEEDS_WORK' });
  await storeRequirement(app, name, { requirement: 'ENCRYPTION', status: 'COMPLIANT' });
  for (let age = 28; age >= 1; age--)
    await storeAddressDay(app, ADDRESS, age, { filter_result: age > 9 ? 'GREEN' : 'RED' });
  await storeBlock(app, ADDRESS, 'Blocked due to user complaints or other evidence of spamming');
}

test('A domain in trouble at Gmail and Outlook, and the accounts there, are accessible and fit both screens', async (t) => {
  const { service } = await startPages(t, ACCOUNTS_ENV);
  const { app, call } = service;
  const { body: domain } = await call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const paths = [`/domains/${domain.id}`, `/domains/${domain.id}?days=120`, '/receivers'];
  const browser = await startMemberBrowser(t, service, 'member');
  for (const path of paths) await checkLook(browser, path);
  await storeTrouble(service, 'example.com');
  await app.db.updateTable('domains').set({ status: 'verified' }).execute();
  await app.db
    .insertInto('feedback_addresses')
    .values({
      id: `${domain.id} ${ADDRESS}`,
      domain_id: domain.id,
      address: ADDRESS,
      messages: 9,
      passed: 9,
      first_day: '2020-01-01',
      last_day: new Date().toISOString().slice(0, 10),
      look_up_at: '2100-01-01T00:00:00.000Z',
    })
    .execute();
  for (const path of paths) await checkLook(browser, path);
  const page = await browser.open(paths[0]!, { javaScriptEnabled: false });
  const headline = page.locator('#picture h2');
  assert.match(await headline.innerText(), /Outlook blocks your sending address/);
  await page
    .locator('#picture')
    .getByRole('link', { name: /more problems/ })
    .click();
  assert.ok((await page.locator('#problems .check-item').count()) >= 4);
  // The records of the domain were looked up when it was added.
  const fine = page.locator('#picture .source-lines > li:has(.state.pass) strong');
  assert.deepEqual(await fine.allInnerTexts(), ['DNS']);
  await page.locator('#problems .check-item > summary', { hasText: '0.41%' }).click();
  await page.locator('#problems').getByText('Google’s limits: below 0.1%').waitFor();
  await page.locator('#gmail').getByText('Show all days as a table').click();
  await page.locator('#gmail .day-table').getByText('0.41%').first().waitFor();
  await page.getByRole('link', { name: '120 days' }).click();
  await page.waitForURL(/days=120#gmail$/);
  await page
    .locator('#gmail')
    .getByText(/of 120 days have data/)
    .waitFor();
});
