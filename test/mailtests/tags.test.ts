/** Tags of tests: in requests, lists, exports and events. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../src/http/problem.ts';
import { expireTests } from '../../src/mailtests/expire.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { listTags } from '../../src/mailtests/tags.ts';
import { startTestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';

interface List {
  data: Test[];
}

test('Tags are trimmed, lowercased and sorted, and can be replaced and removed', async (t) => {
  const { call, createTest, getTest } = await startTestService(t);
  const created = await createTest({ tags: [' Release ', 'ÄNDERUNG', 'a\u0301'] });
  const tags = ['release', 'á', 'änderung'];
  assert.deepEqual(created.tags, tags);
  assert.deepEqual((await getTest(created.id)).tags, tags);
  const path = `/v1/tests/${created.id}`;
  const renamed = await call<Test>('PATCH', path, { json: { name: 'New' } });
  assert.deepEqual(renamed.body.tags, tags);
  const replaced = await call<Test>('PATCH', path, { json: { tags: ['two', 'one'] } });
  assert.deepEqual(replaced.body.tags, ['one', 'two']);
  const removed = await call<Test>('PATCH', path, { json: { tags: [] } });
  assert.deepEqual(removed.body.tags, []);
  assert.deepEqual((await getTest(created.id)).tags, []);
});

test('A change of the tags changes the ETag, so that nobody overwrites them unseen', async (t) => {
  const { call, createTest } = await startTestService(t);
  const { id } = await createTest({ tags: ['one'] });
  const path = `/v1/tests/${id}`;
  const etag = (await call('GET', path)).headers.get('etag')!;
  assert.equal((await call('PATCH', path, { json: { tags: ['two'] } })).status, 200);
  const late = await call('PATCH', path, {
    json: { tags: ['three'] },
    headers: { 'if-match': etag },
  });
  assert.equal(late.status, 412);
});

test('Invalid tags get 422, which names each of them', async (t) => {
  const { call } = await startTestService(t);
  const many = Array.from({ length: 11 }, (_, index) => `tag ${index}`);
  const cases: [unknown, string, RegExp][] = [
    ['newsletter', 'tags', /array/],
    [[''], 'tags.0', /must not be empty/],
    [['ok', '  '], 'tags.1', /must not be blank/],
    [['a,b'], 'tags.0', /must not contain commas/],
    [['a\nb'], 'tags.0', /control characters/],
    [['a\u202eb'], 'tags.0', /text direction/],
    [['x'.repeat(51)], 'tags.0', /at most 50 characters/],
    // Becomes longer in lowercase.
    [['İ'.repeat(50)], 'tags.0', /at most 50 characters/],
    [['Spring', 'spring '], 'tags.1', /is a duplicate/],
    [many, 'tags', /at most 10 tags/],
  ];
  for (const [tags, param, message] of cases) {
    const { status, body } = await call<Problem>('POST', '/v1/tests', { json: { tags } });
    assert.equal(status, 422, JSON.stringify(tags));
    const error = body.errors?.find((item) => item.param === param);
    assert.match(error?.message ?? '', message, JSON.stringify(body));
  }
});

test('Tags of a raw message come from the query, and its event contains them', async (t) => {
  const { call, getTest } = await startTestService(t);
  const headers = { 'content-type': 'message/rfc822' };
  const body = goodMessage();
  const path = '/v1/tests/raw?tags=Nightly,%20release';
  const { body: created } = await call<Test>('POST', path, { headers, body });
  assert.deepEqual(created.tags, ['nightly', 'release']);
  await getTest(created.id, '?wait=20');
  const { body: events } = await call<{ data: { type: string; data: Test }[] }>(
    'GET',
    '/v1/events?type=test.completed',
  );
  assert.deepEqual(events.data[0]!.data.tags, ['nightly', 'release']);
  const bad = await call<Problem>('POST', '/v1/tests/raw?tags=a,,b', { headers, body });
  assert.equal(bad.status, 422);
});

test('Lists and exports can be filtered by tag and by ID, and contain the tags', async (t) => {
  const { app, call, createTest, makeKey } = await startTestService(t);
  const both = await createTest({ tags: ['release', 'news'] });
  const one = await createTest({ tags: ['release'] });
  const none = await createTest();
  const sandboxKey = await makeKey('owner', false);
  await call('POST', '/v1/tests', { key: sandboxKey, json: { tags: ['release', 'sandbox'] } });
  const ids = async (query: string) =>
    (await call<List>('GET', `/v1/tests?${query}`)).body.data.map(({ id }) => id);
  assert.deepEqual(await ids('tag=Release'), [one.id, both.id]);
  assert.deepEqual(await ids('tag=news'), [both.id]);
  assert.deepEqual(await ids('tag=sandbox'), []);
  assert.deepEqual(await ids('tag=release&limit=1'), [one.id]);
  assert.deepEqual(await ids(`tag=release&starting_after=${one.id}`), [both.id]);
  assert.deepEqual(await ids(`tag=release&ending_before=${both.id}`), [one.id]);
  assert.deepEqual(await ids(`ids=${none.id},${both.id},test_unknown`), [none.id, both.id]);
  assert.deepEqual(await ids('ids='), []);
  const { text } = await call('GET', '/v1/tests/export?tag=release');
  const [head, first, second] = text.split('\r\n');
  assert.match(head!, /,tags$/);
  assert.match(first!, /,release$/);
  assert.match(second!, /,"news,release"$/);
  assert.deepEqual(await listTags(app.db, true, 10), ['news', 'release']);
  assert.deepEqual(await listTags(app.db, true, 1), ['news']);
  assert.deepEqual(await listTags(app.db, false, 10), ['release', 'sandbox']);
});

test('The tags of a deleted test are deleted', async (t) => {
  const { app, call, createTest } = await startTestService(t);
  const { id } = await createTest({ tags: ['gone'] });
  assert.equal((await call('DELETE', `/v1/tests/${id}`)).status, 200);
  assert.deepEqual(await app.db.selectFrom('test_tags').selectAll().execute(), []);
});

test('A test that expires keeps its tags in its event', async (t) => {
  const { app, call, createTest } = await startTestService(t);
  const { id } = await createTest({ tags: ['late'], expires_in: 60 });
  const past = '2020-01-01T00:00:00.000Z';
  await app.db.updateTable('tests').set({ expires_at: past }).where('id', '=', id).execute();
  await expireTests(app);
  const { body } = await call<{ data: { data: Test }[] }>('GET', '/v1/events?type=test.failed');
  assert.deepEqual(body.data[0]!.data.tags, ['late']);
});
