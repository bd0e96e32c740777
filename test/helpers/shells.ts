/** Real shells, which complete a command line as they do for someone who types it. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { execFileSync, spawn } from '../../scripts/programs.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

export interface Completer {
  /** The command line, with all completions of its last word. */
  complete(line: string): Promise<string>;
  /** The command line after TAB. */
  tab(line: string): Promise<string>;
}

interface Place {
  /** The current folder, with files to complete. */
  folder: string;
  /** The script, in a folder of its own. */
  completions: string;
}

const SETUP: Record<'bash' | 'zsh', (completions: string) => string> = {
  bash: (completions) => `PS1='> '
bind 'set enable-bracketed-paste off'
bind '"\\C-xa": insert-completions'
dump() { printf 'LINE<%s>ENIL\\n' "$READLINE_LINE"; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\\C-xd": dump'
source ${completions}
PROMPT_COMMAND="printf 'LINE<>ENIL\\n'; PROMPT_COMMAND="
`,
  zsh: (completions) => `PS1='> '
unsetopt zle_bracketed_paste
fpath=(${dirname(completions)} $fpath)
autoload -Uz compinit; compinit -u -D
zle -C all-matches complete-word _generic
bindkey '^Xa' all-matches
zstyle ':completion:all-matches::::' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert true
dump() { print -r -- "LINE<$BUFFER>ENIL"; BUFFER=''; zle reset-prompt }
zle -N dump
bindkey '^Xd' dump
${basename(completions).startsWith('_') ? '' : `source ${completions}`}
print 'LINE<>ENIL'
`,
};

/**
 * bash and zsh in a terminal of their own, which `script` provides. zsh itself finds completions in a file whose name
 * begins with an underscore.
 */
export async function startShell(
  t: TestContext,
  shell: 'bash' | 'zsh',
  { folder, completions }: Place,
): Promise<Completer> {
  const home = dirname(dirname(completions));
  const file = join(home, shell === 'bash' ? 'rc' : '.zshrc');
  writeFileSync(file, SETUP[shell](completions));
  const command = shell === 'bash' ? `bash --rcfile '${file}' -i` : 'zsh -i';
  const child = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      TERM: 'dumb',
      LC_ALL: 'C.UTF-8',
      ZDOTDIR: home,
      HISTFILE: '/dev/null',
    },
  });
  await once(child, 'spawn');
  t.after(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  let output = '';
  let wake = () => {};
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    wake();
  });
  child.on('close', () => wake());
  const nextLine = async (): Promise<string> => {
    for (;;) {
      const [found, line] = /LINE<(.*?)>ENIL/s.exec(output) ?? [];
      if (found !== undefined) {
        output = '';
        return line!;
      }
      if (child.exitCode !== null) throw new Error(`${shell} ended: ${output}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  await nextLine();
  const type = (keys: string) => {
    child.stdin.write(`${keys}\u0018d`);
    return nextLine();
  };
  return { complete: (line) => type(`${line}\u0018a`), tab: (line) => type(`${line}\t`) };
}

/** What fish offers for each line: the words, each with its description after a tab. */
export function fishCompletions(lines: string[], { folder, completions }: Place): string[][] {
  const script = `source ${completions}
for line in $argv
    complete -C $line
    echo ---
end`;
  const output = execFileSync('fish', ['--no-config', '--command', script, ...lines], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
  });
  return output
    .split('---\n')
    .slice(0, -1)
    .map((text) => text.split('\n').slice(0, -1));
}
