/** The manual page: complete, and read by groff and mandoc without warnings. */

// @one-database: about a text.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { execFileSync, spawnSync } from '../../../scripts/programs.ts';
import { COMMANDS } from '../../../src/commands/commands.ts';
import type { Declaration } from '../../../src/commands/declaration.ts';
import { describedTerms } from '../../../src/commands/help.ts';
import { manPage } from '../../../src/commands/shell/man-page.ts';
import { VARIABLES } from '../../../src/config/variables.ts';
import { temporaryFolder } from '../../helpers/app.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { runCommand } from '../run.ts';

const EPOCH = 1_700_000_000;
const man = COMMANDS.find(({ name }) => name === 'man')!;
const print = (env: Record<string, string> = {}) =>
  runCommand(man, [], { SOURCE_DATE_EPOCH: String(EPOCH), ...env });

async function pageFile(t: TestContext): Promise<string> {
  const file = join(temporaryFolder(t), 'deliverability.1');
  writeFileSync(file, (await print()).stdout);
  return file;
}

/** As mandoc shows it, without bold letters and line breaks. */
const textOf = (page: string): string =>
  execFileSync('mandoc', ['-Tutf8', '-O', 'width=200'], { input: page, encoding: 'utf8' })
    .replace(/.\u0008/gu, '')
    .replace(/\s+/g, ' ');

test('mandoc finds nothing wrong with the manual page', {
  skip: skipUnlessInstalled('mandoc'),
}, async (t) => {
  const { status, stdout } = spawnSync('mandoc', ['-Tlint', await pageFile(t)], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [0, '']);
});

test('groff shows the manual page without warnings in a wide and a narrow terminal', {
  skip: skipUnlessInstalled('man'),
}, async (t) => {
  const file = await pageFile(t);
  for (const width of ['80', '60']) {
    const { status, stderr } = spawnSync(
      'man',
      ['--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', file],
      {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', MANWIDTH: width, MANROFFSEQ: '' },
      },
    );
    assert.deepEqual([status, stderr], [0, '']);
  }
});

test('The manual page has every command, action, option, exit code and variable', {
  skip: skipUnlessInstalled('mandoc'),
}, async () => {
  const { stdout } = await print();
  const text = textOf(stdout);
  for (const command of COMMANDS) {
    assert.ok(text.includes(`deliverability ${command.name}`), command.name);
    for (const [term, description] of describedTerms(command))
      assert.ok(text.includes(`${term} ${description}`), `${command.name} ${term}`);
    if (command.exitCodes) assert.ok(text.includes(command.exitCodes), command.name);
  }
  for (const name of Object.keys(VARIABLES))
    assert.ok(text.includes(` DELIVERABILITY_${name} `), name);
  const sections = [...stdout.matchAll(/^\.SH (.+)$/gm)].map(([, name]) => name);
  assert.deepEqual(sections, [
    'NAME',
    'SYNOPSIS',
    'DESCRIPTION',
    'COMMANDS',
    'OPTIONS',
    'ENVIRONMENT',
    'FILES',
    'EXIT STATUS',
    'EXAMPLES',
    'SEE ALSO',
  ]);
});

test('The manual page shows texts literally that groff would take for commands', {
  skip: skipUnlessInstalled('mandoc'),
}, () => {
  const description = `.so /etc/passwd \\fBbold\\fR 'quoted' — “all” ${'a '.repeat(50)}.TH x`;
  const command: Declaration = { name: 'x', summary: description, options: { y: { description } } };
  const page = manPage([command], 0);
  const shown = textOf(page).split(description).length - 1;
  assert.equal(shown, 2, textOf(page));
  assert.match(page, /^\.TH DELIVERABILITY 1 1970-01-01 "deliverability \d/);
});

test('The manual page depends on the date of the release, and not on the settings of the machine', async () => {
  const page = (await print()).stdout;
  assert.match(page, /^\.TH DELIVERABILITY 1 2023-11-14 /);
  assert.equal((await print({ DELIVERABILITY_HTTP_PORT: '9999' })).stdout, page);
  await assert.rejects(print({ SOURCE_DATE_EPOCH: 'today' }), /must be a number of seconds/);
});
