/** `check` with templates: which files count as templates, limits, baselines and reports. */

// @one-database: `check` opens no database.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { check } from '../../src/commands/check/check.ts';
import type { Io } from '../../src/commands/command.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { runCommand } from './run.ts';

const GOOD =
  '<!doctype html>\n<html lang="en"><head><title>t</title></head><body><p>Hi {{ name }}, your order {{ id }} is on its way.</p></body></html>\n';
const BROKEN = GOOD.replace('{{ name }}', '{{ name }');

function prepare(t: TestContext, files: Record<string, string | Buffer>) {
  const folder = temporaryFolder(t);
  const at = (name: string) => join(folder, name);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
  const run = (args: string[], io: Partial<Io> = {}) =>
    runCommand(check, ['--offline', ...args], {}, io);
  const messages = (name: string) =>
    JSON.parse(readFileSync(at(name), 'utf8')).messages as {
      file: string;
      problem: string | null;
      test: { is_template?: true; score: number } | null;
    }[];
  return { at, run, messages };
}

test('check takes an HTML file as a template, and says nothing about sending it', async (t) => {
  const { at, run } = prepare(t, { 'a.html': GOOD });
  const { code, stdout, stderr } = await run([at('a.html'), '--fail-below=90']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /100\/100 {2}A {2}a\.html\nNo problems found in this template\./);
  assert.match(stdout, /Not checked, because this is a template: sender/);
  assert.doesNotMatch(stdout, /DKIM|Message-ID|List-Unsubscribe|--mail-from|required/);
});

test('check --template also takes messages, and HTML in folders and from standard input', async (t) => {
  const { at, run, messages } = prepare(t, {
    'm/a.html': GOOD,
    'm/b.HTM': GOOD,
    'm/c.eml': `Subject: {{ subject }}\n\nHello {{ name }}\n`,
    'm/d.hbs': GOOD,
    'e.hbs': GOOD,
  });
  const io = { stdin: async () => Buffer.from(GOOD) };
  const json = `--report=json=${at('o.json')}`;
  await run(['--template', at('m'), at('e.hbs'), '-', json], io);
  assert.deepEqual(
    messages('o.json').map(({ file, test: one }) => [file.split('/').at(-1), one?.is_template]),
    ['a.html', 'b.HTM', 'c.eml', 'e.hbs', '-'].map((name) => [name, true]),
  );
  await run([at('m'), at('m/a.html'), json]);
  assert.deepEqual(
    messages('o.json').map(({ file, test: one }) => [file.split('/').at(-1), one?.is_template]),
    [
      ['c.eml', undefined],
      ['a.html', true],
    ],
  );
});

test('check refuses what is no template, and tells how to check HTML that is not named as such', async (t) => {
  const { at, run } = prepare(t, {
    'a.html': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]),
    'b.mjml': '<mjml><mj-body></mj-body></mjml>',
    'c.html': 'only words\n',
    'd.txt': GOOD,
    'e.html': '',
  });
  const cases: [string[], RegExp][] = [
    [[at('a.html')], /a\.html is not a template: it is neither a message nor HTML/],
    [['--template', at('b.mjml')], /b\.mjml is MJML\. Compile it, and check the HTML/],
    [[at('c.html')], /c\.html is not a template/],
    [[at('d.txt')], /To check it as a template, add --template/],
    [[at('e.html')], /e\.html is empty/],
  ];
  for (const [args, expected] of cases) await assert.rejects(run(args), expected);
});

test('a template is compared with a baseline, and only a new finding fails', async (t) => {
  const { at, run } = prepare(t, { 'a.html': BROKEN, 'b.html': GOOD });
  const files = [at('a.html'), at('b.html')];
  await run([...files, `--report=baseline=${at('base.json')}`]);
  const compare = () => run([...files, `--baseline=${at('base.json')}`]);
  assert.equal((await compare()).code, 0);
  writeFileSync(at('b.html'), BROKEN);
  const { code, stdout } = await compare();
  assert.equal(code, 1);
  assert.match(stdout, /New required change: Merge tags/);
});

test('every report of a template says what it is, and requires nothing that only a message has', async (t) => {
  const { at, run } = prepare(t, { 'a.html': BROKEN });
  const formats = ['json', 'junit', 'sarif', 'markdown', 'code-quality', 'html', 'pdf'];
  const paths = formats.map((format) => `${format}=${at(`o.${format}`)}`);
  const { code } = await run([at('a.html'), '--report', ...paths]);
  assert.equal(code, 0);
  const read = (format: string) => readFileSync(at(`o.${format}`), 'utf8');
  for (const format of ['junit', 'sarif', 'markdown', 'code-quality', 'html'])
    assert.match(read(format), /merge tag is broken/i, format);
  assert.match(read('junit'), /failures="1"/);
  const { runs } = JSON.parse(read('sarif'));
  assert.deepEqual(
    runs[0].results.map(({ ruleId }: { ruleId: string }) => ruleId),
    ['merge_tags'],
  );
  assert.doesNotMatch(read('html'), /id="(?:providers|authentication|path)"/);
});

test('a template in Windows-1252 with CRLF or a mark is read like one in UTF-8', async (t) => {
  const text = GOOD.replace('Hi', 'Grüße,').replaceAll('\n', '\r\n');
  const { at, run } = prepare(t, {
    'a.html': Buffer.from(text, 'latin1'),
    'b.html': `\ufeff${text}`,
    'c.html': text.replaceAll('\r\n', '\r'),
  });
  for (const name of ['a', 'b', 'c']) {
    const { stdout } = await run([at(`${name}.html`), '--json']);
    assert.match(stdout, /Grüße/, name);
    assert.equal(JSON.parse(stdout).score, 100, name);
  }
});

test('check names --template for a message that still has its merge tags', async (t) => {
  const { at, run } = prepare(t, {
    'a.eml': 'From: Lea <lea@lime.shop>\nSubject: Order {{ id }}\n\nHello {{ name }}\n',
    'b.eml': 'From: Lea <lea@lime.shop>\nSubject: Order 7\n\nHello Ben\n',
  });
  assert.match(
    (await run([at('a.eml')])).stdout,
    /--template\s+if\s+it\s+is\s+not\s+filled\s+in\s+yet/,
  );
  assert.doesNotMatch((await run([at('b.eml')])).stdout, /--template/);
});
