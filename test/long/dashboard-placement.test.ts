/** Placement in a real browser: results that come into the report, seed mailboxes, monitors, and figures by provider. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Monitor } from '../../src/monitors/schema.ts';
import { type ImapServer, startImapServer } from '../helpers/imap-server.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { sendMail } from '../helpers/send.ts';
import {
  mailWith,
  offsetClock,
  sendToTest,
  startSeeding,
  waitForPlacement,
} from '../placement/seeding.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const skip = skipUnlessInstalled('chromium');

/** Four mailboxes, of which the last rejects the password. */
async function start(t: TestContext) {
  const mailboxes: ImapServer[] = [];
  for (let i = 0; i < 4; i++)
    mailboxes.push(
      await startImapServer(t, {
        folders: [
          { name: 'INBOX', messages: [] },
          { name: 'Junk', flags: ['\\Junk'], messages: [] },
        ],
      }),
    );
  const providers = ['gmail', 'gmail', 'gmail', 'gmx'];
  const clock = offsetClock();
  const service = await startSeeding(t, {
    clock,
    seeds: mailboxes.map(({ url }, i) => ({
      provider: providers[i],
      address: `seed${i}@${providers[i]}.example`,
      imap: i === 3 ? url.replace(/:[^:@]+@/, ':wrong@') : url,
      plus_addresses: true,
    })),
  });
  const deliver = (to: string, i: number, isSpam = false) => {
    const { messages } = mailboxes[i]!.script.folders[isSpam ? 1 : 0]!;
    const receivedAt = new Date(clock.now());
    messages.push({ uid: messages.length + 1, raw: mailWith({ To: to }), receivedAt });
  };
  return { service, clock, mailboxes, deliver };
}

test('Results from seed mailboxes come into the report without a reload, and what is open stays open', {
  skip,
}, async (t) => {
  const { service, deliver } = await start(t);
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open('/tests/new', { viewport: SIZES.desktop });
  await page.getByLabel('Test inbox placement').check();
  await page.locator('main form').getByRole('button', { name: 'Get a test address' }).click();
  await page.waitForURL(/\/tests\/test_\w+$/);
  const id = page.url().split('/').at(-1)!;
  const created = await service.getTest(id);
  const addresses = created.seed_addresses.map(({ address }) => address);
  assert.equal(addresses.length, 4);
  assert.equal(await page.locator('.seed-addresses code').textContent(), addresses.join(', '));
  await checkLook(browser, `/tests/${id}`);
  await page.evaluate('window.isSamePage = true');
  await sendToTest(service, created);
  const placement = page.locator('#placement');
  await placement.getByText('No results from seed mailboxes yet.').waitFor();
  const details = page.locator('main details:not([open])').first();
  await details.locator('summary').first().click();
  deliver(addresses[0]!, 0);
  await placement.getByText('1 of 1 seed mailboxes received the message in the inbox').waitFor();
  await page
    .getByRole('status')
    .filter({ hasText: 'Placement is known for 1 of 4 seed mailboxes.' })
    .waitFor();
  deliver(addresses[1]!, 1, true);
  await placement.getByText('1 of 2 seed mailboxes received the message in the inbox').waitFor();
  assert.ok((await page.locator('main details[open]').count()) > 0);
  assert.equal(await page.evaluate('window.isSamePage === true'), true);
  await checkLook(browser, `/tests/${id}`);
});

test('The pages about placement are accessible and say what is failing, missing and too few', {
  skip,
}, async (t) => {
  const { service, clock, deliver } = await start(t);
  const browser = await startMemberBrowser(t, service);
  const rule = { name: 'Seeds', condition: 'seed_failing', channels: ['webhook'] };
  await service.call('POST', '/v1/alerts', { json: rule });
  const { body: monitor } = await service.call<Monitor>('POST', '/v1/monitors', {
    json: { name: 'Newsletter', type: 'placement', frequency: 'daily' },
  });
  const created = await service.createTest({ placement: true });
  for (const [i, { address }] of created.seed_addresses.entries())
    if (i < 3) deliver(address, i, i === 2);
  await sendToTest(service, created);
  for (const [i, { address }] of monitor.seed_addresses.entries()) if (i < 2) deliver(address, i);
  await sendMail({ port: service.smtp.port, to: monitor.address!, raw: mailWith() });
  await waitForPlacement(service, created.id, ({ placement }) =>
    placement.slice(0, 3).every(({ settled }) => settled),
  );
  clock.advance(61 * 60_000);
  await service.getTest(created.id, '?wait=20&for=placement');
  const runs = () => service.call<{ data: unknown[] }>('GET', `/v1/monitors/${monitor.id}/runs`);
  while ((await runs()).body.data.length === 0) await new Promise((done) => setTimeout(done, 100));
  const system = await browser.open('/system');
  const seeds = system.locator('#seed-mailboxes').locator('..');
  await seeds.getByText('seed3@gmx.example').waitFor();
  await seeds.getByText('Can’t be read', { exact: true }).waitFor();
  const overview = await browser.open('/');
  const placement = overview.locator('.card', { hasText: 'Inbox placement by provider' });
  await placement.getByText('66% in the inbox').waitFor();
  await placement.getByText('of 6 samples, 1 in spam, 1 missing').waitFor();
  await placement.getByText('Show as a table').click();
  await placement.getByRole('cell', { name: '4 of 6 in the inbox' }).waitFor();
  const incidents = await browser.open('/alerts');
  await incidents.getByText('seed3@gmx.example').first().waitFor();
  for (const path of [
    '/',
    '/reports',
    '/system',
    '/monitors',
    '/monitors/new?type=placement',
    `/monitors/${monitor.id}`,
    `/tests/${created.id}`,
    '/alerts',
    '/alerts/new',
  ])
    await checkLook(browser, path);
});
