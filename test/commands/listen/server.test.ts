/** The server of `listen`: what fails in it is answered and told, and it goes on. */

import assert from 'node:assert/strict';
import { request } from 'node:https';
import { test } from 'node:test';
import { type Reply, startListenServer } from '../../../src/commands/listen/server.ts';
import { makeTestAuthority } from '../../helpers/authority.ts';

test('The listen server answers 500 on handler errors, reports them and keeps serving', async (t) => {
  const authority = await makeTestAuthority();
  const replies: (() => Reply)[] = [
    () => {
      throw new TypeError('it is no function');
    },
    () => ({ status: 99, headers: {}, body: 'odd' }),
    () => ({ status: 200, headers: { 'x-odd': 'a\u0000b' }, body: 'odd' }),
    () => ({ status: 200, headers: {}, body: 'fine' }),
  ];
  const told: string[] = [];
  const server = await startListenServer({
    host: '127.0.0.1',
    port: 0,
    tls: await authority.issue(['127.0.0.1']),
    handle: async () => replies.shift()!(),
    onFailedConnection: (kind) => told.push(kind),
    onFailure: (error) => told.push((error as NodeJS.ErrnoException).code ?? String(error)),
  });
  t.after(() => server.close());
  const ask = () =>
    new Promise<[number | undefined, string]>((resolve, reject) => {
      const options = { method: 'POST', ca: authority.ca, agent: false } as const;
      request(`https://127.0.0.1:${server.port}/`, options, async (response) => {
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += chunk;
        resolve([response.statusCode, text]);
      })
        .on('error', reject)
        .end('{}');
    });
  for (const answer of [
    [500, ''],
    [500, ''],
    [500, ''],
    [200, 'fine'],
  ])
    assert.deepEqual(await ask(), answer);
  assert.deepEqual(told, [
    'TypeError: it is no function',
    'ERR_HTTP_INVALID_STATUS_CODE',
    'ERR_INVALID_CHAR',
  ]);
});
