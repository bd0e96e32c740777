/** Operations that pages call in process: nothing that a client of the API could not do gets through. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { domainOperations } from '../../src/domains/routes.ts';
import { eventOperations } from '../../src/events/routes.ts';
import { type AnyCall, route } from '../../src/http/route.ts';
import type { AppError } from '../../src/lib/errors.ts';
import { memberOperations } from '../../src/team/member-routes.ts';
import { bearer, startRoutedService } from './routed.ts';

/** Runs `work` in a page that the given role may open; it resolves with what the page responds. */
async function inPage(
  t: TestContext,
  work: (call: AnyCall) => Promise<unknown>,
  { role = 'owner', sandbox = false } = {},
): Promise<unknown> {
  const page = route({
    method: 'POST',
    path: '/page',
    operation: 'page',
    role: 'viewer',
    invokes: true,
    summary: 'A page of a test',
    async handle(call) {
      const answer = await work(call as AnyCall).catch((error: AppError) => ({
        code: error.code,
        params: error.params.map(({ param }) => param),
      }));
      return Response.json(answer);
    },
  });
  const service = await startRoutedService(t, [page]);
  const key =
    role === 'owner'
      ? await service.makeKey('owner', !sandbox)
      : (await service.makeMember(role as 'member')).key;
  const { status, json } = await service.send('POST', '/page', { headers: bearer(key) });
  assert.equal(status, 200);
  return json;
}

test('invoke() resolves with the object that a client would get', async (t) => {
  const made = await inPage(t, async (call) => {
    const domain = await call.invoke(domainOperations.create, { body: { name: 'Example.COM' } });
    const read = await call.invoke(domainOperations.get, { params: { id: domain.id } });
    const events = await call.invoke(eventOperations.list, { query: { limit: '1' } });
    return { names: [domain.name, read.name], events: events.data };
  });
  assert.deepEqual(made, { names: ['example.com', 'example.com'], events: [] });
});

test('invoke() validates the query and the body', async (t) => {
  const answers = await inPage(t, async (call) => {
    const failed = (work: Promise<unknown>) =>
      work.then(
        () => null,
        (error: AppError) => [error.code, ...error.params.map(({ param }) => param)],
      );
    return [
      await failed(call.invoke(domainOperations.create, { body: { name: '', extra: 1 } as never })),
      await failed(call.invoke(domainOperations.list, { query: { limit: '0' } })),
      await failed(call.invoke(domainOperations.get, { params: { id: 'dom_none' } })),
    ];
  });
  assert.deepEqual(answers, [
    ['validation_failed', 'name', 'extra'],
    ['validation_failed', 'limit'],
    ['not_found'],
  ]);
});

test('invoke() requires the role of the operation', async (t) => {
  const create = (call: AnyCall) =>
    call.invoke(domainOperations.create, { body: { name: 'a.com' } });
  assert.deepEqual(await inPage(t, create, { role: 'viewer' }), { code: 'forbidden', params: [] });
});

test('invoke() refuses operations without a test mode to test-mode keys', async (t) => {
  const create = (call: AnyCall) =>
    call.invoke(domainOperations.create, { body: { name: 'a.com' } });
  assert.deepEqual(await inPage(t, create, { sandbox: true }), {
    code: 'live_mode_required',
    params: [],
  });
});

test('invoke() reauthorizes the caller in the transaction, as a request does', async (t) => {
  const answer = await inPage(
    t,
    async (call) => {
      // An admin lowers the role after the page was authorized.
      await call.app.db
        .updateTable('members')
        .set({ role: 'viewer' })
        .where('id', '=', call.actor.memberId)
        .execute();
      return call.invoke(domainOperations.create, { body: { name: 'a.com' } });
    },
    { role: 'member' },
  );
  assert.deepEqual(answer, { code: 'forbidden', params: [] });
});

test('invoke() rejects a change with an outdated If-Match', async (t) => {
  const answer = await inPage(t, async (call) => {
    const domain = await call.invoke(domainOperations.create, { body: { name: 'a.com' } });
    return call.invoke(domainOperations.update, {
      params: { id: domain.id },
      body: { badge_enabled: true },
      headers: { 'if-match': '"old"' },
    });
  });
  assert.deepEqual(answer, { code: 'precondition_failed', params: [] });
});

test('A page that invokes operations cannot open a transaction of its own', async (t) => {
  const page = route({
    method: 'POST',
    path: '/page',
    operation: 'page',
    role: 'viewer',
    invokes: true,
    summary: 'A page of a test',
    handle: ({ transact }) => transact(async () => new Response('done')),
  });
  const { send, key, logged } = await startRoutedService(t, [page]);
  assert.equal((await send('POST', '/page', { headers: bearer(key) })).status, 500);
  const { fields } = logged.find(({ level }) => level === 'error')!;
  assert.match(String(fields.fault), /page does not declare that it writes/);
});

test('invoke() resolves with lists of the declared fields only', async (t) => {
  const answer = (await inPage(t, async (call) => {
    const { data } = await call.invoke(memberOperations.list);
    return Object.keys(data[0]!);
  })) as string[];
  assert.ok(!answer.includes('password_hash'));
});
