/** The `check` command: reports and exit codes. */

// @one-database: `check` opens no database.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { check as checkCommand } from '../../src/commands/check/check.ts';
import { type Io, UsageError } from '../../src/commands/command.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { type ProgramResult, runProgram } from '../helpers/program.ts';
import { SENDER_ZONE, signed } from './sender.ts';

/** The command uses the real clock. */
const NOW = systemClock.now();
const MESSAGE = goodMessage({ Date: new Date(NOW).toUTCString().replace('GMT', '+0000') });
const CLIENT = [
  '--ip=192.0.2.1',
  '--helo=mail.example.com',
  '--mail-from=bounce@example.com',
  '--tls=TLSv1.3',
];

const check = (args: string[], input: string | Uint8Array = ''): Promise<ProgramResult> =>
  runProgram(['check', ...args], {}, input);

function fileWith(t: TestContext, message: string | Uint8Array): string {
  const file = join(temporaryFolder(t), 'message.eml');
  writeFileSync(file, message);
  return file;
}

async function serveZone(t: TestContext, zone: Zone = SENDER_ZONE): Promise<string> {
  const dns = await startDnsServer(zone);
  t.after(() => dns.close());
  return `--dns=127.0.0.1:${dns.address.port}`;
}

const signedNow = () => signed({ message: MESSAGE, signTime: NOW - 60_000 });

test('check reports a passing message from file or stdin as text and JSON', async (t) => {
  const dns = await serveZone(t);
  const message = await signedNow();
  const text = await check([fileWith(t, message), dns, ...CLIENT, '--fail-below=100']);
  assert.deepEqual([text.code, text.stderr], [0, '']);
  assert.match(text.stdout, /message\.eml/);
  assert.match(text.stdout, /100[\s\S]*SPF pass {3}DKIM pass {3}DMARC pass/);
  const json = await check(['-', dns, ...CLIENT, '--json'], message);
  assert.deepEqual([json.code, json.stderr], [0, '']);
  const result = JSON.parse(json.stdout) as Test;
  assert.deepEqual(
    [result.object, result.status, result.score, result.grade],
    ['test', 'completed', 100, 'A'],
  );
  assert.deepEqual(result.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass' });
});

test('check --fail-below exits with 1 for a lower score and still prints the report', async (t) => {
  const dns = await serveZone(t, { ...SENDER_ZONE, 's1._domainkey.example.com': { TXT: [] } });
  const args = [fileWith(t, await signedNow()), dns, ...CLIENT, '--json'];
  const { score } = JSON.parse((await check(args)).stdout) as { score: number };
  assert.ok(score < 100);
  assert.equal((await check([...args, `--fail-below=${score}`])).code, 0);
  const failed = await check([...args, `--fail-below=${score + 1}`]);
  assert.equal(failed.code, 1);
  assert.equal(JSON.parse(failed.stdout).score, score);
});

test('check --offline makes no DNS queries; without score --fail-below exits with 1', async (t) => {
  // This server would answer.
  const server = await startDnsServer(SENDER_ZONE);
  t.after(() => server.close());
  const args = ['-', '--offline', `--dns=127.0.0.1:${server.address.port}`, ...CLIENT, '--json'];
  const { code, stdout } = await check(args, await signedNow());
  assert.equal(code, 0);
  assert.equal(server.queries.size, 0);
  const result = JSON.parse(stdout) as Test;
  assert.equal(result.score, null);
  const status = (id: string) => result.checks.find((found) => found.id === id)?.status;
  assert.deepEqual(
    [status('spf'), status('dmarc'), status('from')],
    ['skipped', 'skipped', 'pass'],
  );
  assert.equal((await check([...args, '--fail-below=1'], MESSAGE)).code, 1);
});

test('check exits with 3 when DNS fails', async (t) => {
  const dns = await serveZone(t, {
    ...SENDER_ZONE,
    'example.com': { fails: 'servfail' },
    's1._domainkey.example.com': { fails: 'servfail' },
  });
  const { code, stdout } = await check(['-', dns, ...CLIENT, '--json'], await signedNow());
  assert.equal(code, 3);
  const { status, failure_reason, score } = JSON.parse(stdout);
  assert.deepEqual([status, failure_reason, score], ['failed', 'analysis_error', null]);
});

test('check names the kind of mail with its reasons, and --kind settles an uncertain one', async (t) => {
  const dns = await serveZone(t);
  const message = goodMessage(
    {
      Subject: 'Your trial ends in 3 days',
      Date: new Date(NOW).toUTCString().replace('GMT', '+0000'),
    },
    'Hello Anna,\n\nyour trial ends on Tuesday. Upgrade now: https://example.com/plans\n',
  );
  const file = fileWith(t, await signed({ message, signTime: NOW - 60_000 }));
  const json = await check([file, dns, ...CLIENT, '--json']);
  const result = JSON.parse(json.stdout) as Test;
  assert.equal(result.kind_confidence, 'uncertain');
  const { score, alternative } = result;
  const text = (await check([file, dns, ...CLIENT])).stdout.replace(/\s+/g, ' ');
  assert.ok(
    text.includes(`${score} as transactional mail and ${alternative!.score} as marketing mail.`),
    text,
  );
  assert.match(
    text,
    /Evaluated as transactional mail \(uncertain\)\. Its subject is about the end/,
  );
  assert.match(text, /Next: --kind marketing or --kind transactional to settle the kind, /);
  const marketing = await check([file, dns, ...CLIENT, '--kind=marketing']);
  const settled = marketing.stdout.replace(/\s+/g, ' ');
  assert.match(settled, /Evaluated as marketing mail \(certain\)\. You chose this kind\./);
  assert.ok(settled.includes(`${alternative!.score}/100`), settled);
  assert.doesNotMatch(settled, /--kind/);
});

test('check accepts messages with LF line endings', async (t) => {
  const dns = await serveZone(t);
  const message = (await signedNow()).toString().replaceAll('\r\n', '\n');
  const { stdout } = await check(['-', dns, ...CLIENT, '--json'], message);
  const result = JSON.parse(stdout) as Test;
  assert.equal(result.auth_results.dkim, 'pass');
  assert.equal(result.line_ends_converted, true);
});

test('check exits with 2 for invalid files and options and names them', async (t) => {
  const folder = temporaryFolder(t);
  const file = fileWith(t, MESSAGE);
  const io = { stdin: async () => new Uint8Array() } as Partial<Io> as Io;
  const cases: [string[], RegExp][] = [
    [[], /^Missing argument: FILE/],
    [[join(folder, 'none.eml')], /none\.eml does not exist/],
    [
      [fileWith(t, '%PDF-1.7\n')],
      /message\.eml is a PDF, not an email message\. Save the\s+message/,
    ],
    [['-'], /^Standard input is empty/],
    [
      [file, '--fail-below=colour=9'],
      /^--fail-below has no category "colour"\. The categories are/,
    ],
    [[file, '--fail-below=content=101'], /^--fail-below must be a number from 0 to 100/],
    [[file, '--tolerance=3'], /^--tolerance is only for --baseline/],
    [
      [file, `--baseline=${folder}/none`],
      /^--baseline cannot read .*none \(the file does not exist\)/,
    ],
    [[file, `--baseline=${file}`], /^--baseline .* is not a baseline\. Create one with --report /],
    [
      [file, '--report=xml=a'],
      /^--report must be FORMAT=FILE, not "xml=a"\. The formats are json, /,
    ],
    [[file, '--report=junit'], /^--report must be FORMAT=FILE, not "junit"/],
    [[file, '-', `--html=${folder}/a.html`], /^--html writes the report of one message\. /],
    [[file, '--ip=here'], /^"here" is not an IP address/],
    [[file, '--fail-below=101'], /^--fail-below must be a number from 0 to 100/],
    [[file, '--fail-below=x'], /^--fail-below must be a number/],
    [[file, '--kind=spam'], /^--kind must be auto, marketing or transactional/],
    [[file, '--tls=2'], /^--tls must be TLSv1\.3/],
    [[file, '--colour'], /^Unknown option '--colour'/],
    [[file, '--ofline'], /^Unknown option '--ofline'\. Did you mean --offline\?/],
    [[file, '--ip'], /--ip/],
    [[fileWith(t, Buffer.alloc(25 * 1024 * 1024 + 1))], /is larger than 26 MB/],
  ];
  for (const [args, sentence] of cases)
    await assert.rejects(checkCommand.run(args, io), (error) => {
      assert.ok(error instanceof UsageError, args.join(' '));
      assert.match(error.message, sentence);
      return true;
    });
  const printed: [string[], RegExp][] = [
    [['--ofline'], /^Unknown option '--ofline'\. Did you mean --offline\?\nUsage: /],
    [['--dns=dns.example'], /^--dns must be addresses such as/],
  ];
  for (const [args, text] of printed) {
    const { code, stdout, stderr } = await check([file, ...args]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, text);
    assert.match(stderr, /\nUsage: deliverability check FILE/);
  }
});
