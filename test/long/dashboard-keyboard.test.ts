/** The flows of each area with the keyboard alone, in Chromium. Every control that Tab reaches shows its focus. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { storeTest } from '../dashboard/stored-tests.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { givePassword, PASSWORD } from '../team/browser.ts';
import { startMemberBrowser } from './dashboard.ts';
import { keyboardOf } from './keyboard.ts';

const options = { skip: skipUnlessInstalled('chromium') };
const OWNER = 'owner@example.com';

async function startMail(t: TestContext) {
  const sink = await startMailSink(t);
  const env = {
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
  };
  return { sink, env };
}

async function open(t: TestContext, service: TestService, path: string) {
  const page = await (await startMemberBrowser(t, service)).open(path);
  return { page, keys: keyboardOf(page), see: (text: string | RegExp) => seeIn(page, text) };
}

const seeIn = (page: Page, text: string | RegExp) =>
  page.locator('main').getByText(text).first().waitFor();

/** A result as the API returns it. */
async function analyze({ call, getTest }: TestService, name: string): Promise<string> {
  const { body } = await call('POST', `/v1/tests/raw?client_ip=192.0.2.1&name=${name}`, {
    headers: { 'content-type': 'message/rfc822' },
    body: goodMessage(),
  });
  const { status } = await getTest(String(body.id), '?wait=40');
  assert.equal(status, 'completed');
  return String(body.id);
}

test('Tests: filter, compare, rename, tag, reanalyze and delete', options, async (t) => {
  const service = await startTestService(t);
  await analyze(service, 'March');
  await analyze(service, 'April');
  const { page, keys, see } = await open(t, service, '/tests');
  await keys.fill('Name, subject or sender', 'Mar');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=Mar/);
  await keys.press('Clear filters');
  await page.waitForURL(/\/tests$/);
  await keys.toggle('Select April');
  await keys.toggle('Select March');
  // The actions come before the table, so Tab goes on around the page.
  await keys.press('Compare');
  await page.waitForURL(/\/tests\/compare/);
  await page.goBack();
  await keys.press('March');
  await keys.press('Edit');
  await keys.fill('Name', 'May');
  await keys.fill('Tags', 'news, spring');
  await keys.press('Save');
  await see('May');
  await keys.press('Reanalyze');
  await page.waitForURL(/\/tests\/test_/);
  await page.goto(`${service.url}/tests?tag=spring`);
  await keys.toggle('Select May');
  await keys.press('Delete…');
  await keys.press('Delete 1 test');
  await see('Test deleted.');
});

test('Domains: add, verify, edit selectors, enable the badge, delete', options, async (t) => {
  const service = await startTestService(t);
  const { keys, see } = await open(t, service, '/domains');
  await keys.fill('Add domains', 'example.com');
  await keys.press('Add');
  await see('Verify example.com');
  await keys.press('Verify now');
  await see('No TXT record found');
  await keys.press('Edit selectors');
  await keys.fill('Selectors', 's1');
  await keys.press('Save selectors');
  await keys.press('Enable');
  await see('The badge is enabled');
  await keys.press('Delete domain…');
  await keys.press('Delete example.com');
  await see('Domain deleted.');
});

test('Webhooks: add, test, resend, rotate the secret, disable, delete', options, async (t) => {
  const receiver = await startReceiver(t);
  const service = await startTestService(t, { env: receiver.env });
  receiver.respond = () => 500;
  const { page, keys, see } = await open(t, service, '/webhooks');
  await keys.press('Add endpoint');
  await keys.fill('URL', receiver.url);
  await keys.toggle('All events');
  await keys.toggle('test.completed');
  await keys.press('Add endpoint');
  await page.locator('#secret code').waitFor();
  await keys.press('Send a test event');
  await see('Test event sent.');
  receiver.respond = () => 200;
  await keys.press('Resend');
  await see('The endpoint responded with 200.');
  await keys.press(new URL(receiver.url).host);
  await keys.press('Rotate secret…');
  await keys.choose('Keep the current secret', '1 hour');
  await keys.press('Rotate secret');
  await page.locator('#secret code').waitFor();
  await keys.press('Disable endpoint');
  await see('Endpoint disabled.');
  await keys.press('Delete endpoint…');
  await keys.press('Delete endpoint');
  await see('Endpoint deleted.');
});

test('Reports: share and revoke; change, send and delete a schedule', options, async (t) => {
  const { sink, env } = await startMail(t);
  const service = await startTestService(t, { env });
  await analyze(service, 'Newsletter');
  await service.call('POST', '/v1/reports/schedules', {
    json: { name: 'Weekly', frequency: 'weekly', recipients: ['ann@example.com'] },
  });
  const { page, keys, see } = await open(t, service, '/reports');
  await keys.press('30 days');
  await page.waitForURL(/period=month/);
  await keys.press('Shared links');
  await keys.press('Share reports');
  await page.waitForURL(/\/shares\/new/);
  await page.keyboard.press('Tab');
  await page.locator('input[name="test_ids"]').waitFor();
  await keys.fill('Title (optional)', 'For the agency');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Space');
  await keys.press('Create link');
  await see('The link is ready');
  await keys.press('Revoke…');
  await keys.press('Revoke link');
  await see('Link revoked');
  await keys.press('Schedules');
  await keys.press('Weekly');
  await keys.press('Edit');
  await keys.fill('Name', 'Every week');
  await keys.press('Save changes');
  await see('Changes saved.');
  await keys.press('Send now');
  // Without another key: the page follows the email.
  await see('Report sent to 1 recipient.');
  await sink.waitFor(/Every week/);
  await keys.press('Delete…');
  await keys.press('Delete schedule');
  await see('Schedule deleted.');
});

test('Team: invite, revoke, change a role, remove, transfer the ownership', options, async (t) => {
  const { env } = await startMail(t);
  const service = await startTestService(t, { env });
  const leaver = await service.makeMember('viewer');
  const heir = await service.makeMember('member');
  const names = [
    [leaver.id, 'Lea Leaver'],
    [heir.id, 'Hella Heir'],
  ] as const;
  for (const [id, name] of names)
    await service.app.db.updateTable('members').set({ name }).where('id', '=', id).execute();
  const { page, keys, see } = await open(t, service, '/team');
  await keys.press('Invite someone');
  await keys.fill('Email address', 'bob@example.com');
  await keys.choose('Role', 'Viewer');
  await keys.press('Send invitation');
  await see('Invitation to bob@example.com is on its way');
  await keys.press('Revoke…');
  await keys.press('Revoke invitation');
  await see('Invitation revoked.');
  await keys.press('Lea Leaver');
  await keys.choose('Role', 'Member');
  await keys.press('Save');
  await see('Role changed.');
  await keys.press('Remove…');
  await keys.press('Remove member');
  await see('Member removed.');
  await keys.press('Transfer ownership…');
  await keys.choose('New owner', 'Hella');
  await keys.fill('Email address of the new owner', heir.email);
  await keys.press('Transfer ownership');
  await see('Ownership transferred.');
  await page.waitForURL(/\/sign-in/);
});

test(
  'API keys and account: create, revoke, change the password, end sessions',
  options,
  async (t) => {
    const service = await startTestService(t);
    const { page, keys, see } = await open(t, service, '/api-keys');
    await keys.fill('Name', 'Build pipeline');
    await keys.choose('Role', 'Viewer');
    await keys.choose('Mode', 'Test');
    await keys.press('Create key');
    await see('Copy the key “Build pipeline” now');
    await keys.press('Revoke…');
    await keys.press('Revoke key');
    await see('API key revoked.');
    await page.goto(`${service.url}/account`);
    await keys.fill('Current password', PASSWORD);
    await keys.fill('New password', 'four words make one');
    await keys.fill('Confirm password', 'four words make one');
    await keys.press('Change password');
    await see('Password changed.');
    await keys.press('Sign out');
    await page.waitForURL(/\/sign-in/);
  },
);

test('Overview, audit log and menu: period, filter, test mode, sign-out', options, async (t) => {
  const service = await startTestService(t);
  await storeTest(service.app);
  const { page, keys, see } = await open(t, service, '/');
  await keys.press('24 hours');
  await page.waitForURL(/period=day/);
  await keys.press('Show as a table');
  await page.goto(`${service.url}/audit-log`);
  await keys.press('owner');
  await keys.press('Switch to test mode');
  await page.getByText('Test mode.').waitFor();
  await keys.press('Switch to live');
  await page.getByText('Test mode.').waitFor({ state: 'detached' });
  await keys.press('owner');
  await page.keyboard.press('Escape');
  // The focus returns to the menu.
  await page.keyboard.press('Enter');
  await keys.press('Sign out');
  await see("You're signed out.");
});

test('Visitors: join, reset a password, test a message in public', options, async (t) => {
  const { sink, env } = await startMail(t);
  const service = await startTestService(t, {
    env: { ...env, DELIVERABILITY_PUBLIC_TESTS: 'true' },
  });
  await givePassword(service, OWNER);
  const browser = await startBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const keys = keyboardOf(page);
  await service.call('POST', '/v1/team/invitations', { json: { email: 'bob@example.com' } });
  const [invitation] = await sink.waitFor(/\/invitations\/[\w-]+/);
  await page.goto(service.url + invitation);
  await page.locator('#name:focus').waitFor();
  await page.keyboard.type('Bob');
  await keys.fill('New password', PASSWORD);
  await keys.fill('Confirm password', PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Test your first message' }).waitFor();
  await page.context().clearCookies();

  await page.goto(`${service.url}/sign-in`);
  await keys.press('Forgot your password?');
  await page.locator('#email:focus').waitFor();
  await page.keyboard.type(OWNER);
  await keys.press('Send link');
  await seeIn(page, 'Check your inbox');
  const [link] = await sink.waitFor(/\/password\/[\w-]+/);
  await page.goto(service.url + link);
  await page.locator('#password:focus').waitFor();
  await page.keyboard.type('four words make one');
  await keys.fill('Confirm password', 'four words make one');
  await keys.press('Set password');
  await seeIn(page, 'Your password is set.');

  await page.goto(service.url);
  await keys.press('Get a test address');
  await page.waitForURL(/\/public\/tests\//);
  await keys.tabTo('Copy the address');
  await keys.press('Delete this test');
  await keys.press('Delete test');
  await seeIn(page, /deleted/);
});
