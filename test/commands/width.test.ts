/** What commands print fits the terminal, and no width cuts anything off. */

// @one-database: about printed texts.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { check } from '../../src/commands/check/check.ts';
import type { Command, Io } from '../../src/commands/command.ts';
import { domain } from '../../src/commands/domain.ts';
import { env } from '../../src/commands/env.ts';
import { key } from '../../src/commands/key.ts';
import { receiptText } from '../../src/commands/listen/print.ts';
import type { Receipt } from '../../src/commands/listen/receive.ts';
import { owner } from '../../src/commands/owner.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';

const WIDTHS = [60, 80, 120];
const SUBJECT = `A long subject: ${'autumn sale '.repeat(18)}and its end`;

async function outputOf(command: Command, args: string[], width: number, environment: Io['env']) {
  let output = '';
  const write = (text: string) => {
    output += text;
  };
  await command.run(args, {
    env: environment,
    width,
    useColor: false,
    isStderrTerminal: true,
    stdout: write,
    stderr: write,
    status: () => {},
    stdin: async () => new Uint8Array(),
    ask: async () => null,
    program: 'deliverability',
    interrupted: new Promise(() => {}),
  });
  return output;
}

/** A DNS record, a variable and a word without spaces are copied, so they stay whole. */
const isWhole = (line: string): boolean =>
  / TXT v=|^DELIVERABILITY_/.test(line) ||
  !line
    .trim()
    .replace(/^[-→✗!✓?] /, '')
    .includes(' ');

function assertFits(output: string, width: number): void {
  const long = output.split('\n').filter((line) => [...line].length > width && !isWhole(line));
  assert.deepEqual(long, [], `width ${width}`);
}

/** Without what depends on the width or on the run: line breaks, bars, keys, links, times. */
const wordsOf = (output: string): string =>
  output
    .replace(/[█░]+/g, '')
    .replace(/\b(?:dlv|sk|key)_\w+|https?:\S+/g, '')
    .replace(/\s+/g, ' ');

test('check, domain, env, owner and key print the same words at every width', async (t) => {
  const folder = temporaryFolder(t);
  const dns = await startDnsServer({
    'example.com': { TXT: ['v=spf1 -all'], MX: ['10 mx.example.com'] },
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=none'] },
  });
  t.after(() => dns.close());
  const server = `--dns=127.0.0.1:${dns.address.port}`;
  const file = join(folder, `${'a-long-file-name-'.repeat(5)}.eml`);
  writeFileSync(file, `From: News <news@example.com>\r\nSubject: ${SUBJECT}\r\n\r\nHello\r\n`);
  const environment = { DELIVERABILITY_BLOCKLISTS: '-all', DELIVERABILITY_DATA_DIR: folder };
  const from = ['--ip=192.0.2.1', '--helo=mail.example.com', '--mail-from=bounce@example.com'];
  const rows: [Command, string[], RegExp][] = [
    [check, [file, server, '--no-links', ...from], /Next: .*--json .* to share\./],
    [check, [file, '--offline'], /and its end/],
    [domain, ['example.com', server], /Next: .* DKIM keys that you use\./],
    [env, [], /DELIVERABILITY_HTTP_PORT=/],
  ];
  for (const [command, args, expected] of rows) {
    const outputs: string[] = [];
    for (const width of WIDTHS) {
      const output = await outputOf(command, args, width, environment);
      assertFits(output, width);
      if (command !== env)
        assert.doesNotMatch(output, /…(?! )/, `${command.name} cuts nothing off`);
      assert.match(wordsOf(output), expected);
      outputs.push(wordsOf(output));
    }
    assert.equal(new Set(outputs).size, 1, `${command.name}\n${outputs.join('\n\n')}`);
  }
  for (const width of WIDTHS) {
    const store = { DELIVERABILITY_DATABASE_URL: `sqlite:${join(folder, `${width}.db`)}` };
    for (const [command, args, expected] of [
      [
        key,
        ['build', '--role=admin'],
        /There is no database at .* run this command where the service runs/,
      ],
      [owner, ['you@example.com'], /To sign in, set a password within 24 hours\./],
      [owner, ['other@example.com'], /Nothing was changed\./],
      [owner, ['other@example.com', '--replace'], /links and invitations are now revoked\./],
      [key, ['build', '--role=admin'], /This API key is shown only once:/],
    ] as const) {
      const output = await outputOf(command, [...args], width, { ...environment, ...store });
      assertFits(output, width);
      assert.match(wordsOf(output), expected);
    }
  }
});

test('listen prints the same words at every width', () => {
  const receipt: Receipt = {
    at: Date.UTC(2026, 10, 23, 10),
    event: {
      id: 'evt_01m7yrrt80qcv84garzdn604vy',
      type: 'test.completed',
      livemode: true,
      data: {
        score: 40,
        grade: 'F',
        subject: SUBJECT.slice(0, 190),
        from_address: 'a@example.com',
      },
    },
    json: {},
    verification: { verified: true, isPreviousSecret: true },
    delivery: 2,
    status: 502,
    fault: 'http://127.0.0.1:3000/webhooks did not respond: no response within 30 s',
    forwarded: true,
  };
  const outputs = WIDTHS.map((width) => {
    const output = receiptText(receipt, { width, color: false });
    assertFits(output, width);
    return wordsOf(output);
  });
  assert.equal(new Set(outputs).size, 1, outputs.join('\n'));
  for (const part of [
    SUBJECT.slice(0, 190).trim(),
    'test.completed',
    'previous one expires',
    'within 30 s',
  ])
    assert.ok(outputs[0]!.includes(part), part);
});
