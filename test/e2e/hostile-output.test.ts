/** No command prints characters that control a terminal, whatever its arguments, files and DNS contain. */

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { type Environment, runProgram } from '../helpers/program.ts';

/** Escape sequences of both kinds, bidi controls, separators, a bell and line breaks. */
const HOSTILE = 'a\u001b[31m\u009b2Jb\u202ec\u2066\u200f\u061cd\u2028e\u0007\u0008f\r\ng';
const CONTROL = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

async function run(args: string[], env: Environment = {}, input = '') {
  const result = await runProgram(args, env, input);
  const output = result.stdout + result.stderr;
  assert.doesNotMatch(output, CONTROL, JSON.stringify(args));
  // Its line break must not begin a line that looks like ours.
  assert.doesNotMatch(output, /^g/m, JSON.stringify(args));
  return { ...result, output };
}

const folderOf = (t: TestContext): Environment => ({
  DELIVERABILITY_DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'x.db')}`,
});

test('Commands print hostile arguments without control characters', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, `${HOSTILE}.eml`);
  writeFileSync(file, 'Subject: x\n\ny\n');
  const pdf = join(folder, `${HOSTILE}.pdf`);
  writeFileSync(pdf, '%PDF-1.7');
  const directory = join(folder, `${HOSTILE}-folder`);
  mkdirSync(directory);
  const refused: string[][] = [
    [HOSTILE],
    ['check', `${HOSTILE}.eml`],
    ['check', pdf],
    ['check', directory],
    ['check', file, HOSTILE],
    ['check', file, `--${HOSTILE}`],
    ['check', file, `--ip=${HOSTILE}`],
    ['check', file, `--dns=${HOSTILE}`],
    ['check', file, '--offline', `--html=${join(folder, HOSTILE, 'x')}`],
    ['domain', HOSTILE],
    ['domain', 'example.com', `--selector=${HOSTILE}`],
    ['owner', HOSTILE],
    ['key', HOSTILE, '--role=owner'],
    ['key', 'x', `--role=${HOSTILE}`],
    ['listen', `--secret-file=${join(folder, HOSTILE)}`],
    ['listen', `--dir=${join(file, 'x')}`, '--port=0'],
  ];
  for (const args of refused) {
    const { code, output } = await run(args, folderOf(t));
    assert.equal(code, 2, `${JSON.stringify(args)}\n${output}`);
  }
});

test('Commands print hostile environment values without control characters', async () => {
  const cases: Environment[] = [
    { DELIVERABILITY_HTTP_PORT: HOSTILE },
    { DELIVERABILITY_DATABASE_URL: `sqlite:/${HOSTILE}` },
    { [`DELIVERABILITY_${HOSTILE}`]: 'x' },
    { DELIVERABILITY_SMTP_NAME: HOSTILE },
    { DELIVERABILITY_DATA_DIR: `/tmp/${HOSTILE}` },
  ];
  for (const env of cases)
    for (const args of [['env'], ['env', '--json'], ['key', 'x', '--role=owner']])
      await run(args, env);
});

test('check prints hostile messages and DNS records without control characters', async (t) => {
  const record = HOSTILE.replace(/[^\0-\x7f]/g, '');
  const dns = await startDnsServer({
    'example.com': { TXT: [`v=spf1 ${record} -all`], MX: ['10 mx.example.com'] },
    '_dmarc.example.com': { TXT: [`v=DMARC1; p=${record}`] },
    's1._domainkey.example.com': { TXT: [`v=DKIM1; p=${record}`] },
  });
  t.after(() => dns.close());
  const server = `--dns=127.0.0.1:${dns.address.port}`;
  const folder = temporaryFolder(t);
  const file = join(folder, `${HOSTILE}.eml`);
  const subject = HOSTILE.replace(/\r\n/, '');
  const encoded = `=?utf-8?b?${Buffer.from(subject).toString('base64')}?=`;
  writeFileSync(
    file,
    [
      `From: ${encoded} <a@example.com>`,
      `Subject: ${encoded}`,
      `X-Raw: ${subject}`,
      `Received: from ${subject} by mx.example.com; Mon, 23 Nov 2026 10:00:00 +0000`,
      `DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; h=from; bh=x; b=${subject}`,
      '',
      `${HOSTILE} <a href="https://example.com/${HOSTILE}">${HOSTILE}</a>`,
      '',
    ].join('\r\n'),
  );
  const options = [
    server,
    '--no-links',
    '--ip=192.0.2.1',
    `--helo=${HOSTILE}`,
    '--mail-from=a@example.com',
  ];
  const text = await run(['check', file, ...options]);
  assert.ok(text.stdout.includes('/100'), text.output);
  const json = await run(['check', file, ...options, '--json']);
  assert.deepEqual(JSON.parse(json.stdout).envelope.helo, HOSTILE);
  await run(['domain', 'example.com', server, '--selector=s1']);
  JSON.parse((await run(['domain', 'example.com', server, '--selector=s1', '--json'])).stdout);
});
