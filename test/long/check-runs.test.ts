/** `check` with several messages: order, reports, limits, baselines, and hostile names and subjects. */

// @one-database: `check` opens no database.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { check } from '../../src/commands/check/check.ts';
import type { Io } from '../../src/commands/command.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { runCommand } from '../commands/run.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';

const BAD = 'From: a@shop.example\r\nSubject: Hello\r\n\r\nHello\r\n';
/** The command uses the real clock. */
const GOOD = goodMessage({
  Date: new Date(systemClock.now()).toUTCString().replace('GMT', '+0000'),
});
const CONTENT_LIMIT = '--fail-below=content=100';

/** Writes files to a folder; returns it, and a function that runs `check` offline. */
function prepare(t: TestContext, files: Record<string, string>) {
  const folder = temporaryFolder(t);
  const at = (name: string) => join(folder, name);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
  const run = (args: string[], env: Io['env'] = {}, io: Partial<Io> = {}) =>
    runCommand(check, ['--offline', ...args], env, io);
  const json = (name: string) => JSON.parse(readFileSync(at(name), 'utf8'));
  return { folder, at, run, json };
}

test('check takes files, folders and standard input in a stable order, each once', async (t) => {
  const { folder, at, run, json } = prepare(t, {
    'm/b.eml': GOOD,
    'm/A.EML': GOOD,
    'm/sub/c.eml': BAD,
    'm/sub/notes.txt': 'not a message',
    'm/node_modules/x/d.eml': BAD,
    'm/empty.eml': '',
    'none/readme.txt': '',
  });
  symlinkSync('..', at('m/sub/up'));
  symlinkSync('b.eml', at('m/link.eml'));
  const io = { stdin: async () => Buffer.from(GOOD) };
  const args = [at('m/sub/c.eml'), '-', at('m'), at('none'), at('missing.eml')];
  const { code, stdout, stderr } = await run([...args, `--report=json=${at('o.json')}`], {}, io);
  assert.equal(code, 2);
  const { messages, totals } = json('o.json') as {
    messages: { file: string; outcome: string; problem: string | null; test: { object: string } }[];
    totals: object;
  };
  assert.deepEqual(
    messages.map(({ file, outcome }) => [file.replace(`${folder}/`, ''), outcome]),
    [
      ['m/sub/c.eml', 'checked'],
      ['-', 'checked'],
      ['m/A.EML', 'checked'],
      ['m/b.eml', 'checked'],
      ['m/empty.eml', 'not_checked'],
      ['m/link.eml', 'checked'],
      ['none', 'not_checked'],
      ['missing.eml', 'not_checked'],
    ],
  );
  assert.deepEqual(totals, { messages: 8, limited: false, failed: 0, unchecked: 3 });
  assert.equal(messages[0]!.test.object, 'test');
  assert.match(
    stderr,
    /empty\.eml is empty\.\n.*none contains no \.eml files\.\n.*missing\.eml does not exist\.\n/,
  );
  assert.match(stdout, /8 messages: 5 checked, 3 not checked\./);
  const printed = await run([...args, '--json'], {}, io);
  assert.deepEqual(JSON.parse(printed.stdout).messages.length, 8);
});

test('check --fail-below with a category fails the messages below it, and where it is unknown', async (t) => {
  const { at, run, json } = prepare(t, { 'good.eml': GOOD, 'bad.eml': BAD });
  const report = `--report=json=${at('o.json')}`;
  const run1 = await run([at('good.eml'), at('bad.eml'), '--fail-below=compliance=90', report]);
  assert.equal(run1.code, 1);
  assert.match(run1.stdout, /✗ The score of compliance is \d+, below the limit of 90\./);
  assert.match(run1.stdout, /2 messages: 1 passed, 1 failed\./);
  assert.deepEqual(
    json('o.json').messages.map(({ failures }: { failures: string[] }) => failures.length),
    [0, 1],
  );
  const unknown = await run([at('good.eml'), '--fail-below=reputation=1']);
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.stderr,
    /The score of reputation is unknown, so it does not reach the limit of 1\./,
  );
});

test('check --baseline fails only on what got worse, and an unknown result is not better', async (t) => {
  const { at, run, json } = prepare(t, { 'a.eml': BAD, 'b.eml': GOOD });
  const [a, b, base] = [at('a.eml'), at('b.eml'), at('base.json')];
  const first = await run([a, b, '--report', `baseline=${base}`]);
  assert.equal(first.code, 0);
  const same = await run([a, b, '--baseline', base]);
  assert.equal(same.code, 0, same.stdout);
  assert.match(same.stdout, /✗ Known: Your message has no Message-ID\./);
  writeFileSync(b, GOOD.toString().replace(/^Message-ID:.*\n/im, ''));
  const worse = await run([a, b, '--baseline', base, `--report=sarif=${at('o.sarif')}`]);
  assert.equal(worse.code, 1);
  assert.match(
    worse.stdout,
    /✗ New required change: Message-ID\. Your message has no Message-ID\./,
  );
  const results = json('o.sarif').runs[0].results as { ruleId: string; baselineState: string }[];
  const states = results.filter(({ ruleId }) => ruleId === 'message_id');
  assert.deepEqual(
    states.map(({ baselineState }) => baselineState),
    ['unchanged', 'new'],
  );
  // A recommendation that became a requirement, a check that is skipped now, and a fallen score.
  const entry = json('base.json').messages[0];
  entry.findings = { ...entry.findings, message_id: 'warn', spf: 'fail', from: 'fail' };
  entry.score = 90;
  writeFileSync(base, JSON.stringify({ object: 'check_baseline', version: 1, messages: [entry] }));
  const out = at('next.json');
  const changed = await run([a, b, '--baseline', base, '--report', `baseline=${out}`]);
  assert.equal(changed.code, 1);
  assert.match(changed.stdout, /✗ The score is unknown\. It was 90\./);
  assert.match(changed.stdout, /✗ Now a required change: Message-ID\./);
  assert.match(changed.stdout, /✓ Fixed: From\./);
  assert.match(changed.stdout, /\? Unknown now: SPF/);
  assert.match(changed.stdout, /b\.eml\n.*New required change/);
  assert.equal(
    json('next.json').messages[0].findings.spf,
    'fail',
    'an unknown result keeps its state',
  );
});

const NAMES = ['::error::x,%0A%25.eml', 'a|`b`<img src=x>@team\u001b[31m.eml', 'two\nlines.eml'];
const SUBJECT =
  '::error::owned ##[error]owned </failure>]]> | ` ![x](http://evil.example/) @team \u001b[31m\u0001 \ufffe';

test('Subjects and file names cannot inject commands, markup or control characters', async (t) => {
  const message = `From: a@shop.example\r\nSubject: ${SUBJECT}\r\nX-Bad: ::warning::x\r\n\r\nHello\r\n`;
  const { folder, at, run, json } = prepare(t, {
    ...Object.fromEntries(NAMES.map((name) => [`m/${name}`, message])),
    '::warning::gone.eml': '',
  });
  const env = {
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: folder,
    GITHUB_STEP_SUMMARY: at('summary.md'),
  };
  const reports = ['json', 'junit', 'sarif', 'markdown', 'code-quality', 'baseline'];
  const args = [at('m'), at('::warning::gone.eml'), CONTENT_LIMIT, '--report'];
  const { code, stdout, stderr } = await run(
    [...args, ...reports.map((format) => `${format}=${at(`o.${format}`)}`)],
    env,
  );
  assert.equal(code, 2);
  assert.doesNotMatch(stdout, /^\s*::|##\[/m);
  const commands = stderr.split('\n').filter((line) => /^\s*::/.test(line));
  assert.ok(commands.length >= 5);
  for (const line of commands)
    assert.match(
      line,
      /^::(error|warning) (file=[^:,\n]+,line=1,)?title=[^:,\n]+::[^\n]+$|^::notice title=Deliv/,
    );
  assert.ok(commands.some((line) => line.includes('file=m/%3A%3Aerror%3A%3Ax%2C%250A%2525.eml,')));
  assert.ok(commands.some((line) => line.includes('file=m/two%0Alines.eml,')));
  const errors = commands.filter((line) => line.startsWith('::error ')).length;
  assert.ok(errors >= 5 && errors <= 10, `${errors} errors`);
  for (const name of [...reports.map((format) => `o.${format}`), 'summary.md']) {
    const text = readFileSync(at(name), 'utf8');
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f]/, name);
  }
  for (const format of ['json', 'sarif', 'code-quality', 'baseline']) json(`o.${format}`);
  const xml = readFileSync(at('o.junit'), 'utf8');
  assert.doesNotMatch(xml, /<img|]]>|\ufffe/);
  const summary = readFileSync(at('summary.md'), 'utf8');
  assert.equal(summary, readFileSync(at('o.markdown'), 'utf8'));
  // Outside of code spans, no HTML, no mention, no link and no image remain.
  const outside = summary.replace(/(`+)[^`].*?[^`]?\1(?!`)/g, '').replace(/<!-- -->/g, '\u0000');
  assert.doesNotMatch(outside, /<|@(?!\u0000)|!\[|evil/);
  assert.equal(summary.split('\n').filter((line) => line.startsWith('|')).length, 2 + 4);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('.')),
    [],
  );
});

test('check --json on GitHub prints the same values without commands', async (t) => {
  const { at, run } = prepare(t, {
    'a.eml': `From: a@b.example\r\nSubject: ${SUBJECT}\r\n\r\nx\r\n`,
  });
  const plain = await run([at('a.eml'), '--json']);
  const onGitHub = await run([at('a.eml'), '--json'], { GITHUB_ACTIONS: 'true' });
  assert.doesNotMatch(onGitHub.stdout, /##\[/);
  assert.match(JSON.parse(onGitHub.stdout).subject, /##\[error\]/);
  assert.equal(JSON.parse(onGitHub.stdout).subject, JSON.parse(plain.stdout).subject);
});
