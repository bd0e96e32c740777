/** Environment variables of a command that takes no options: in its `--help`, and in the error for an unknown option. */

import { PREFIX, type VariableName } from '../config/config.ts';
import { VARIABLES, type Variable } from '../config/variables.ts';
import { closestName } from '../lib/closest-name.ts';

const declared = VARIABLES as Record<string, Variable<unknown>>;

/** Each with what it sets and its default, for `--help`. */
export const describedVariables = (names: readonly VariableName[]): [string, string][] =>
  names.map((name) => {
    const { help, fallback, fallbackText } = declared[name]!;
    const text = help.replaceAll('`', '').replace(/\.$/, '');
    return [PREFIX + name, `${text} (default: ${fallbackText ?? fallback})`];
  });

const SYNONYMS: Record<string, string> = {
  db: 'database_url',
  database: 'database_url',
  bind: 'host',
  listen: 'host',
  address: 'host',
  p: 'port',
  verbose: 'log_level',
  debug: 'log_level',
};
const MAX_NAMED = 2;

/**
 * What to do instead of an argument that the command does not take: `--port 8080`, `HTTP_PORT=8080` or `8080`. Of
 * several variables that fit, those of `important` come first.
 */
export function variableAdvice(
  { name: command }: { name: string },
  args: string[],
  important: readonly VariableName[],
): string {
  const at = args.findIndex((arg) => arg !== '--');
  const [, dashes = '', name = '', ownValue] = /^(-*)([^=]*)(?:=(.*))?$/s.exec(args[at]!)!;
  const isPort = dashes === '' && /^\d+$/.test(name);
  const next = isPort ? name : args[at + 1];
  const value = ownValue ?? (dashes !== '' || isPort ? next : undefined);
  const problem =
    dashes === ''
      ? `${command} takes no argument "${args[at]}"`
      : `${command} has no option ${dashes}${name}`;
  const found = matchingVariables(isPort ? 'port' : name, important).slice(0, MAX_NAMED);
  return found.length === 0
    ? `${problem}. It is configured with environment variables`
    : `${problem}. Set ${found.map((variable) => assignment(variable, value)).join(' or ')}`;
}

/** With the value as it was given, unless it is secret or a shell would read it differently. */
function assignment(name: string, value: string | undefined): string {
  const isPlain = value !== undefined && /^[\w.:/@,+][\w.:/@,+-]*$/.test(value);
  return PREFIX + name + (isPlain && !declared[name]!.secret ? `=${value}` : '');
}

/** The variables that contain all words of an option, or else the one with the most similar name. */
function matchingVariables(option: string, important: readonly VariableName[]): string[] {
  const plain = option.toLowerCase().replace(/^deliverability[-_]/, '');
  const wanted = (SYNONYMS[plain] ?? plain).replaceAll('-', '_').toUpperCase();
  const names = [...new Set([...important, ...Object.keys(declared)])];
  if (names.includes(wanted)) return [wanted];
  const words = wanted.split('_').filter(Boolean);
  const fitting = names
    .map((name) => ({ name, parts: name.split('_') }))
    .filter(({ parts }) => words.length > 0 && words.every((word) => parts.includes(word)));
  // `--domain` means INBOX_DOMAIN and not MAIL_DKIM_DOMAIN.
  const fewest = Math.min(...fitting.map(({ parts }) => parts.length));
  const shortest = fitting.filter(({ parts }) => parts.length === fewest);
  const closest = shortest.length > 0 ? null : closestName(wanted, names);
  return closest === null ? shortest.map(({ name }) => name) : [closest];
}
