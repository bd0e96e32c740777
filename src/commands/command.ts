/** What a command may touch of the process it runs in; `main.ts` hands over the real one. */

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

export interface Io {
  env: Record<string, string | undefined>;
  /** All of standard input; reading ends once there are more bytes than these. */
  stdin(maxBytes: number): Promise<Uint8Array>;
  /** Data; without an added line end. */
  stdout(text: string): void;
  /** Messages. */
  stderr(text: string): void;
  /** Whether people read it: a terminal, and no NO_COLOR. */
  colorOut: boolean;
  terminalErr: boolean;
  /** Columns of the terminal; 80 where there is none. */
  width: number;
  /** Resolves when the process is asked to end (SIGINT, SIGTERM). */
  ended: Promise<void>;
}

/** Done; the answer is no; wrong use or configuration; something outside failed. */
export const EXIT = { done: 0, no: 1, usage: 2, outside: 3 } as const;

export interface Command {
  name: string;
  /** What follows the name: `FILE [--json]`. */
  usage: string;
  summary: string;
  /** Options, a line each, for `--help`. */
  options?: string[];
  /** Resolves with the exit code. */
  run(args: string[], io: Io): Promise<number>;
}

/** Wrong use: the message, and exit code 2. */
export class UsageError extends Error {}

// Arguments of a command, with errors that people understand.

/** Options and positionals; throws UsageError for an unknown option, a missing value or too many words. */
export function readArguments<const O extends ParseArgsOptionsConfig>(
  args: string[],
  options: O,
  { min = 0, max = 0, what = '' }: { min?: number; max?: number; what?: string } = {},
) {
  const parsed = parse(args, options);
  const { positionals } = parsed;
  if (positionals.length < min) throw new UsageError(`${what} is missing`);
  if (positionals.length > max) throw new UsageError(`"${positionals[max]}" is one word too many`);
  return parsed;
}

function parse<const O extends ParseArgsOptionsConfig>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!);
  }
}
