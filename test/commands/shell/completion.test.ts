/** The completions in real shells: every command, action, option and word, and files with difficult names. */

// @one-database: about scripts of shells.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { COMMANDS } from '../../../src/commands/commands.ts';
import { type Completion, optionsOf } from '../../../src/commands/declaration.ts';
import { SHELLS } from '../../../src/commands/shell/completion.ts';
import { temporaryFolder } from '../../helpers/app.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { fishCompletions, type Shell, startShell } from '../../helpers/shells.ts';
import { runCommand } from '../run.ts';

/** Each begins with the first of a word, so that nothing else is offered. */
const FILES = ['a mail.eml', 'b:c=d.eml', "e'f.eml"];

function placeFor(t: TestContext, shell: Shell, file = 'completions') {
  const root = temporaryFolder(t);
  const folder = join(root, 'folder');
  mkdirSync(join(folder, 'sub folder'), { recursive: true });
  for (const name of FILES) writeFileSync(join(folder, name), '');
  const completions = join(root, 'site', file);
  mkdirSync(join(root, 'site'));
  writeFileSync(completions, SHELLS[shell](COMMANDS));
  return { folder, completions };
}

const wordsOf = (completion: Completion | undefined): readonly string[] =>
  typeof completion === 'object'
    ? 'prefixes' in completion
      ? completion.prefixes
      : completion
    : [];

/** Each line before its last word, and all words that complete it. */
function expectations(): [line: string, words: string[]][] {
  const names = COMMANDS.map(({ name }) => name);
  const rows: [string, string[]][] = [
    ['', [...names, 'help']],
    ['help ', names],
  ];
  for (const command of COMMANDS) {
    const { name, actions, arguments: args = [] } = command;
    if (actions) rows.push([`${name} `, Object.keys(actions)]);
    const places = Object.entries(actions ?? { '': { arguments: args } });
    for (const [action, { arguments: args = [] }] of places) {
      const place = action ? `${name} ${action} ` : `${name} `;
      const options = optionsOf(command, action || null);
      rows.push([`${place}--`, [...options.map(([option]) => `--${option}`), '--help']]);
      for (const [option, { choices, completion = choices }] of options) {
        const words = [...wordsOf(completion)];
        if (words.length > 0) rows.push([`${place}--${option} `, words]);
      }
      for (const [index, { choices, completion = choices }] of args.entries())
        if (wordsOf(completion).length > 0)
          rows.push([`${place}${'x '.repeat(index)}`, [...wordsOf(completion)]]);
    }
  }
  return rows;
}

const sorted = (words: string[]): string[] => [...words].sort();

/** The words that a shell put instead of the last one. zsh adds the `=` of the last option. */
const insertedWords = (line: string, inserted: string): string[] =>
  inserted
    .slice(line.replace(/--$/, '').length)
    .trim()
    .split(' ')
    .map((word) => word.replace(/^(--[\w-]+)=$/, '$1'))
    .filter((word) => word !== '--version');

for (const shell of ['bash', 'zsh'] as const)
  test(`${shell} completes every command, action, option and word`, {
    skip: skipUnlessInstalled(shell) || skipUnlessInstalled('script'),
  }, async (t) => {
    const { complete } = await startShell(t, shell, placeFor(t, shell));
    for (const [line, words] of expectations()) {
      const typed = `deliverability ${line}`;
      const inserted = await complete(typed);
      const found = insertedWords(typed, inserted).filter(
        (word) => line !== '' || !word.startsWith('-'),
      );
      assert.deepEqual(sorted(found), sorted(words), typed);
    }
  });

test('fish completes every command, action, option and word', {
  skip: skipUnlessInstalled('fish'),
}, (t) => {
  const rows = expectations();
  const lines = rows.map(([line]) => `deliverability ${line}`);
  const offered = fishCompletions(lines, placeFor(t, 'fish'));
  for (const [index, [line, words]] of rows.entries()) {
    const found = offered[index]!.map((text) => text.split('\t')[0]!);
    const withoutFiles = found.filter((word) => !FILES.includes(word) && word !== 'sub folder/');
    assert.deepEqual(sorted(withoutFiles), sorted(words), line);
    const undescribed = offered[index]!.filter(
      (text) => text.startsWith('--') && !text.includes('\t'),
    );
    assert.deepEqual(undescribed, [], line);
  }
});

/** A line, and what TAB makes of it: unique matches, where files have spaces, colons, equals signs and quotes. */
const TABS: [line: string, bash: string, zsh?: string][] = [
  ['chec', 'check '],
  ['check --ki', 'check --kind ', 'check --kind='],
  ['check --kind=au', 'check --kind=auto '],
  ['check --kind au', 'check --kind auto '],
  ['check --kind auto --fail-below cont', 'check --kind auto --fail-below content='],
  ['check --report sa', 'check --report sarif='],
  ['check --report=sa', 'check --report=sarif='],
  ['check --report sarif=a', 'check --report sarif=a\\ mail.eml '],
  ['check --report=sarif=a', 'check --report=sarif=a\\ mail.eml '],
  ['check a', 'check a\\ mail.eml '],
  ['check a\\ m', 'check a\\ mail.eml '],
  ['check b', 'check b\\:c\\=d.eml ', 'check b:c=d.eml '],
  ['check e', "check e\\'f.eml "],
  ['check s', 'check sub\\ folder/'],
  ['check a\\ mail.eml b', 'check a\\ mail.eml b\\:c\\=d.eml ', 'check a\\ mail.eml b:c=d.eml '],
  ['check -- a', 'check -- a\\ mail.eml '],
  ['copy --from sql', 'copy --from sqlite:'],
  ['copy --from sqlite:a', 'copy --from sqlite:a\\ mail.eml '],
  ['copy --from sqlite:x.db --to postg', 'copy --from sqlite:x.db --to postgres://'],
  ['listen --dir s', 'listen --dir sub\\ folder/'],
  ['listen --dir a', 'listen --dir a'],
  ['key ci --role ow', 'key ci --role owner '],
  ['feedback imp', 'feedback import '],
  ['feedback import a', 'feedback import a\\ mail.eml '],
  ['feedback parse --im', 'feedback parse --im'],
  ['owner a', 'owner a'],
  ['restore a\\ mail.eml b', 'restore a\\ mail.eml b'],
  ['completion zs', 'completion zsh '],
];

for (const shell of ['bash', 'zsh'] as const)
  test(`TAB in ${shell} completes values after "=" and ":", and quotes the names of files`, {
    skip: skipUnlessInstalled(shell) || skipUnlessInstalled('script'),
  }, async (t) => {
    // zsh also loads the file that the Debian package installs.
    const place = placeFor(t, shell, '_deliverability');
    const { tab } = await startShell(t, shell, place);
    for (const program of ['deliverability', 'deliverability-admin'])
      for (const [line, bash, zsh = bash] of TABS) {
        const completed = await tab(`${program} ${line}`);
        assert.equal(completed, `${program} ${shell === 'bash' ? bash : zsh}`, line);
      }
  });

test('fish completes files, values after "=" and ":", and nothing where any text can stand', {
  skip: skipUnlessInstalled('fish'),
}, (t) => {
  const rows: [string, string[]][] = [
    ['check --kind=au', ['--kind=auto']],
    ['check --report sarif=a', ['sarif=a mail.eml']],
    ['check a', ['a mail.eml']],
    ['check s', ['sub folder/']],
    ['copy --from sqlite:a', ['sqlite:a mail.eml']],
    ['listen --dir ', ['sub folder/']],
    ['feedback import a', ['a mail.eml']],
    ['feedback parse --im', []],
    ['owner ', []],
    ['domain ', []],
  ];
  const lines = rows.map(([line]) => `deliverability ${line}`);
  const offered = fishCompletions(lines, placeFor(t, 'fish'));
  for (const [index, [line, words]] of rows.entries())
    assert.deepEqual(
      offered[index]!.map((text) => text.split('\t')[0]),
      words,
      line,
    );
});

test('completion prints the script of a shell, and says which shells there are', async () => {
  const completion = COMMANDS.find(({ name }) => name === 'completion')!;
  for (const shell of Object.keys(SHELLS) as Shell[]) {
    const { code, stdout } = await runCommand(completion, [shell], {});
    assert.deepEqual([code, stdout], [0, SHELLS[shell](COMMANDS)]);
  }
  await assert.rejects(runCommand(completion, [], {}), /^Error: Missing argument: SHELL$/);
  await assert.rejects(
    runCommand(completion, ['tcsh'], {}),
    /^Error: SHELL must be bash, zsh or fish, not "tcsh"$/,
  );
});
