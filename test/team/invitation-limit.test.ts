/** How often an address gets mail by invitations. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { startOutbox } from '../outbox/outbox.ts';
import { type Invitation, invite, type Problem } from './team-service.ts';

const INVITATIONS = '/v1/team/invitations';
const MINUTE = 60_000;
const DAY = 86_400_000;

test('an address gets one mail a minute and five in a day, however they are made', async (t) => {
  const { service, app, clock } = await startOutbox(t);
  const { call } = service;
  let { body: invitation } = await invite(service, { email: 'bob@example.com' });
  const path = () => `${INVITATIONS}/${invitation.id}`;
  const resend = () => call<Invitation & Problem>('POST', `${path()}/resend`);
  const make = () =>
    call<Invitation & Problem>('POST', INVITATIONS, { json: { email: 'BOB@example.com' } });
  const refused = async (asked: ReturnType<typeof resend>, seconds: number) => {
    const { status, body, headers } = await asked;
    assert.deepEqual([status, body.code], [429, 'rate_limited']);
    assert.equal(headers.get('retry-after'), String(seconds));
  };
  const mails = async () =>
    (await app.db.selectFrom('outbox').select('id').where('status', '=', 'queued').execute())
      .length;

  await refused(resend(), 60);
  clock.advance(MINUTE - 1);
  const before = await app.db.selectFrom('invitations').selectAll().execute();
  await refused(resend(), 1);
  assert.deepEqual(await app.db.selectFrom('invitations').selectAll().execute(), before);
  assert.equal(await mails(), 1, 'the first is still to be sent');
  // Another address is not held up by it.
  assert.equal((await invite(service, { email: 'carol@example.com' })).status, 201);
  clock.advance(1);
  assert.equal((await resend()).status, 200);
  await call('DELETE', path());
  await refused(make(), 60);
  for (let sent = 3; sent <= 5; sent++) {
    clock.advance(MINUTE);
    const made = await make();
    assert.equal(made.status, 201);
    invitation = made.body;
    if (sent < 5) await call('DELETE', path());
  }
  clock.advance(MINUTE);
  await refused(resend(), DAY / 1000 - 5 * 60);
  assert.equal((await make()).status, 409, 'what never can be says so');
  clock.advance(DAY - 5 * MINUTE - 1);
  await refused(resend(), 1);
  clock.advance(1);
  assert.equal((await resend()).status, 200);
});

test('without outgoing mail links are made as often as one likes', async (t) => {
  const service = await startTestService(t, { clock: testClock() });
  const { body } = await invite(service, { email: 'bob@example.com' });
  for (let i = 0; i < 7; i++)
    assert.equal((await service.call('POST', `${INVITATIONS}/${body.id}/resend`)).status, 200);
});
