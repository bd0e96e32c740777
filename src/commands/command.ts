/** The interface of commands, and the parts of the process that they use. Tests replace those parts. */

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

export interface Io {
  env: Record<string, string | undefined>;
  /** Reads standard input to its end, or until it exceeds `maxBytes`. */
  stdin(maxBytes: number): Promise<Uint8Array>;
  /** Writes data; adds no line break. */
  stdout(text: string): void;
  /** Messages. */
  stderr(text: string): void;
  /** Whether stdout is a terminal and NO_COLOR is unset. */
  useColor: boolean;
  isStderrTerminal: boolean;
  /** Columns of the terminal; 80 without one. */
  width: number;
  /** Resolves at SIGINT, SIGTERM or SIGHUP. */
  interrupted: Promise<void>;
}

/** Success; negative result; invalid usage or configuration; external failure. */
export const EXIT = { success: 0, negative: 1, usage: 2, externalFailure: 3 } as const;

export interface Command {
  name: string;
  /** The arguments after the name: `FILE [--json]`. */
  usage: string;
  summary: string;
  /** One line per option, for `--help`. */
  options?: string[];
  /** Resolves with the exit code. */
  run(args: string[], io: Io): Promise<number>;
}

/** Invalid usage: prints the message and exits with code 2. */
export class UsageError extends Error {}

/** Options and positional arguments. Throws a UsageError for an unknown option, or a missing or extra value. */
export function readArguments<const O extends ParseArgsOptionsConfig>(
  args: string[],
  options: O,
  { min = 0, max = 0, what = '' }: { min?: number; max?: number; what?: string } = {},
) {
  const parsed = parse(args, options);
  const { positionals } = parsed;
  if (positionals.length < min) throw new UsageError(`Missing argument: ${what}`);
  if (positionals.length > max) throw new UsageError(`Unexpected argument: "${positionals[max]}"`);
  return parsed;
}

function parse<const O extends ParseArgsOptionsConfig>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!);
  }
}
