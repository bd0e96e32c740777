/** The commands of README.md, docs/api.md, docs/team.md, docs/checking-files.md and docs/backup.md, exactly as shown. */

// @one-database: about documents.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { execFile } from '../../scripts/programs.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { codeBlocks, pathWithProgram } from '../helpers/installed-program.ts';
import { startMailSink } from '../outbox/mail-sink.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const run = promisify(execFile);

/** A folder with the sample message at its place in the project. */
function folderWithSample(t: TestContext): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'examples'));
  writeFileSync(join(folder, 'examples/message.eml'), read('examples/message.eml'));
  return folder;
}

/** Only the blocks that match. Throws if there are fewer than expected, so that none is left out by mistake. */
function blocks(name: string, pattern: RegExp, expected: number): string[] {
  const found = codeBlocks(read(name), 'sh').filter((block) => pattern.test(block));
  assert.equal(found.length, expected, name);
  return found;
}

test('From source, the commands of the README lead to a running service and an owner', {
  skip: skipUnlessInstalled('unshare'),
}, async (t) => {
  const [start] = blocks('README.md', /npm start$/m, 1);
  const [owner] = blocks('README.md', /npm start -- owner/, 1);
  assert.equal(start, 'npm ci && npm start\n');
  const data = join(temporaryFolder(t), 'data');
  // In a network of its own, because the commands use the default ports. The packages are there.
  const script = [
    'ip link set lo up',
    `(${start!.replace('npm ci && ', '').trim()}) > "$LOG" 2>&1 & service=$!`,
    'for i in $(seq 60); do npm start --silent -- healthcheck > /dev/null 2>&1 && break; sleep 1; done',
    owner!.trim(),
    'kill -TERM -- -$$ 2> /dev/null || true',
  ].join('\n');
  const log = join(temporaryFolder(t), 'log');
  const { HOME = '/tmp', PATH } = process.env;
  const { stdout } = await run('unshare', ['--net', 'setsid', 'bash', '-c', script], {
    cwd: ROOT,
    env: { HOME, PATH, LOG: log, DELIVERABILITY_DATA_DIR: data },
    timeout: 180_000,
  }).catch((error) => error as { stdout: string });
  assert.match(stdout, /^dlv_live_[\w-]+$/m);
  assert.match(readFileSync(log, 'utf8'), /run `npm start -- owner you@example\.com`/);
});

test('The commands that check files and domains work as shown', async (t) => {
  const folder = folderWithSample(t);
  const env = {
    PATH: await pathWithProgram(t),
    // Nothing answers there.
    DELIVERABILITY_DNS_SERVERS: '127.0.0.1:1',
  };
  const commands = [
    ...blocks('README.md', /^deliverability check/, 1),
    ...blocks('docs/checking-files.md', /^deliverability (check|domain)/, 2),
  ];
  for (const command of commands) {
    const result = await run('bash', ['-euc', command], { cwd: folder, env }).catch(
      (error) => error as { code: number; stdout: string; stderr: string },
    );
    assert.doesNotMatch(result.stderr, /Usage:|bug/, command);
    assert.match(result.stdout, /message\.eml|example\.com/, command);
  }
});

test('Every curl command of docs/api.md and docs/team.md works as shown', {
  skip: skipUnlessInstalled('curl') || skipUnlessInstalled('swaks'),
}, async (t) => {
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
      // swaks connects directly.
      DELIVERABILITY_SMTP_PROXY_PROTOCOL: '',
    },
  });
  const { call, http, smtp, key, app } = service;
  const folder = folderWithSample(t);
  const { body: sent } = await call<{ id: string }>('POST', '/v1/tests', {
    body: goodMessage(),
    headers: { 'content-type': 'message/rfc822' },
  });
  const { body: open } = await call<{ token: string }>('POST', '/v1/tests');
  const rc = `fail\nsilent\nshow-error\nconnect-to = "127.0.0.1:8080:127.0.0.1:${http.port}"\n`;
  writeFileSync(join(folder, '.curlrc'), rc);
  const env = { PATH: process.env.PATH, CURL_HOME: folder, API_KEY: key };
  const commands = [
    ...blocks('docs/api.md', /curl|swaks/, 8),
    ...blocks('docs/team.md', /curl/, 2),
  ];
  for (const shown of commands) {
    const command = shown
      .replace('export API_KEY=dlv_live_…\n', '')
      .replaceAll('TEST_ID', sent.id)
      .replace('127.0.0.1:2525', `127.0.0.1:${smtp.port}`)
      .replace('TOKEN@localhost', `${open.token}@${app.config.INBOX_DOMAIN}`);
    await assert.doesNotReject(run('bash', ['-euc', command], { cwd: folder, env }), command);
  }
});

test('A backup is made and restored as docs/backup.md says', async (t) => {
  const folder = temporaryFolder(t);
  const env = { PATH: await pathWithProgram(t), DELIVERABILITY_DATA_DIR: join(folder, 'data') };
  const sh = (command: string) => run('bash', ['-euc', command], { cwd: folder, env });
  await sh('deliverability owner you@example.com');
  const [backup] = blocks('docs/backup.md', /^deliverability backup/, 1);
  const [restore] = blocks('docs/backup.md', /^deliverability restore/, 1);
  await sh(backup!.replace('/var/backups/', `${folder}/`));
  const date = (await sh('date +%F')).stdout.trim();
  await sh(restore!.replace('/var/backups/', `${folder}/`).replace('2026-11-21', date));
  assert.match((await sh('deliverability key again --role member')).stdout, /^dlv_live_/m);
});
