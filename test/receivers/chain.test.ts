/** From the sign-in to the alert and the page: what Google says reaches people, and goes away when it is over. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeSignIn } from '../../src/sign-ins/credentials.ts';
import { configuredSignIns } from '../../src/sign-ins/sign-in.ts';
import { newMember } from '../dashboard/member.ts';
import { servedCompliance, servedDomain } from '../helpers/postmaster-server.ts';
import { DAY_MS, startReceivers } from './receiver-scene.ts';

test('Sign in, fetch, a day that changes later, alerts, the page, and a lost permission', async (t) => {
  const scene = await startReceivers(t, { google: { device_url: 'https://login.example/device' } });
  const id = await scene.addDomain('example.com');
  for (const condition of ['spam_rate', 'compliance_lost'])
    await scene.call('POST', '/v1/alerts', {
      json: { name: condition, condition, channels: ['webhook'] },
    });
  const domain = servedDomain({
    days: { '2026-11-20': { spamRate: 0.0004, dkim: 1 } },
    compliance: servedCompliance(),
  });
  scene.postmaster.domains.set('example.com', domain);
  // Sessions end within the days of this test.
  const page = async () => (await (await newMember(scene, 'admin')).get(`/domains/${id}`)).html;
  const incidents = async () => {
    const { body } = await scene.call<{ data: Record<string, string>[] }>(
      'GET',
      '/v1/alert_incidents',
    );
    return body.data.map(({ condition, status }) => `${condition} ${status}`).sort();
  };
  await scene.fetch();
  assert.match(await page(), /deliverability receivers sign-in google_postmaster/);

  const [signIn] = configuredSignIns(scene.app.config, 'receiver');
  await storeSignIn(scene.app, signIn!, 'first-refresh-token');
  await scene.fetch();
  assert.deepEqual(await incidents(), []);
  assert.match(await page(), /0\.04\s?%/);

  scene.advance(DAY_MS);
  domain.days['2026-11-20']!.spamRate = 0.0035;
  domain.compliance = servedCompliance({ DKIM: 'NEEDS_WORK' });
  await scene.fetch();
  assert.deepEqual(await incidents(), ['compliance_lost open', 'spam_rate open']);
  assert.match(await page(), /0\.35\s?%/);

  scene.advance(DAY_MS);
  scene.postmaster.domains.set('example.com', servedDomain({ permission: 'NONE' }));
  await scene.fetch();
  assert.deepEqual(await incidents(), ['compliance_lost open', 'spam_rate open']);
  const { body } = await scene.call<{ data: { domains: { problem: { message: string } }[] }[] }>(
    'GET',
    '/v1/receivers',
  );
  assert.match(body.data[0]!.domains[0]!.problem.message, /no permission to read example\.com/);

  scene.advance(DAY_MS);
  domain.days['2026-11-23'] = { spamRate: 0.0002 };
  domain.compliance = servedCompliance();
  scene.postmaster.domains.set('example.com', domain);
  await scene.fetch();
  assert.deepEqual(await incidents(), ['compliance_lost resolved', 'spam_rate resolved']);
});
