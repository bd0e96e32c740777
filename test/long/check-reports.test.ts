/** `check --html` and `--pdf` write complete files or none; which network requests `check` makes. */

// @one-database: `check` opens no database.

import assert from 'node:assert/strict';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { spawnSync } from '../../scripts/programs.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfInfo, pdfWords } from '../helpers/pdf.ts';
import { bundleProgram, type Environment, runProgram } from '../helpers/program.ts';

const skip = skipUnlessInstalled('pdftotext');

/** Creates a folder with a message, and a function that runs `check` on it. */
function prepare(t: TestContext) {
  const folder = temporaryFolder(t);
  const at = (name: string) => join(folder, name);
  const body = 'Hello, your order is on its way.\nhttps://shop.example/orders\n';
  writeFileSync(at('message.eml'), goodMessage({ Subject: 'Größe & <b>Preis</b>' }, body));
  const check = (args: string[], env: Environment = {}) =>
    runProgram(['check', at('message.eml'), ...args], env);
  return { folder, at, check };
}

test('check --html and --pdf write private report files besides the text output', {
  skip,
}, async (t) => {
  const { folder, at, check } = prepare(t);
  const { code, stdout, stderr } = await check([
    '--offline',
    `--html=${at('report.html')}`,
    `--pdf=${at('report.pdf')}`,
  ]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^No score {2}message\.eml\n/);
  assert.doesNotMatch(stdout, /Next:.*--html/);
  const page = readFileSync(at('report.html'), 'utf8');
  assert.match(page, /^<!doctype html>/i);
  assert.match(page, /message\.eml/);
  assert.match(page, /Hello, your order is on its way\./);
  assert.ok(!page.includes('<b>Preis'));
  const pdf = readFileSync(at('report.pdf'));
  assert.match(pdfInfo(pdf), /^Title: +Deliverability report: message\.eml$/m);
  assert.match(pdfWords(pdf), /Größe & <b>Preis<\/b>/);
  assert.deepEqual(readdirSync(folder).sort(), ['message.eml', 'report.html', 'report.pdf']);
  for (const name of ['report.html', 'report.pdf']) assert.equal(statSync(at(name)).mode & 0o77, 0);
});

test('check --html replaces an existing report through a symlink; JSON still goes to stdout', async (t) => {
  const { at, check } = prepare(t);
  mkdirSync(at('reports'));
  writeFileSync(at('reports/old.html'), 'old');
  symlinkSync(at('reports/old.html'), at('latest.html'));
  const { code, stdout } = await check([
    '--offline',
    '--json',
    '--fail-below=1',
    `--html=${at('latest.html')}`,
  ]);
  assert.equal(code, 1);
  assert.equal((JSON.parse(stdout) as Test).object, 'test');
  assert.match(readFileSync(at('reports/old.html'), 'utf8'), /^<!doctype html>/i);
  assert.deepEqual(readdirSync(at('reports')), ['old.html']);
  const hint = await check(['--offline']);
  assert.match(hint.stdout, /Next: --json .*, --html report\.html or --pdf\s+report\.pdf /);
});

test('check rejects an unwritable report path before doing anything', async (t) => {
  const { folder, at, check } = prepare(t);
  const cases: [string[], RegExp][] = [
    [['--html=-'], /^--html requires a file name\.$/m],
    [['--pdf='], /^--pdf requires a file name\.$/m],
    [[`--html=${folder}`], /^--html must be a regular file: \//m],
    [[`--html=${at('x'.repeat(256))}`], /^--html cannot write .*\(ENAMETOOLONG\)/m],
    [['--pdf=/dev/null'], /^--pdf must be a regular file: \/dev\/null is not\.$/m],
    [
      [`--pdf=${at('none/report.pdf')}`],
      /^--pdf cannot write .*report\.pdf \(the folder does not exist\)/m,
    ],
    [[`--html=${at('message.eml')}`], /^--html is the same file as the message file\.$/m],
    [
      [`--html=${at('a')}`, `--pdf=${at('a')}`],
      /^--pdf is the same file as the file of --html\.$/m,
    ],
    [['--html'], /--html/],
  ];
  for (const [args, sentence] of cases) {
    const { code, stdout, stderr } = await check(args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, sentence);
    assert.match(stderr, /\nUsage: deliverability check FILE/);
  }
  assert.deepEqual(readdirSync(folder), ['message.eml']);
});

test('check exits with 3 and leaves no partial file when writing a report fails', async (t) => {
  const { folder, at } = prepare(t);
  const args = ['check', at('message.eml'), '--offline', `--html=${at('report.html')}`];
  // No file of more than 20 KiB: the page has more.
  const limited = ['-c', 'ulimit -f 40 && exec "$0" "$@"', process.execPath];
  const { status, stdout, stderr } = spawnSync('sh', [...limited, await bundleProgram(), ...args], {
    encoding: 'utf8',
  });
  assert.equal(status, 3);
  assert.match(stdout, /^No score {2}message\.eml\n/);
  assert.match(stderr, /^Could not write \/.*\/report\.html\. EFBIG: file too large, write\n$/);
  assert.deepEqual(readdirSync(folder), ['message.eml']);
});

/** Runs `check`; returns its DNS queries and the statuses of its checks. */
async function runCheck(t: TestContext, args: string[], env: Environment = {}) {
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const { check } = prepare(t);
  const { code, stdout, stderr } = await check(['--ip=192.0.2.1', '--json', ...args], {
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    ...env,
  });
  assert.deepEqual([code, stderr], [0, '']);
  const { checks } = JSON.parse(stdout) as Test;
  const status = (id: string) => checks.find((check) => check.id === id)?.status;
  return { queries: [...dns.queries.keys()], status };
}

test('check tests and queries the configured blocklists', async (t) => {
  const { queries } = await runCheck(t, []);
  assert.ok(
    queries.some((name) => name.includes('2.0.0.127.zen.spamhaus.org')),
    queries.join(' '),
  );
  const { queries: others } = await runCheck(t, [], { DELIVERABILITY_BLOCKLISTS: '-all' });
  assert.ok(others.length > 0);
  assert.deepEqual(
    others.filter((name) => name.includes('spamhaus')),
    [],
  );
});

test('check requests links unless disabled, and queries configured spam engines', async (t) => {
  const isLinkedHost = (name: string) => name === 'shop.example/A';
  const online = await runCheck(t, []);
  assert.ok(online.queries.some(isLinkedHost), online.queries.join(', '));
  assert.equal(online.status('spamassassin'), 'skipped');
  for (const [args, env] of [
    [['--no-links'], {}],
    [[], { DELIVERABILITY_CHECK_LINKS: 'false' }],
  ] as [string[], Environment][]) {
    const { queries, status } = await runCheck(t, args, env);
    assert.ok(!queries.some(isLinkedHost));
    assert.equal(status('link_status'), 'skipped');
  }
  // Nothing listens on this port.
  const engine = await runCheck(t, [], { DELIVERABILITY_SPAMD_URL: 'tcp://127.0.0.1:1' });
  assert.equal(engine.status('spamassassin'), 'error');
});

test('check reads only relevant environment variables and reports invalid ones', async (t) => {
  const { check } = prepare(t);
  const service = await check(['--offline'], { DELIVERABILITY_HTTP_PORT: 'x' });
  assert.equal(service.code, 0);
  const { code, stderr } = await check(['--offline'], {
    DELIVERABILITY_BLOCKLISTS: '+none.example',
    DELIVERABILITY_SPAMD_URL: 'http://127.0.0.1',
  });
  assert.equal(code, 2);
  assert.match(stderr, /DELIVERABILITY_SPAMD_URL must be an address such as tcp:/);
  const list = await check(['--offline'], { DELIVERABILITY_BLOCKLISTS: '+none.example' });
  assert.equal(list.code, 2);
  assert.match(list.stderr, /DELIVERABILITY_BLOCKLISTS contains the unknown list/);
});
