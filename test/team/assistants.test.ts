/** Connected assistants beside the API keys: who sees and disconnects them, and what becomes of them with their member. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOwner } from '../../src/team/owner.ts';
import { startTestService } from '../helpers/app.ts';
import { insertAssistant } from '../oauth-server/freshly-connected.ts';
import { auditOf, type List, membersOf } from './team-service.ts';

const PATH = '/v1/connected_assistants';

interface Assistant {
  id: string;
  name: string;
  member_id: string;
}

test('Members see and disconnect their own assistants, and admins those of all', async (t) => {
  const service = await startTestService(t);
  const [ann, ben, admin] = [
    await service.makeMember('member'),
    await service.makeMember('member'),
    await service.makeMember('admin'),
  ];
  const one = await insertAssistant(service, ann.id);
  const two = await insertAssistant(service, ben.id, { name: 'ChatGPT', host: 'chatgpt.com' });
  const idsFor = async (key: string) => {
    const { body } = await service.call<List<Assistant>>('GET', PATH, { key });
    return body.data.map(({ id }) => id);
  };
  assert.deepEqual(await idsFor(ann.key), [one.id]);
  assert.deepEqual(await idsFor(admin.key), [two.id, one.id]);
  const remove = async (id: string, key: string) =>
    (await service.call('DELETE', `${PATH}/${id}`, { key })).status;
  assert.equal(await remove(two.id, ann.key), 404);
  assert.equal(await remove(one.id, ann.key), 200);
  assert.equal(await remove(one.id, ann.key), 404);
  assert.equal(await remove(two.id, admin.key), 200);
  const entries = await auditOf(service, { action: 'connected_assistant.revoked' });
  assert.deepEqual(
    entries.map(([, details]) => details),
    [
      { name: 'ChatGPT', host: 'chatgpt.com', role: 'member', member_id: ben.id },
      { name: 'Claude', host: 'claude.ai', role: 'member', member_id: ann.id },
    ],
  );
});

test('A key cannot disconnect an assistant with a higher role, and a test-mode key none', async (t) => {
  const service = await startTestService(t);
  const owner = (await membersOf(service))[0]!;
  const { id } = await insertAssistant(service, owner.id, { role: 'admin' });
  for (const key of [await service.makeKey('member'), await service.makeKey('owner', false)])
    assert.equal((await service.call('DELETE', `${PATH}/${id}`, { key })).status, 403);
});

test('The list has no assistant whose code was not used, or that has expired', async (t) => {
  const service = await startTestService(t);
  const owner = (await membersOf(service))[0]!;
  await insertAssistant(service, owner.id, { code_used_at: null });
  await insertAssistant(service, owner.id, { expires_at: '2000-01-01T00:00:00.000Z' });
  const { body } = await service.call<List<Assistant>>('GET', PATH);
  assert.deepEqual(body.data, []);
});

test('When another person takes over an account, its assistants are disconnected', async (t) => {
  const service = await startTestService(t);
  const owner = (await membersOf(service))[0]!;
  await insertAssistant(service, owner.id);
  await makeOwner(service.app, 'next@example.net');
  const { body } = await service.call<List<Assistant>>('GET', PATH, {
    key: await service.makeKey('owner', true, owner.id),
  });
  assert.deepEqual(body.data, []);
});
