/** The domains of the team, as analyses get them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { teamDomains } from '../../src/domains/team-domains.ts';
import { MINUTE, startDomainService } from './domain-service.ts';

test('Analyses get the same object until a domain is added, verified or removed', async (t) => {
  const service = await startDomainService(t);
  const { app, call } = service;
  const known = () => teamDomains(app);
  assert.deepEqual(await known(), {});
  const shop = await service.add('shop.example');
  const added = await known();
  assert.equal(added['shop.example']?.isVerified, false);
  assert.match(added['shop.example'].feedbackAddress, /^fb-\w{16}@/);
  assert.equal(await known(), added);

  service.publish(shop);
  await service.pass(3 * MINUTE);
  const verified = await known();
  assert.equal(verified['shop.example']?.isVerified, true);
  assert.equal(verified['shop.example'].feedbackAddress, added['shop.example'].feedbackAddress);
  assert.equal(await known(), verified);

  // The count stays the same.
  assert.equal((await call('DELETE', `/v1/domains/${shop.id}`)).status, 200);
  await service.add('other.example');
  assert.deepEqual(Object.keys(await known()), ['other.example']);
});
