/** Team, account, audit log and system in Chromium, as people use them, on a desktop and on a phone. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestService } from '../helpers/app.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { PASSWORD } from '../team/browser.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const main = (page: Page) => page.locator('main');

test('An owner invites someone, who joins, becomes an admin, and then the owner', async (t) => {
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  const owner = await startMemberBrowser(t, service);
  const page = await owner.open('/team');
  await page.getByRole('link', { name: 'Invite someone' }).click();
  await page.getByLabel('Email address').fill('bob@example.com');
  await page
    .getByLabel('Role', { exact: true })
    .selectOption({ label: 'Viewer: read tests and reports' });
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await main(page).getByText('Invitation to bob@example.com is on its way').waitFor();
  const [, token] = await sink.waitFor(/\/invitations\/([\w-]+)/);

  const guest = await owner.open('/', { viewport: SIZES.phone });
  await guest.context().clearCookies();
  await guest.goto(`${service.url}/invitations/${token}`);
  await guest.getByLabel('Your name').fill('Bob Miller');
  await guest.getByLabel('New password').fill(PASSWORD);
  await guest.getByLabel('Confirm password').fill(PASSWORD);
  await guest.getByRole('button', { name: 'Join the team' }).click();
  await guest.goto(`${service.url}/account`);
  await main(guest).getByText('Viewer: read tests and reports').waitFor();

  await page.goto(`${service.url}/team`);
  await page.getByRole('link', { name: 'Bob Miller' }).click();
  await page
    .getByLabel('Role', { exact: true })
    .selectOption({ label: 'Admin: everything but ownership' });
  await page.getByRole('button', { name: 'Save' }).click();
  await main(page).getByText('Role changed. The member must sign in again.').waitFor();

  await page.goto(`${service.url}/team`);
  await page.getByText('Transfer ownership…').click();
  await page
    .getByLabel('New owner', { exact: true })
    .selectOption({ label: 'Bob Miller (bob@example.com)' });
  await page.getByLabel('Email address of the new owner').fill('rob@example.com');
  // The response is a 422, which Chromium reports in its console.
  page.removeAllListeners('console');
  await page.getByRole('button', { name: 'Transfer ownership', exact: true }).click();
  await main(page).getByText('must match the address of the new owner: bob@example.com').waitFor();
  await page.getByLabel('Email address of the new owner').fill('bob@example.com');
  await page.getByRole('button', { name: 'Transfer ownership', exact: true }).click();
  await main(page).getByText('Ownership transferred').waitFor();
  const roles = await service.app.db.selectFrom('members').select(['email', 'role']).execute();
  assert.deepEqual(Object.fromEntries(roles.map(({ email, role }) => [email, role])), {
    'owner@example.com': 'admin',
    'bob@example.com': 'owner',
  });
});

test('An admin removes a member after a confirmation, on a phone', async (t) => {
  const service = await startTestService(t);
  const { id } = await service.makeMember('member');
  const admin = await startMemberBrowser(t, service, 'admin');
  const page = await admin.open('/team', { viewport: SIZES.phone });
  await page.getByRole('link', { name: 'The member' }).click();
  await page.getByText('Remove…').click();
  await main(page)
    .getByText('The sessions, API keys and connected assistants of The member end immediately')
    .waitFor();
  await page.getByRole('button', { name: 'Remove member' }).click();
  await main(page).getByText('Member removed.').waitFor();
  const left = await service.app.db.selectFrom('members').select('id').execute();
  assert.ok(!left.some((member) => member.id === id));
});

test('A viewer sets the name, time zone and date format by keyboard alone, and times follow', async (t) => {
  const service = await startTestService(t);
  const viewer = await startMemberBrowser(t, service, 'viewer');
  const page = await viewer.open('/account', { locale: 'fr-FR', timezoneId: 'Europe/Paris' });
  const focusOn = async (label: string) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const isThere = await page
        .getByLabel(label, { exact: true })
        .or(page.getByRole('button', { name: label, exact: true }))
        .first()
        .evaluate(
          (element: unknown) =>
            element ===
            (globalThis as never as { document: { activeElement: unknown } }).document
              .activeElement,
        );
      if (isThere) return;
    }
    assert.fail(`${label} is not reached with the Tab key`);
  };
  await focusOn('Name');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('Zoë Keyboard');
  await page.keyboard.press('Enter');
  await main(page).getByText('Name saved.').waitFor();
  await focusOn('Time zone');
  await page.keyboard.type('Asia/Tokyo');
  await focusOn('Date format');
  await page.keyboard.type('German');
  await focusOn('Save times and dates');
  await page.keyboard.press('Enter');
  await main(page).getByText('Time zone and date format saved.').waitFor();
  const member = await service.app.db
    .selectFrom('members')
    .select(['name', 'time_zone', 'date_locale'])
    .where('role', '=', 'viewer')
    .executeTakeFirstOrThrow();
  assert.deepEqual(member, { name: 'Zoë Keyboard', time_zone: 'Asia/Tokyo', date_locale: 'de' });
});

test('The zone and language of the browser apply until the member chooses others', async (t) => {
  const service = await startTestService(t);
  await service.app.db
    .updateTable('members')
    .set({ joined_at: '2026-01-05T22:30:00.000Z' })
    .execute();
  const owner = await startMemberBrowser(t, service);
  const page = await owner.open('/team', { locale: 'fr-FR', timezoneId: 'Europe/Paris' });
  await page.getByRole('link', { name: 'owner' }).first().click();
  const joined = main(page).locator('time').first();
  await main(page)
    .getByText(/5 janv\. 2026/)
    .waitFor();
  assert.match((await joined.textContent())!, /23:30/);
  await service.app.db.updateTable('members').set({ time_zone: 'Asia/Tokyo' }).execute();
  await page.reload();
  await main(page)
    .getByText(/6 janv\. 2026/)
    .waitFor();
  await service.app.db.updateTable('members').set({ date_locale: 'en-GB' }).execute();
  await page.reload();
  await main(page)
    .getByText(/6 Jan 2026, 07:30/)
    .waitFor();
});

test('The pages of team, account, audit log and system are accessible at every size', async (t) => {
  const service = await startTestService(t);
  const { id } = await service.makeMember('member');
  await service.app.db
    .updateTable('members')
    .set({
      name: 'Maximilian-Alexander'.repeat(5),
      email: `${'long-address-'.repeat(4)}@example.com`,
    })
    .where('id', '=', id)
    .execute();
  for (const email of ['a@example.com', `${'b'.repeat(60)}@example.com`])
    await service.call('POST', '/v1/team/invitations', { json: { email } });
  await service.call('POST', '/v1/domains', { json: { name: `${'long-'.repeat(10)}x.example` } });
  const owner = await startMemberBrowser(t, service);
  for (const path of ['/team', `/team/members/${id}`, '/account', '/audit-log', '/system'])
    await checkLook(owner, path);
});
