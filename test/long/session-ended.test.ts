/** What was typed into a form comes back after the session has ended, for the same member only. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestService, type TestService } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { givePassword, PASSWORD } from '../team/browser.ts';
import { startMemberBrowser } from './dashboard.ts';

const options = { skip: skipUnlessInstalled('chromium') };
const expectedErrors = /status of 4\d\d/;

const endSessions = ({ app }: TestService) => app.db.deleteFrom('sessions').execute();

async function signIn(page: Page, email = 'owner@example.com'): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const restored = (page: Page) => page.getByText('This was not saved. What you entered is back');

const storedDraft = (page: Page) =>
  page.evaluate(() => sessionStorage.getItem('draft')) as Promise<string | null>;

async function start(t: TestContext, path: string) {
  const service = await startTestService(t);
  const browser = await startMemberBrowser(t, service);
  return { service, browser, page: await browser.open(path, { expectedErrors }) };
}

test('Sign-in leads back to the form, with every kind of field as it was', options, async (t) => {
  const { service, page } = await start(t, '/alerts/new');
  await page.getByLabel('Name').fill('Scores of <b>Ann</b>');
  await page.getByLabel('The score is too low').check();
  await page.getByLabel('Threshold, in points').fill('73');
  await page.getByLabel('Email recipients').fill('ann@example.com\nbob@example.com');
  await page.getByRole('checkbox', { name: 'Webhook', exact: true }).check();
  await page.getByRole('checkbox', { name: 'Slack' }).check();
  await page.getByLabel('Slack URL').fill('https://hooks.slack.com/services/confidential');
  await endSessions(service);
  await page.getByRole('button', { name: 'Create rule' }).click();
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
  assert.doesNotMatch((await storedDraft(page))!, /confidential/);
  // A wrong password loses nothing.
  await page.getByLabel('Email address').fill('owner@example.com');
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#form-error').waitFor();
  await signIn(page);
  await page.waitForURL('**/alerts/new');
  await restored(page).waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Scores of <b>Ann</b>');
  assert.equal(await page.getByLabel('Threshold, in points').inputValue(), '73');
  assert.equal(
    await page.getByLabel('Email recipients').inputValue(),
    'ann@example.com\nbob@example.com',
  );
  assert.equal(
    await page.getByRole('checkbox', { name: 'Webhook', exact: true }).isChecked(),
    true,
  );
  await page.getByText('Enter secrets, such as a Slack URL, again.').waitFor();
  assert.equal(await storedDraft(page), null);
  await page.getByRole('button', { name: 'Create rule' }).click();
  await page.getByText('Rule created.').waitFor();
});

test('A form that had an error before the session ended comes back too', options, async (t) => {
  const { service, page } = await start(t, '/reports/schedules/new');
  await page.getByLabel('Name').fill('Every week');
  const recipients = page.getByLabel('Recipients', { exact: true });
  await recipients.fill('not an address');
  await page.getByRole('button', { name: 'Create schedule' }).click();
  await page.locator('#recipients-wrong').waitFor();
  await recipients.fill('ann@example.com');
  await endSessions(service);
  await page.getByRole('button', { name: 'Create schedule' }).click();
  await signIn(page);
  await page.waitForURL('**/reports/schedules/new');
  await restored(page).waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Every week');
  assert.equal(await recipients.inputValue(), 'ann@example.com');
});

test('Another member of the same browser does not get the draft', options, async (t) => {
  const { service, page } = await start(t, '/account');
  const bob = await service.makeMember('admin');
  await givePassword(service, bob.email);
  await page.getByLabel('Name').fill('Only for the owner');
  await endSessions(service);
  await page.getByRole('button', { name: 'Save name' }).click();
  await signIn(page, bob.email);
  await page.waitForURL('**/account');
  assert.notEqual(await page.getByLabel('Name').inputValue(), 'Only for the owner');
  assert.equal(await restored(page).count(), 0);
  assert.equal(await storedDraft(page), null);
});

test('A draft contains no password, and ends with sign-out', options, async (t) => {
  const { service, page } = await start(t, '/account');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByLabel('New password', { exact: true }).fill('a new secret of mine');
  await page.getByLabel('Confirm password').fill('a new secret of mine');
  await endSessions(service);
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
  assert.doesNotMatch((await storedDraft(page))!, /secret|horse/);
  await page.goto(`${service.url}/sign-in?done=signed-out`);
  assert.equal(await storedDraft(page), null);
});

test('A change by someone else in the meantime is not overwritten', options, async (t) => {
  const service = await startTestService(t);
  const { body } = await service.call('POST', '/v1/alerts', {
    json: { name: 'Low', condition: 'score_below', threshold: 50, channels: ['webhook'] },
  });
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open(`/alerts/${body.id}`, { expectedErrors });
  await page.getByLabel('Name').fill('Mine');
  await endSessions(service);
  await page.getByRole('button', { name: 'Save' }).click();
  await service.call('PATCH', `/v1/alerts/${body.id}`, { json: { name: 'Theirs' } });
  await signIn(page);
  await restored(page).waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('This has changed since you opened the form').waitFor();
  const { body: kept } = await service.call('GET', `/v1/alerts/${body.id}`);
  assert.equal(kept.name, 'Theirs');
});

test('An unsent form in another tab survives the end of the session, but not sign-out', {
  ...options,
}, async (t) => {
  for (const path of ['/sign-in', '/sign-in?done=signed-out']) {
    const { service, page } = await start(t, '/domains');
    await page.getByLabel('Add domains').fill('typed.example');
    await endSessions(service);
    const other = await page.context().newPage();
    await other.goto(service.url + path);
    await page.waitForURL(/\/sign-in\?next=%2Fdomains/);
    await signIn(page);
    await page.waitForURL('**/domains');
    const isKept = path === '/sign-in';
    assert.equal(
      await page.getByLabel('Add domains').inputValue(),
      isKept ? 'typed.example' : '',
      path,
    );
    assert.equal(await restored(page).count(), isKept ? 1 : 0);
  }
});

test(
  'An error page leads back to the form, with what was typed still there',
  options,
  async (t) => {
    const { page } = await start(t, '/team');
    const long = `${'x'.repeat(600_000)}@example.com`;
    await page.getByLabel('Email address').evaluate((field, value) => {
      (field as HTMLInputElement).type = 'text';
      (field as HTMLInputElement).value = value;
    }, long);
    await page.getByRole('button', { name: 'Create invitation link' }).click();
    await page.getByRole('heading', { name: 'Request body too large' }).waitFor();
    await page.getByRole('link', { name: 'Back to the form' }).click();
    await restored(page).waitFor();
    assert.equal(await page.getByLabel('Email address').inputValue(), long);
  },
);

test('A file that is too large is rejected before its upload', options, async (t) => {
  const { page } = await start(t, '/tests/new');
  const file = { name: 'large.eml', mimeType: 'message/rfc822' };
  const rejection = () =>
    page.locator('#file').evaluate((field) => (field as HTMLInputElement).validationMessage);
  await page.setInputFiles('#file', { ...file, buffer: Buffer.alloc(27_000_000) });
  assert.match(await rejection(), /larger than 26 MB\. Choose a smaller one/);
  await page.getByRole('button', { name: 'Test this message' }).click();
  assert.match(page.url(), /\/tests\/new$/);
  await page.setInputFiles('#file', { ...file, buffer: Buffer.from('Subject: x\r\n\r\nx') });
  assert.equal(await rejection(), '');
});
