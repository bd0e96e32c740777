/** The steps of docs/shell.md, with the program as a process and in real shells. */

// @one-database: about scripts of shells.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { execFileSync } from '../../scripts/programs.ts';
import { COMMANDS } from '../../src/commands/commands.ts';
import { SHELLS } from '../../src/commands/shell/completion.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { codeBlocks, pathWithProgram } from '../helpers/installed-program.ts';

const DOCUMENT = readFileSync(new URL('../../docs/shell.md', import.meta.url), 'utf8');
const skip = (['zsh', 'fish', 'man'] as const)
  .map((name) => skipUnlessInstalled(name))
  .find(Boolean);

test('The steps of docs/shell.md install completions and the manual page, and load them at the start of shells', {
  skip,
}, async (t) => {
  const home = temporaryFolder(t);
  const bin = join(home, '.local/bin');
  mkdirSync(bin, { recursive: true });
  const PATH = `${bin}:${await pathWithProgram(t)}`;
  const env = { PATH, HOME: home, LC_ALL: 'C.UTF-8', MANWIDTH: '80' };
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { env, cwd: home, encoding: 'utf8' });
  const [steps] = codeBlocks(DOCUMENT, 'sh');
  run('bash', '-ec', steps!);
  const saved = (path: string) => readFileSync(join(home, path), 'utf8');
  for (const [shell, path] of [
    ['bash', '.local/share/bash-completion/completions/deliverability'],
    ['zsh', '.zfunc/_deliverability'],
    ['fish', '.config/fish/completions/deliverability.fish'],
  ] as const)
    assert.equal(saved(path), SHELLS[shell](COMMANDS), path);
  assert.match(run('man', '-P', 'cat', 'deliverability'), /find out why mail lands in spam/);
  assert.match(run('fish', '-c', 'complete -C "deliverability check --ki"'), /^--kind\tauto, /);

  const [bash, zsh, fish] = [
    ...DOCUMENT.matchAll(/^\| (?:bash|zsh|fish)\b.*?\| (?:`|<code>)(.+?)(?:`|<\/code>) /gm),
  ].map(([, line]) => line!.replace('&#124;', '|'));
  assert.match(run('bash', '-c', `${bash}; complete -p deliverability`), / _deliverability deliv/);
  const compinit = 'autoload -Uz compinit; compinit -u -D';
  assert.equal(
    run('zsh', '-fc', `${compinit}; ${zsh}; print $_comps[deliverability]`),
    '_deliverability\n',
  );
  assert.match(
    run('fish', '--no-config', '-c', `${fish}; complete -C 'deliverability key x --role ow'`),
    /^owner\t/,
  );
});
