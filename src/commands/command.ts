/** Commands, and the parts of the process that they use, which tests replace. declaration.ts says how to declare one. */

import type { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { closestName } from '../lib/closest-name.ts';
import { wrap } from '../report/text.ts';
import {
  type Action,
  type Actions,
  actionText,
  type Declaration,
  type Option,
  type Options,
  optionText,
} from './declaration.ts';
import { variableAdvice } from './variables.ts';

export interface Io {
  env: Record<string, string | undefined>;
  /** Reads standard input to its end, or until it exceeds `maxBytes`. */
  stdin(maxBytes: number): Promise<Uint8Array>;
  /** Asks on the terminal and reads one line; null without a terminal. The signal ends the question with an empty answer. */
  ask(question: string, signal?: AbortSignal): Promise<string | null>;
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

export interface Command extends Declaration {
  /** `args` are those after the name. Resolves with the exit code; rejects with a UsageError for invalid arguments. */
  run(args: string[], io: Io): Promise<number>;
}

type ValueOf<O extends Option> = O extends { value: string }
  ? O extends { choices: readonly (infer C)[] }
    ? C
    : string
  : boolean;

/** The values of the options that were given; a repeatable option has an array. */
export type Values<O extends Options> = {
  [Name in keyof O as O[Name] extends { isRequired: true } ? Name : never]: ValueOf<O[Name]>;
} & {
  [Name in keyof O as O[Name] extends { isRequired: true } ? never : Name]?: O[Name] extends {
    isRepeatable: true;
  }
    ? ValueOf<O[Name]>[]
    : ValueOf<O[Name]>;
};

export interface Input<O extends Options, A extends Actions> {
  action: keyof A & string;
  values: Values<O>;
  /** Without the action. */
  positionals: string[];
  /** As they were given. */
  args: string[];
}

type Definition<O extends Options, A extends Actions> = Declaration & {
  options?: O;
  actions?: A;
  run(input: Input<O, A>, io: Io): Promise<number>;
};

export function defineCommand<
  const O extends Options = Record<never, Option>,
  const A extends Actions = Record<never, Action>,
>({ run, ...declaration }: Definition<O, A>): Command {
  return {
    ...declaration,
    run: async (args, io) => run(readArguments(declaration, args) as unknown as Input<O, A>, io),
  };
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

function readArguments(command: Declaration, args: string[]) {
  const { options = {}, actions, variables } = command;
  if (variables && args.some((arg) => arg !== '--'))
    throw new UsageError(variableAdvice(command, args, variables));
  const { values, positionals } = parse(args, options);
  const action = actions ? readAction(actions, positionals.shift()) : '';
  const expected = (actions ? actions[action]!.arguments : command.arguments) ?? [];
  for (const [index, argument] of expected.entries()) {
    const value = positionals[index];
    if (value !== undefined) requireChoice(argument.name, argument.choices, value);
    else if (!argument.isOptional) throw new UsageError(`Missing argument: ${argument.name}`);
  }
  if (!expected.at(-1)?.isRepeatable && positionals.length > expected.length)
    throw new UsageError(`Unexpected argument: "${positionals[expected.length]}"`);
  for (const [name, option] of Object.entries(options)) {
    const given = values[name];
    if (given === undefined) {
      if (option.isRequired && (option.actions?.includes(action) ?? true))
        throw new UsageError(`Missing option: ${optionText(name, option)}`);
      continue;
    }
    if (option.actions && !option.actions.includes(action))
      throw new UsageError(`--${name} is only for ${alternatives(option.actions)}`);
    for (const value of [given].flat()) requireChoice(`--${name}`, option.choices, value);
  }
  return { action, values, positionals, args };
}

function readAction(actions: Actions, name: string | undefined): string {
  if (name !== undefined && Object.hasOwn(actions, name)) return name;
  const known = Object.entries(actions);
  throw new UsageError(
    name === undefined
      ? `Missing argument: ${alternatives(Object.keys(actions))}`
      : `Unknown action "${name}": use ${alternatives(known.map(([known, action]) => actionText(known, action)))}`,
  );
}

function requireChoice(
  name: string,
  choices: readonly string[] | undefined,
  value: string | boolean,
): void {
  if (choices && !choices.includes(value as string))
    throw new UsageError(`${name} must be ${alternatives(choices)}, not "${value}"`);
}

/** `list, sign-in or fetch`. */
const alternatives = (names: readonly string[]): string =>
  names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

function parse(args: string[], options: Options) {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { value, isRepeatable = false }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple: isRepeatable } as const,
    ]),
  );
  try {
    return parseArgs({ args, options: config, allowPositionals: true, strict: true });
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
