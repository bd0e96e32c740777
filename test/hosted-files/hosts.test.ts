/** The hosts in memory: what floods cost, and what happens without the database. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHost, serveHostedFiles } from '../../src/hosted-files/serve.ts';
import { startDomainService } from '../domains/domain-service.ts';

test('requests for unknown hosts, and for the files of one host, share their queries', async (t) => {
  const service = await startDomainService(t, { 'example.com': { MX: ['10 mx.example.com'] } });
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.verify(domain.id);
  const json = { mta_sts: { mode: 'testing' } };
  await service.call('PATCH', `/v1/domains/${domain.id}/hosted_files`, { json });
  let queries = 0;
  const db = new Proxy(service.app.db, {
    get(target, key) {
      if (key === 'selectFrom') queries += 1;
      const value = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const app = { ...service.app, db };
  const unknown = Array.from({ length: 2_000 }, (_, i) => findHost(app, `mta-sts.d${i}.example`));
  assert.ok((await Promise.all(unknown)).every((host) => host === null));
  assert.equal(queries, 1);
  const fetchFile = serveHostedFiles(app, async () => new Response('the application'));
  const get = (url: string) => fetchFile(new Request(url));
  const policy = 'https://mta-sts.example.com/.well-known/mta-sts.txt';
  const answers = await Promise.all(Array.from({ length: 500 }, () => get(policy)));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(queries, 2);
  // Within a second, this node serves what it has read. Its own changes take effect at once, those of others after it.
  await service.app.db.deleteFrom('hosted_files').execute();
  assert.equal((await get(policy)).status, 200);
  service.clock.advance(1_000);
  assert.equal((await get(policy)).status, 404);
  assert.equal(await (await get('https://example.com/')).text(), 'the application');
});

test('a proxy asks for all its visitors, so there is no rate limit', async (t) => {
  const env = { DELIVERABILITY_RATE_LIMIT: '5/min' };
  const service = await startDomainService(t, {}, env);
  const ask = (path: string) => fetch(`${service.url}${path}`);
  for (let i = 0; i < 20; i += 1)
    assert.equal((await ask(`/v1/hosted_hosts?domain=d${i}.example`)).status, 404);
  for (let i = 0; i < 5; i += 1) await ask('/v1/none');
  assert.equal((await ask('/v1/none')).status, 429);
});

test('if the hosts cannot be read, the application does not answer in their place', async () => {
  const logged: string[] = [];
  const app = {
    config: { BASE_URL: 'https://mail.example.net', APP_URL: 'https://bimi.example.net' },
    clock: { now: () => 0 },
    newId: () => 'req_1',
    log: { info: () => {}, error: (text: string) => logged.push(text) },
    metrics: { httpRequests: { inc: () => {} }, httpDuration: { observe: () => {} } },
    db: {
      selectFrom() {
        throw new Error('the database is away');
      },
    },
  };
  const fetchFile = serveHostedFiles(app as never, async () => new Response('the application'));
  const answer = await fetchFile(new Request('https://mta-sts.example.com/'));
  assert.equal(answer.status, 500);
  assert.ok(!(await answer.text()).includes('away'));
  assert.deepEqual(logged, ['request failed']);
  // The service may itself have such a name.
  const own = await fetchFile(new Request('https://bimi.example.net/'));
  assert.equal(await own.text(), 'the application');
});
