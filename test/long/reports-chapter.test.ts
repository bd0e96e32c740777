/** Runs the commands of docs/reports.md in a shell, exactly as shown. */

// @one-database: about commands in the documentation.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { execFile } from '../../scripts/programs.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { startSharing } from '../shares/sharing.ts';

const CHAPTER = readFileSync(
  fileURLToPath(new URL('../../docs/reports.md', import.meta.url)),
  'utf8',
);
const run = promisify(execFile);

test('Every command of docs/reports.md works as shown', {
  skip: skipUnlessInstalled('curl'),
}, async (t) => {
  const sink = await startMailSink(t);
  const { service, analysed, share } = await startSharing(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  const { call, folder, http, key } = service;
  const make = async (path: string, json: object) => {
    const { status, body, text } = await call<{ id: string }>('POST', path, { json });
    assert.equal(status, 201, text);
    return body.id;
  };
  const { id } = await analysed();
  const env = {
    PATH: process.env.PATH,
    CURL_HOME: folder,
    API_KEY: key,
    TEST_ID: id,
    TOKEN: (await share({ test_ids: [id] })).token,
    DOMAIN_ID: await make('/v1/domains', { name: 'example.com' }),
    SCHEDULE_ID: await make('/v1/reports/schedules', {
      name: 'Every day',
      frequency: 'daily',
      recipients: ['alex@example.com'],
    }),
  };
  const rc = `fail\nsilent\nshow-error\nconnect-to = "127.0.0.1:8080:127.0.0.1:${http.port}"\n`;
  writeFileSync(join(folder, '.curlrc'), rc);
  const commands = [...CHAPTER.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
  assert.ok(commands.length >= 5);
  for (const command of commands) {
    const { stdout } = await run('bash', ['-euc', command], { cwd: folder, env });
    if (command.includes('/share'))
      assert.match(JSON.parse(stdout).title, /^(The spring newsletter|Email of Acme)$/);
  }
  assert.match(readFileSync(join(folder, 'report.html'), 'utf8'), /^<!doctype html>/i);
  assert.equal(readFileSync(join(folder, 'report.pdf')).subarray(0, 5).toString(), '%PDF-');
  assert.match(readFileSync(join(folder, 'preview.html'), 'utf8'), /Every day/);
});

test('Every internal link of docs/reports.md has a heading', () => {
  const anchors = [...CHAPTER.matchAll(/^#+ (.+)$/gm)].map(
    ([, title]) => `#${title!.toLowerCase().replaceAll(' ', '-')}`,
  );
  const links = [...CHAPTER.matchAll(/\]\((#[^)]+)\)/g)].map(([, link]) => link!);
  assert.ok(links.length >= 8);
  assert.deepEqual(
    links.filter((link) => !anchors.includes(link)),
    [],
  );
});
