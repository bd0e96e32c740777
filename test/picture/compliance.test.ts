/** Google’s requirements beside what our own checks say about the same thing, and the operations. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as v from 'valibot';
import type { Domain } from '../../src/domains/schema.ts';
import { complianceOf } from '../../src/picture/compliance.ts';
import type { Compliance, DomainPicture } from '../../src/picture/schema.ts';
import { firstLookupsDone, NOT_LOOKED_AT } from '../domains/first-lookups.ts';
import { startTestService } from '../helpers/app.ts';
import { ago, DOMAIN, startWorld, type World } from './world.ts';

async function rowsOf({ app, db }: World) {
  const domain = await db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', DOMAIN.id)
    .executeTakeFirstOrThrow();
  return complianceOf(app, domain);
}

test('Each requirement has the latest results of our checks, and whether they agree', async (t) => {
  const world = await startWorld(t);
  await world.health({ spf_record: 'pass', dmarc_policy: 'warn' }, 2);
  const old = await world.test({ spf: 'fail', dkim: 'fail', ptr: 'pass' }, 5);
  const latest = await world.test({ spf: 'pass', dkim: 'fail', ptr: 'error' }, 1);
  for (const [requirement, status] of [
    ['HONOR_UNSUBSCRIBE', 'NEEDS_WORK'],
    ['SPF', 'NEEDS_WORK'],
    ['DKIM', 'NEEDS_WORK'],
    ['DMARC_POLICY', 'COMPLIANT'],
    ['DNS_RECORDS', 'COMPLIANT'],
    ['ENCRYPTION', 'COMPLIANT'],
    ['NEW_ONE', 'PENDING'],
  ] as const)
    await world.requirement(requirement, status, { reason: null });
  const { requirements, no_data } = await rowsOf(world);
  assert.equal(no_data, null);
  assert.deepEqual(
    requirements.map(({ requirement, agrees, fix, own }) => [
      requirement,
      agrees,
      fix?.text ?? null,
      own.map(({ source, check, status, at, test_id }) => [source, check, status, at, test_id]),
    ]),
    [
      [
        'SPF',
        false,
        null,
        [
          ['tests', 'spf', 'pass', ago(1), latest],
          ['dns', 'spf_record', 'pass', ago(2), null],
        ],
      ],
      ['DKIM', true, 'Fix dkim.', [['tests', 'dkim', 'fail', ago(1), latest]]],
      ['DMARC_POLICY', true, 'Fix dmarc_policy.', [['dns', 'dmarc_policy', 'warn', ago(2), null]]],
      // A test that could not tell does not hide the one before.
      ['DNS_RECORDS', true, null, [['tests', 'ptr', 'pass', ago(5), old]]],
      ['ENCRYPTION', null, null, []],
      ['HONOR_UNSUBSCRIBE', null, null, []],
      ['NEW_ONE', null, null, []],
    ],
  );
  assert.equal(requirements.at(-1)!.name, 'New one');
});

test('A check that fails contradicts a requirement that Google takes for met', async (t) => {
  const world = await startWorld(t);
  await world.test({ spf: 'fail' });
  await world.requirement('SPF', 'COMPLIANT');
  const { requirements } = await rowsOf(world);
  assert.equal(requirements[0]!.agrees, false);
});

test('Without requirements, the answer says why', async (t) => {
  const world = await startWorld(t, { receivers: false });
  const { requirements, no_data } = await rowsOf(world);
  assert.deepEqual([requirements, no_data?.code], [[], 'not_set_up']);
});

test('Viewers and test-mode keys read the picture and the requirements of a domain', async (t) => {
  const { app, call, makeKey } = await startTestService(t);
  const { body: domain } = await call<Domain>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  await firstLookupsDone(app);
  await app.db.updateTable('domains').set(NOT_LOOKED_AT).execute();
  for (const key of [await makeKey('viewer'), await makeKey('viewer', false)]) {
    const path = `/v1/domains/${domain.id}/picture`;
    const picture = await call<v.InferOutput<typeof DomainPicture>>('GET', path, { key });
    assert.equal(picture.status, 200, picture.text);
    assert.equal(picture.body.headline, 'Your domain is not verified yet.');
    assert.deepEqual(picture.body.first_step?.record?.type, 'TXT');
    assert.equal(picture.body.sources.length, 5);
    const asked = `/v1/receivers/compliance?domain_id=${domain.id}`;
    const compliance = await call<v.InferOutput<typeof Compliance>>('GET', asked, { key });
    assert.equal(compliance.status, 200, compliance.text);
    assert.equal(compliance.body.no_data?.code, 'not_set_up');
  }
  for (const path of [
    '/v1/domains/dom_none/picture',
    '/v1/receivers/compliance?domain_id=dom_none',
  ])
    assert.equal((await call('GET', path)).status, 404);
  assert.equal((await call('GET', '/v1/receivers/compliance')).status, 422);
});

test('Of several senders, the worst result counts, as in the picture', async (t) => {
  const world = await startWorld(t);
  await world.test({ spf: 'fail' }, 2, { name: 'Shop' });
  await world.test({ spf: 'pass' }, 1, { name: 'News' });
  await world.requirement('SPF', 'NEEDS_WORK');
  const { requirements } = await rowsOf(world);
  assert.deepEqual(
    requirements[0]!.own.map(({ status, at }) => [status, at]),
    [['fail', ago(2)]],
  );
  assert.equal(requirements[0]!.agrees, true);
});
