/** Runs a command in this process. */

import type { Command, Io } from '../../src/commands/command.ts';

export interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

/** Rejects with the errors that `main` explains. `onOutput` is called with what is printed to stdout. */
export async function runCommand(
  command: Command,
  args: string[],
  environment: Io['env'],
  { onOutput, ...io }: Partial<Io> & { onOutput?(text: string): void } = {},
): Promise<Printed> {
  const printed = { stdout: '', stderr: '' };
  const code = await command.run(args, {
    env: environment,
    width: 80,
    useColor: false,
    isStderrTerminal: false,
    stdout: (text) => {
      printed.stdout += text;
      onOutput?.(text);
    },
    stderr: (text) => {
      printed.stderr += text;
    },
    status: () => {},
    stdin: async () => new Uint8Array(),
    ask: async () => null,
    program: 'deliverability',
    interrupted: new Promise(() => {}),
    ...io,
  });
  return { code, ...printed };
}
