/** No command prints characters that control a terminal, whatever its arguments, variables, files and DNS contain. */

// @one-database: about printed texts.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { assertRefused, HOSTILE, HOSTILE_ENVIRONMENTS, run } from './hostile-commands.ts';

test('Commands print hostile arguments without control characters', (t) => assertRefused(t));

test('Commands print hostile environment values without control characters', async () => {
  for (const env of HOSTILE_ENVIRONMENTS)
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
