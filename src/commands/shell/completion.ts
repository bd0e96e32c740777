/** `completion`: prints the completions of a shell. They are static: TAB starts no program. */

import { type Command, defineCommand, EXIT } from '../command.ts';
import type { Declaration } from '../declaration.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

export const SHELLS = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Record<string, (commands: Declaration[]) => string>;

/** `commands` returns all commands; this one is among them. */
export const completion = (commands: () => Command[]): Command =>
  defineCommand({
    name: 'completion',
    summary: 'Print the completions for bash, zsh or fish',
    arguments: [{ name: 'SHELL', choices: Object.keys(SHELLS) }],
    async run({ positionals }, io) {
      io.stdout(SHELLS[positionals[0] as keyof typeof SHELLS](commands()));
      return EXIT.success;
    },
  });
