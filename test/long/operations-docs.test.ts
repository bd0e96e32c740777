/** Runs every shell command of docs/operations.md beside a service, and measures the space of a test. */

// @one-database: about SQLite files.

import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { execFile } from '../../scripts/programs.ts';
import { readFreeSpace } from '../../src/store/sqlite/shrink.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { bundleProgram } from '../helpers/program.ts';
import { serveEnvironment, startServe } from '../helpers/serve-process.ts';
import { sqliteEnvironment } from '../helpers/store.ts';

const DOCUMENT = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const run = promisify(execFile);

test('Every command of docs/operations.md works beside a running service', async (t) => {
  const folder = temporaryFolder(t);
  const work = temporaryFolder(t);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const env = {
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
  };
  const service = await startServe(t, { folder, env });
  const program = join(work, 'deliverability');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${await bundleProgram()}' "$@"\n`);
  chmodSync(program, 0o755);
  const { NODE_OPTIONS: _, ...serving } = serveEnvironment(folder) as Record<string, string>;
  const environment = {
    ...serving,
    ...env,
    PATH: `${work}:${process.env.PATH}`,
    DELIVERABILITY_HTTP_PORT: new URL(service.url).port,
    DELIVERABILITY_SMTP_PORT: String(service.smtpPort),
  };
  // A restore into another folder must not find the database of the service.
  delete (environment as Record<string, string | undefined>).DELIVERABILITY_DATABASE_URL;
  const blocks = [...DOCUMENT.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block!);
  assert.ok(blocks.length >= 6);
  for (const block of blocks)
    await assert.doesNotReject(
      run('bash', ['-euc', block], { cwd: work, env: environment }),
      block,
    );
  const { findings } = JSON.parse(readFileSync(join(work, 'doctor.json'), 'utf8')) as {
    findings: { id: string; state: string }[];
  };
  const stateOf = (id: string) => findings.find((finding) => finding.id === id)?.state;
  assert.deepEqual(
    [stateOf('service'), stateOf('database'), stateOf('secret_key')],
    ['ok', 'ok', 'ok'],
  );
  const files = readdirSync(work).filter((name) => name.startsWith('daily-'));
  assert.equal(files.length, 1);
  assert.ok(!readdirSync(work).includes('drill'));
});

const TESTS = 40;

test('A test needs about as much space as docs/operations.md says', async (t) => {
  const folder = temporaryFolder(t);
  const service = await startTestService(t, {
    folder,
    zone: SENDER_ZONE,
    env: sqliteEnvironment(folder),
  });
  const filler = Buffer.from(`\r\n${'A line of text in the message.\r\n'.repeat(400)}`);
  const message = Buffer.concat([Buffer.from(goodMessage()), filler]).subarray(0, 11_000);
  const used = async () => {
    const { size, free } = await readFreeSpace(service.app.db);
    return size - free;
  };
  const submit = async () => {
    const { body } = await service.call<{ id: string }>('POST', '/v1/tests', {
      body: message,
      headers: { 'content-type': 'message/rfc822' },
    });
    assert.equal((await service.getTest(body.id, '?wait=20')).status, 'completed');
  };
  await submit();
  const before = await used();
  for (let number = 0; number < TESTS; number++) await submit();
  const each = (await used()) / TESTS - before / TESTS;
  t.diagnostic(
    `${Math.round(each / 1000)} KB for each test with a message of ${message.length} bytes`,
  );
  const [, stated] = /Disk for each test with a message of 11 KB \| (\d+) KB/.exec(DOCUMENT)!;
  assert.ok(each < Number(stated) * 1_300 && each > Number(stated) * 600, `${each} bytes`);
});
