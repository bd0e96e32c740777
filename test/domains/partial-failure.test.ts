/** Partial DNS failures: what was known about a domain is kept, and no event is sent. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DomainHealthResponse } from '../../src/domains/schema.ts';
import { DKIM_KEYS, GOOD_ZONE } from '../analysis/domain/domains.ts';
import { blocklistZone, listIn } from '../helpers/blocklists.ts';
import { DAY, HOUR, startDomainService } from './domain-service.ts';

const KEY = 's9._domainkey.example.com';

test('A DKIM selector whose lookup fails keeps its previous status without an event', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { dns } = service;
  const domain = await service.add('example.com', { dkim_selectors: ['s1', 's9'] });
  service.publish(domain);
  await service.pass(HOUR);
  const before = (await service.get(domain.id)).health;
  assert.equal(before.status, 'warning');
  dns.zone[KEY] = { fails: 'servfail' };
  await service.pass(2 * DAY);
  const silent = (await service.get(domain.id)).health;
  assert.notEqual(silent.checked_at, before.checked_at);
  assert.deepEqual([silent.status, silent.score], [before.status, before.score]);
  const s9 = silent.checks.find(({ evidence }) => evidence.selector === 's9')!;
  assert.deepEqual([s9.status, s9.former_status, s9.severity], ['error', 'fail', 'warning']);
  // A request returns the same result.
  const path = `/v1/domains/${domain.id}/health`;
  const response = (await service.call<DomainHealthResponse>('GET', path)).body;
  assert.deepEqual([response.status, response.score], ['warning', before.score]);
  delete dns.zone[KEY];
  await service.pass(2 * DAY);
  assert.equal((await service.get(domain.id)).health.status, 'warning');
  assert.deepEqual(
    (await service.domainEvents()).map(({ type }) => type),
    ['domain.verified'],
  );
  dns.zone[KEY] = { TXT: [DKIM_KEYS.strong] };
  await service.pass(2 * DAY);
  assert.equal((await service.domainEvents()).at(-1)!.data.health.status, 'healthy');
});

test('A weak DKIM key under a common selector stays reported while DNS fails', async (t) => {
  const service = await startDomainService(t, {
    ...GOOD_ZONE,
    's1._domainkey.example.com': { TXT: [DKIM_KEYS.strong] },
    'mail._domainkey.example.com': { TXT: [DKIM_KEYS.weak] },
  });
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.pass(HOUR);
  assert.equal((await service.get(domain.id)).health.status, 'warning');
  service.dns.zone['mail._domainkey.example.com'] = { fails: 'servfail' };
  await service.pass(3 * DAY);
  assert.equal((await service.get(domain.id)).health.status, 'warning');
  assert.equal((await service.domainEvents()).length, 1);
});

test('A blocklist that stops responding still counts as listed; a new listing changes health', async (t) => {
  const [URIBL, DBL] = ['multi.uribl.com', 'dbl.spamhaus.org'];
  const service = await startDomainService(
    t,
    { ...GOOD_ZONE, ...blocklistZone() },
    { DELIVERABILITY_BLOCKLISTS: `-all,+${DBL},+${URIBL}` },
  );
  const { dns } = service;
  const domain = await service.add('example.com', { dkim_selectors: ['s1'] });
  service.publish(domain);
  await service.pass(HOUR);
  // Once the lists have been tested, with this very name.
  Object.assign(dns.zone, listIn(URIBL, 'example.com', '127.0.0.2'));
  await service.pass(2 * DAY);
  const listed = (await service.get(domain.id)).health;
  assert.equal(listed.status, 'warning', JSON.stringify(listed.checks));
  dns.zone[`example.com.${URIBL}`] = { fails: 'servfail' };
  await service.pass(3 * DAY);
  const silent = (await service.get(domain.id)).health;
  assert.deepEqual([silent.status, silent.score], ['warning', listed.score]);
  const check = silent.checks.find(({ id }) => id === 'domain_blocklists')!;
  assert.match(check.detail, /Last known result: listed by URIBL\./);
  assert.equal((await service.domainEvents()).length, 2);
  Object.assign(dns.zone, listIn(DBL, 'example.com', '127.0.1.2'));
  await service.pass(2 * DAY);
  delete dns.zone[`example.com.${DBL}`];
  delete dns.zone[`example.com.${URIBL}`];
  await service.pass(2 * DAY);
  assert.deepEqual(
    (await service.domainEvents()).map(({ data }) => data.health.status),
    ['unknown', 'warning', 'critical', 'healthy'],
  );
});
