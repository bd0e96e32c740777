/** `backup` while a service receives mail, `restore`, and the service that starts with it. */

// @one-database: about SQLite files.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { runProgram } from '../helpers/program.ts';
import { serveEnvironment, startServe } from '../helpers/serve-process.ts';

const BACKUPS = 4;

test('Each backup under load has every message acknowledged before, and restores', async (t) => {
  const folder = temporaryFolder(t);
  const outside = temporaryFolder(t);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const env = {
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
  };
  const service = await startServe(t, { folder, env });
  const acknowledged: string[] = [];
  let isOver = false;
  const upload = async () => {
    while (!isOver) {
      const { id } = await service.call<{ id: string }>('POST', '/v1/tests', {
        body: goodMessage(),
        type: 'message/rfc822',
        status: 201,
      });
      acknowledged.push(id);
    }
  };
  const uploads = Promise.all([upload(), upload(), upload()]);
  const expected: Record<string, string[]> = {};
  for (let number = 0; number < BACKUPS; number++) {
    const file = join(outside, `${number}.db`);
    expected[file] = [...acknowledged];
    const { code, stderr } = await runProgram(['backup', file], serveEnvironment(folder));
    assert.equal(code, 0, stderr);
  }
  isOver = true;
  await uploads;
  service.signal('SIGKILL');
  await service.ended;
  t.diagnostic(JSON.stringify(Object.values(expected).map((ids) => ids.length)));

  for (const [file, ids] of Object.entries(expected)) {
    const restored = temporaryFolder(t);
    const { code, stderr } = await runProgram(['restore', file], serveEnvironment(restored));
    assert.equal(code, 0, stderr);
    const again = await startServe(t, { folder: restored, env });
    for (const id of ids) assert.equal((await again.testEnded(id)).status, 'completed');
    const key = service.key;
    const response = await fetch(`${again.url}/v1/me`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(response.status, 200, 'keys of the team work');
    again.signal('SIGTERM');
    assert.deepEqual(await again.ended, { code: 0, signal: null });
    assert.deepEqual(
      again.log.filter(({ level }) => level === 'error'),
      [],
    );
  }
  assert.ok(Object.values(expected).at(-1)!.length > 0);
});
