/** Selectors learned from messages: when each was last seen, which are dropped, and key rotation. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Domain } from '../../src/domains/schema.ts';
import { learnSelectors } from '../../src/domains/selectors.ts';
import { assignDomain } from '../../src/mailtests/record.ts';
import { DKIM_KEYS, GOOD_ZONE } from '../analysis/domain/domains.ts';
import { DAY, HOUR, MINUTE, startDomainService } from './domain-service.ts';

const keyOf = (selector: string) => `${selector}._domainkey.example.com`;

async function startLearning(t: TestContext, given: string[] = []) {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { app, clock, call } = service;
  const domain = await service.add('example.com', { dkim_selectors: given });
  service.publish(domain);
  await service.pass(MINUTE);
  const path = `/v1/domains/${domain.id}`;
  const fromDomain = 'example.com';
  return {
    ...service,
    domain,
    /** Records that a message signed with these selectors was received now. */
    receiveSigned: (...selectors: string[]) =>
      app.db.transaction().execute((tx) => {
        const signatures = selectors.map((selector) => ({ domain: fromDomain, selector }));
        return learnSelectors(tx, { fromDomain, signatures, at: clock.now() });
      }),
    selectors: async () => (await service.get(domain.id)).dkim_selectors,
    patch: (json: object) => call<Domain>('PATCH', path, { json }),
  };
}

test('Learned DKIM selectors: the least recently seen are dropped beyond the limit', async (t) => {
  const { receiveSigned, selectors, patch, clock } = await startLearning(t, ['given']);
  const names = Array.from({ length: 19 }, (_, n) => `n${n}`);
  for (const name of names) {
    await receiveSigned(name);
    clock.advance(2 * HOUR);
  }
  assert.deepEqual(await selectors(), ['given', ...names]);
  // The first learned selector is still in use.
  await receiveSigned('n0');
  clock.advance(HOUR);
  await receiveSigned('late', 'given');
  const now = ['given', ...names.filter((name) => name !== 'n1'), 'late'];
  assert.deepEqual(await selectors(), now);
  await receiveSigned('x'.repeat(64), 'y'.repeat(200));
  assert.deepEqual(await selectors(), now);
  // The selectors of a response are accepted in a request.
  assert.equal((await patch({ dkim_selectors: now })).status, 200);
  clock.advance(HOUR);
  await receiveSigned('one-more');
  assert.deepEqual(await selectors(), [...now.filter((name) => name !== 'n2'), 'one-more']);
});

test('DKIM key rotation: the old selector is dropped a week after its last mail', async (t) => {
  const service = await startLearning(t);
  const { dns, receiveSigned, selectors, pass, get, domain, domainEvents } = service;
  await receiveSigned('s1');
  await pass(2 * DAY);
  assert.equal((await get(domain.id)).health.status, 'healthy');
  dns.zone[keyOf('s2')] = { TXT: [DKIM_KEYS.strong] };
  await receiveSigned('s2');
  await pass(8 * DAY);
  assert.deepEqual(await selectors(), ['s1', 's2']);
  // As long as the key exists, it is checked, however long ago it was last used.
  dns.zone[keyOf('s1')] = { fails: 'servfail' };
  await pass(2 * DAY);
  assert.deepEqual(await selectors(), ['s1', 's2']);
  dns.zone[keyOf('s1')] = { TXT: ['v=DKIM1; p='] };
  await pass(2 * DAY);
  assert.deepEqual(await selectors(), ['s2']);
  assert.equal((await get(domain.id)).health.status, 'healthy');
  assert.deepEqual(
    (await domainEvents()).map(({ type }) => type),
    ['domain.verified'],
  );
});

test('A missing key degrades health only if its selector is configured or in use', async (t) => {
  const { dns, receiveSigned, selectors, pass, get, domain } = await startLearning(t, ['s1']);
  dns.zone[keyOf('s2')] = { TXT: [DKIM_KEYS.strong] };
  await receiveSigned('s2');
  delete dns.zone[keyOf('s2')];
  await pass(2 * DAY);
  assert.equal((await get(domain.id)).health.status, 'warning');
  await pass(7 * DAY);
  assert.deepEqual([await selectors(), (await get(domain.id)).health.status], [['s1'], 'healthy']);
  delete dns.zone[keyOf('s1')];
  await pass(20 * DAY);
  assert.deepEqual([await selectors(), (await get(domain.id)).health.status], [['s1'], 'warning']);
});

test('DKIM selectors are learned only from verified, aligned signatures of live mail', async (t) => {
  const { app, clock, receiveSigned, selectors, domain } = await startLearning(t);
  const signature = (name: string, selector: string, result = 'pass') => ({
    domain: name,
    selector,
    result,
  });
  let livemode = 0;
  const learn = (aligned: string[] | null, received_at: string | null, ...signatures: object[]) => {
    const checks = JSON.stringify([
      { id: 'dkim', evidence: { signatures } },
      ...(aligned ? [{ id: 'dkim_alignment', evidence: { aligned } }] : []),
    ]);
    const outcome = { ok: true, result: { checks } } as never;
    return app.db.transaction().execute((tx) => {
      const after = {
        domain_id: null,
        limited_to: null,
        from_domain: 'example.com',
        received_at,
        livemode,
      };
      return assignDomain(tx, after, outcome);
    });
  };
  const at = new Date(clock.now()).toISOString();
  // A sandbox test says nothing about the team's mail.
  await learn(['example.com'], at, signature('example.com', 'z'));
  livemode = 1;
  await learn(null, at, signature('example.com', 'a'));
  await learn([], at, signature('example.com', 'b'));
  await learn(['example.com'], at, signature('example.com', 'c', 'fail'));
  await learn(['example.org'], at, signature('example.org', 'd'));
  assert.deepEqual(await selectors(), []);
  await learn(['example.com'], at, signature('example.com', 'e'));
  assert.deepEqual(await selectors(), ['e']);
  // Reanalyzing an old test doesn't update the time.
  clock.advance(5 * DAY);
  await receiveSigned('e');
  await learn(['example.com'], at, signature('example.com', 'e'));
  const row = await app.db
    .selectFrom('domains')
    .select('learnt_selectors')
    .where('id', '=', domain.id)
    .executeTakeFirstOrThrow();
  const seen_at = new Date(clock.now()).toISOString();
  assert.deepEqual(JSON.parse(row.learnt_selectors), [{ selector: 'e', seen_at }]);
});

test('A neighbour under a suffix of others teaches no selector', async (t) => {
  const { app, add, get, clock } = await startLearning(t);
  const { id } = await add('shop.uk.com');
  const learn = (fromDomain: string, selector: string) =>
    app.db.transaction().execute((tx) => {
      const signatures = [{ domain: 'shop.uk.com', selector }];
      return learnSelectors(tx, { fromDomain, signatures, at: clock.now() });
    });
  await learn('neighbour.uk.com', 'a');
  await learn('uk.com', 'b');
  await learn('news.shop.uk.com', 'c');
  assert.deepEqual((await get(id)).dkim_selectors, ['c']);
});
