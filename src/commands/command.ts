/** The interface of commands, and the parts of the process that they use, which tests replace. */

import type { Readable, Writable } from 'node:stream';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { closestName } from '../lib/closest-name.ts';
import { wrap } from '../report/text.ts';

export interface Io {
  env: Record<string, string | undefined>;
  /** Reads standard input to its end, or until it exceeds `maxBytes`. */
  stdin(maxBytes: number): Promise<Uint8Array>;
  /**
   * Writes data; adds no line break. Both replace control characters, so JSON must come from `printableJson`,
   * and text from outside from `printable`, which also replaces its line breaks.
   */
  stdout(text: string): void;
  /** Writes messages for people; adds no line break. */
  stderr(text: string): void;
  /** Replaces the line of progress on the terminal at stderr; '' clears it. */
  status(text: string): void;
  /** Whether stdout is a terminal and NO_COLOR is unset. */
  useColor: boolean;
  isStderrTerminal: boolean;
  /** Columns of the terminal; 80 without one. */
  width: number;
  /** Undefined in tests. */
  nodeVersion?: string;
  /** How people start the program: `deliverability`, or `npm start --` from source. */
  program: string;
  /** For a command that speaks a protocol. Undefined in tests. */
  protocol?: {
    /** Standard input and output, which nothing may change or add to. */
    input: Readable;
    output: Writable;
    /** Ends the process at once, whatever is still running. */
    exit(code: number): never;
  };
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

/** Prints a message for people as lines of their own. Only a terminal gets wrapped lines: logs are searched. */
export function printMessage(
  io: Pick<Io, 'stderr' | 'isStderrTerminal' | 'width'>,
  text: string,
): void {
  io.stderr(`${wrap(text, io.isStderrTerminal ? io.width : Infinity)}\n`);
}

/** Invalid usage: prints the message and exits with code 2. */
export class UsageError extends Error {}

/** Options and positional arguments. Throws a UsageError for an unknown option, or a missing or extra argument. */
export function readArguments<const O extends ParseArgsOptionsConfig>(
  args: string[],
  options: O,
  {
    min = 0,
    max = 0,
    argumentName = '',
  }: { min?: number; max?: number; argumentName?: string } = {},
) {
  const parsed = parse(args, options);
  const { positionals } = parsed;
  if (positionals.length < min) throw new UsageError(`Missing argument: ${argumentName}`);
  if (positionals.length > max) throw new UsageError(`Unexpected argument: "${positionals[max]}"`);
  return parsed;
}

function parse<const O extends ParseArgsOptionsConfig>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    const sentence = (error as Error).message.split('. ')[0]!;
    throw new UsageError(`${sentence}${suggestionFor(sentence, Object.keys(options))}`);
  }
}

/** For a mistyped option: the closest known one. */
function suggestionFor(sentence: string, knownNames: string[]): string {
  const name = /^Unknown option '--?([^']+)'/s.exec(sentence)?.[1];
  const closest = name === undefined ? null : closestName(name, knownNames);
  return closest === null ? '' : `. Did you mean --${closest}?`;
}
