/**
 * How a command is declared. What parses the arguments, `--help`, the completions of shells and the manual page all
 * follow from it, so nothing about a command is written twice.
 *
 *     export const backup = defineCommand({
 *       name: 'backup',
 *       summary: 'Back up the SQLite database and the secret key to a new file',
 *       arguments: [{ name: 'FILE', completion: 'file' }],
 *       options: {
 *         'without-key': { description: 'Leave out the secret key, which you keep in another place' },
 *         json: { description: 'Print the result as JSON' },
 *       },
 *       async run({ positionals, values }, io) { … },
 *     });
 *
 * A command that does several things declares `actions`, such as `seed list` and `seed sign-in NAME`. Each has its own
 * arguments; an option that not all of them take names its `actions`. A new command also needs its line in commands.ts.
 */

import type { VariableName } from '../config/config.ts';

/**
 * What shells complete for a value: files, folders, some words, or words that something follows, such as `json=FILE`.
 * Nothing unless it is declared.
 */
export type Completion =
  | 'file'
  | 'folder'
  | readonly string[]
  | { prefixes: readonly string[]; suffix?: 'file' };

export interface Option {
  /** The value, as `--help` shows it: `FILE`. An option without it is a switch. */
  value?: string;
  /** Without a final period. */
  description: string;
  /** The only values; any other is refused. Shells complete them. */
  choices?: readonly string[];
  completion?: Completion;
  isRequired?: true;
  isRepeatable?: true;
  /** The actions that take it; all if omitted. */
  actions?: readonly string[];
}

export interface Argument {
  /** As `--help` shows it: `FILE`. */
  name: string;
  /** Without a final period. Omitted if the summary or the action says it. */
  description?: string;
  choices?: readonly string[];
  completion?: Completion;
  isOptional?: true;
  /** Only the last argument can be. */
  isRepeatable?: true;
}

export interface Action {
  arguments?: readonly Argument[];
  /** Without a final period. */
  description: string;
}

export type Options = Record<string, Option>;
export type Actions = Record<string, Action>;

export interface Declaration {
  name: string;
  /** Without a final period. */
  summary: string;
  /** The arguments in the first line of `--help`, if the declaration does not say all. */
  usage?: string;
  /** Of a command with actions, only what `--help` says about the arguments of all actions. */
  arguments?: readonly Argument[];
  actions?: Actions;
  options?: Options;
  /**
   * For a command that environment variables configure: the most important ones, for `--help`. It takes no arguments; the
   * error for an unknown one names the variable to set.
   */
  variables?: readonly VariableName[];
  /** What its exit codes mean, if that says more than `EXIT`. */
  exitCodes?: string;
}

/** `FILE`, `[NAME]`, `PATH…`. */
export function argumentText({ name, isOptional, isRepeatable }: Argument): string {
  const text = isRepeatable ? `${name}…` : name;
  return isOptional ? `[${text}]` : text;
}

/** `--json`, `--report FORMAT=FILE`. */
export const optionText = (name: string, { value }: Option): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`;

/** `sign-in NAME`. */
export const actionText = (name: string, { arguments: args = [] }: Action): string =>
  [name, ...args.map(argumentText)].join(' ');

/** The options of an action; of a command without actions, all. */
export const optionsOf = (
  { options = {} }: Declaration,
  action: string | null,
): [string, Option][] =>
  Object.entries(options).filter(
    ([, { actions }]) => !actions || (action !== null && actions.includes(action)),
  );

const MAX_OPTIONS_IN_USAGE = 3;

/** How to call it, after the program: `seed list [--json]`, `seed sign-in NAME`. One for each action. */
export function usagesOf(command: Declaration): string[] {
  const { name, usage, actions, arguments: args = [] } = command;
  if (usage !== undefined) return [`${name} ${usage}`];
  if (actions)
    return Object.entries(actions).map(([action, declaration]) =>
      [name, actionText(action, declaration), ...optionUsage(optionsOf(command, action))].join(' '),
    );
  return [[name, ...args.map(argumentText), ...optionUsage(optionsOf(command, null))].join(' ')];
}

function optionUsage(options: [string, Option][]): string[] {
  const texts = options.slice(0, MAX_OPTIONS_IN_USAGE).map(([name, option]) => {
    const text = option.isRequired ? optionText(name, option) : `[${optionText(name, option)}]`;
    return option.isRepeatable ? `${text}…` : text;
  });
  return options.length > MAX_OPTIONS_IN_USAGE ? [...texts, '…'] : texts;
}
