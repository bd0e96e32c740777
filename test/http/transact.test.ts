/** Routes that write must use a transaction that reauthorizes the caller. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as v from 'valibot';
import { ROUTES } from '../../src/features.ts';
import { route, writes } from '../../src/http/route.ts';
import { bearer, type RoutedService, startRoutedService } from './routed.ts';

const Done = v.object({ ok: v.boolean() });
const declared = { method: 'POST', summary: 'A route of a test', response: Done } as const;

const post = async (
  { send, key }: RoutedService,
  path: string,
  headers: Record<string, string> = {},
) => send('POST', path, { headers: { ...bearer(key), ...headers } });

const loggedErrors = ({ logged }: RoutedService) =>
  logged.filter(({ level }) => level === 'error').map(({ fields }) => String(fields.fault));

const event = (id: string) => ({ id, type: 'made', livemode: 1, created_at: 'now', data: '{}' });

it('A writing route that returns without transact() responds with 500 and releases its idempotency key', async (t) => {
  let skip = true;
  const forgetful = route({
    ...declared,
    path: '/forgetful',
    operation: 'forget',
    role: 'member',
    async handle({ app, transact }) {
      if (skip) return { ok: true };
      return transact(async (tx) => {
        await tx
          .insertInto('events')
          .values(event(app.newId('evt')))
          .execute();
        return { ok: true };
      });
    },
  });
  const service = await startRoutedService(t, [forgetful]);
  const key = { 'idempotency-key': 'k1' };
  const failed = await post(service, '/forgetful', key);
  assert.deepEqual([failed.status, failed.json.code], [500, 'internal_error']);
  assert.match(loggedErrors(service)[0]!, /forget returned without calling transact\(\)/);
  const claims = () => service.app.db.selectFrom('idempotency_keys').select('key').execute();
  assert.deepEqual(await claims(), []);
  skip = false;
  const done = await post(service, '/forgetful', key);
  assert.deepEqual([done.status, done.headers['idempotent-replayed']], [200, undefined]);
});

it('A route responds with 500 if its only transaction failed, even if its handler continues', async (t) => {
  const careless = route({
    ...declared,
    path: '/careless',
    operation: 'ignore',
    role: 'member',
    async handle({ transact }) {
      await transact(() => Promise.reject(new Error('no'))).catch(() => {});
      return { ok: true };
    },
  });
  const service = await startRoutedService(t, [careless]);
  assert.equal((await post(service, '/careless')).status, 500);
});

it('A handler that fails before transact() is logged with its own error', async (t) => {
  const failing = route({
    ...declared,
    path: '/failing',
    operation: 'fail',
    role: 'member',
    handle: ({ params }) => Promise.reject(params),
  });
  const service = await startRoutedService(t, [failing]);
  assert.equal((await post(service, '/failing')).status, 500);
  assert.doesNotMatch(loggedErrors(service)[0]!, /transact/);
});

it('Routes not declared as writing respond without transact() and cannot call it', async (t) => {
  const preview = { ...declared, role: 'member', writes: false } as const;
  const previewing = route({
    ...preview,
    path: '/previewing',
    operation: 'preview',
    handle: () => ({ ok: true }),
  });
  const writing = route({
    ...preview,
    path: '/writing',
    operation: 'write',
    handle: ({ transact }) => transact(async () => ({ ok: true })),
  });
  const reading = route({
    ...declared,
    method: 'GET',
    path: '/reading',
    operation: 'read',
    role: 'viewer',
    handle: ({ transact }) => transact(async () => ({ ok: true })),
  });
  const open = route({
    ...declared,
    path: '/open',
    operation: 'open',
    role: 'public',
    handle: ({ transact }) => transact(async () => ({ ok: true })),
  });
  const service = await startRoutedService(t, [previewing, writing, reading, open]);
  assert.equal((await post(service, '/previewing')).status, 200);
  assert.equal((await post(service, '/writing')).status, 500);
  assert.equal(
    (await service.send('GET', '/reading', { headers: bearer(service.key) })).status,
    500,
  );
  assert.equal((await service.send('POST', '/open')).status, 500);
  const undeclared = /^Error: (write|read|open) does not declare that it writes/;
  assert.equal(loggedErrors(service).filter((fault) => undeclared.test(fault)).length, 3);
});

it('transact() authorizes the caller again for the route’s role', async (t) => {
  let meanwhile = async () => {};
  const roles: string[] = [];
  const slow = route({
    ...declared,
    path: '/slow',
    operation: 'wait',
    role: 'admin',
    async handle({ transact }) {
      await meanwhile();
      return transact(async (_tx, { role, member }) => {
        roles.push(role, member.role);
        return { ok: true };
      });
    },
  });
  const service = await startRoutedService(t, [slow]);
  const { id, key } = await service.makeMember('admin');
  const postSlow = () => service.send('POST', '/slow', { headers: bearer(key) });
  assert.equal((await postSlow()).status, 200);
  meanwhile = async () => {
    await service.app.db
      .updateTable('members')
      .set({ role: 'member' })
      .where('id', '=', id)
      .execute();
  };
  const lowered = await postSlow();
  assert.equal(lowered.status, 403);
  assert.match(String(lowered.json.detail), /requires the admin role\. Your role is member/);
  assert.deepEqual(roles, ['admin', 'admin']);
});

it('transact() does not authorize callers of a public writing route', async (t) => {
  const receivedArguments: unknown[][] = [];
  const open = route({
    ...declared,
    path: '/open',
    operation: 'open',
    role: 'public',
    writes: true,
    handle: ({ transact }) =>
      transact(async (...args) => {
        receivedArguments.push(args.slice(1));
        return { ok: true };
      }),
  });
  const service = await startRoutedService(t, [open]);
  assert.equal((await service.send('POST', '/open')).status, 200);
  assert.deepEqual(receivedArguments, [[]]);
});

it('transact() stores the idempotent response with the change that determines it', async (t) => {
  const storedStatuses = () =>
    service.app.db.selectFrom('idempotency_keys').select('status').execute();
  const seen: unknown[] = [];
  const stepwise = route({
    ...declared,
    path: '/stepwise',
    operation: 'step',
    role: 'member',
    async handle({ transact }) {
      await transact(
        async () => 'no response yet, continue',
        () => undefined,
      );
      seen.push(await storedStatuses());
      await transact(
        async () => 7,
        (result) => ({ ok: result === 7 }),
      );
      seen.push(await storedStatuses());
      return { ok: false };
    },
  });
  const service = await startRoutedService(t, [stepwise]);
  const key = { 'idempotency-key': 'k1' };
  const first = await post(service, '/stepwise', key);
  assert.deepEqual(seen, [[{ status: null }], [{ status: 200 }]]);
  assert.deepEqual(first.json, { ok: true }, 'the response is the stored response');
  assert.deepEqual((await post(service, '/stepwise', key)).json, { ok: true });
});

// Views of a shared link are counted after the response, outside a transaction of the route.
// The ID of a registered client contains its registration, so nothing is stored.
it('All routes except GET, receipts, plans and registrations write or invoke operations that do, and two GET routes write', () => {
  const unsafe = ROUTES.filter(({ method }) => method !== 'GET');
  assert.deepEqual(
    unsafe
      .filter((candidate) => !writes(candidate) && !candidate.invokes)
      .map(({ operation }) => operation),
    ['readMessageReceipt', 'planDnsChanges', 'planVerificationRecords', 'registerOAuthClient'],
  );
  const writingGets = ROUTES.filter((candidate) => candidate.method === 'GET' && writes(candidate));
  assert.deepEqual(writingGets.map(({ operation }) => operation).toSorted(), [
    'endOidcSignIn',
    'getDomainHealth',
  ]);
});
