/** The database file contains no secrets. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService } from '../helpers/app.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import { accept, ageMail, type Invitation, invite, tokenOf } from './team-service.ts';

test('The database file contains no invitation links, API keys or passwords', async (t) => {
  const service = await startTestService(t, {
    env: {
      // Nothing listens there, so the emails with their links stay in the outbox.
      DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:9',
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  const { call, folder, key } = service;
  const headers = (name: string) => ({ 'idempotency-key': name });
  const made = await call<Invitation>('POST', '/v1/team/invitations', {
    json: { email: 'bob@example.com' },
    headers: headers('one'),
  });
  await ageMail(service);
  const resent = await call<Invitation>('POST', `/v1/team/invitations/${made.body.id}/resend`, {
    headers: headers('two'),
  });
  const waiting = await invite(service, { email: 'carol@example.com' });
  const password = 'a password that nobody knows';
  assert.equal((await accept(service, tokenOf(resent), { password })).status, 201);
  const made_key = await call<{ key: string }>('POST', '/v1/api_keys', {
    json: { name: 'build' },
    headers: headers('three'),
  });
  const bytes = await storedBytes(service.app, folder);
  assert.ok(bytes.includes('bob@example.com'), 'what is no secret is found');
  const tokens = [made, resent, waiting].map(tokenOf);
  for (const secret of [...tokens, password, key, made_key.body.key])
    assert.ok(!bytes.includes(secret));
});
