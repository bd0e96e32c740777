/** The pages of the dashboard and the public pages, as a running server answers. */

import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../src/lib/crypto.ts';
import { saveRecipient, unsubscribeToken } from '../../src/schedules/recipients.ts';
import { findOwner } from '../../src/team/members.ts';
import { createOwnerLink } from '../../src/team/passwords.ts';
import { CHEAP_PASSWORDS, startTestService } from '../../test/helpers/app.ts';
import { textOfHtml } from './html.ts';

const PATHS = [
  '/',
  '/sign-in',
  '/forgot-password',
  '/password/unknown',
  '/invitations/unknown',
  '/unsubscribe/unknown',
  '/reports/public/unknown',
  '/nothing-here',
];

export async function pageTexts(): Promise<[name: string, text: string][]> {
  const cleanUps: (() => unknown)[] = [];
  const service = await startTestService({
    after: (step: () => void) => cleanUps.push(step),
  } as never);
  const { app } = service;
  const pages: [string, string][] = [];
  const get = async (name: string, path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init });
    const html = await answer.text();
    pages.push([`${name} (${answer.status})`, textOfHtml(html)]);
    return answer;
  };
  for (const path of PATHS) await get(`GET ${path}`, path);

  const password = randomBytes(12).toString('base64url');
  await app.db
    .updateTable('members')
    .set({ password_hash: await hashPassword(password, CHEAP_PASSWORDS) })
    .execute();
  const form = (fields: Record<string, string>): RequestInit => ({
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { origin: app.config.APP_URL },
  });
  await get('POST /sign-in with nothing', '/sign-in', form({ email: '', password: '' }));
  const wrong = { email: 'owner@example.com', password: 'wrong password' };
  await get('POST /sign-in with a wrong password', '/sign-in', form(wrong));
  const signedIn = await get('POST /sign-in', '/sign-in', form({ ...wrong, password }));
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  await get('GET / signed in', '/', { headers: { cookie } });

  const invitation = await service.call<{ accept_url: string }>('POST', '/v1/team/invitations', {
    json: { email: 'bob@example.com', role: 'member' },
  });
  await get('GET /invitations/:token', new URL(invitation.body.accept_url).pathname);
  const owner = await findOwner(app.db);
  const link = await createOwnerLink(app, app.config, owner!.id);
  await get('GET /password/:token', new URL(link).pathname);
  const schedule = await service.call<{ id: string }>('POST', '/v1/reports/schedules', {
    json: { name: 'Weekly report', frequency: 'weekly', recipients: ['bob@example.com'] },
  });
  await app.db
    .transaction()
    .execute((tx) => saveRecipient(tx, app, schedule.body.id, 'bob@example.com'));
  const token = unsubscribeToken(app, schedule.body.id, 'bob@example.com');
  await get('GET /unsubscribe/:token', `/unsubscribe/${token}`);
  const leaving = {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  };
  await fetch(`${service.url}/unsubscribe/${token}`, leaving);
  await get('GET /unsubscribe/:token after leaving', `/unsubscribe/${token}`);
  for (const step of cleanUps.reverse()) await step();
  return pages;
}
