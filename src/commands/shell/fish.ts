/** The completions of fish, with the descriptions of `--help`. */

import type { Argument, Completion, Declaration, Option } from '../declaration.ts';
import { PROGRAMS, shell } from './names.ts';

const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

export const fishCompletion = (commands: Declaration[]): string =>
  shell`# Completions of fish for deliverability. To update them, run: deliverability completion fish

# Whether the command line so far has this command, and this action ('' for none yet) if one is given.
function __deliverability_in
    set -l words (commandline -opc)
    set -e words[1]
    set -q words[1]; or return
    test $words[1] = $argv[1]; or return
    set -q argv[2]; or return 0
    test "$words[2]" = $argv[2]
end

# Whether the word at the cursor has this position, counted from the program.
function __deliverability_at
    test (count (commandline -opc)) -eq $argv[1]
end

function __deliverability_folders
    __fish_complete_directories (commandline -ct) ''
end

for program in ${PROGRAMS.join(' ')}
    complete -c $program -f
    complete -c $program -n '__deliverability_at 1' -s h -l help -d 'Print the help'
    complete -c $program -n '__deliverability_at 1' -s V -l version -d 'Print the version'
    complete -c $program -n '__deliverability_at 1' -a help -d 'Print the help of a command'
${commands.map(({ name, summary }) => line('__deliverability_at 1', `-a ${name} -d ${quoted(summary)}`)).join('')}${line('__deliverability_in help; and __deliverability_at 2', `-a ${quoted(commands.map(({ name }) => name).join(' '))}`)}${commands.map(commandLines).join('')}end
`;

/** The condition is in double quotes only if it needs single ones. */
const line = (condition: string, rest: string): string =>
  `    complete -c $program -n ${quoted(condition)} ${rest}\n`;

function commandLines({ name, actions, arguments: args = [], options = {} }: Declaration): string {
  const lines = [line(`__deliverability_in ${name}`, `-s h -l help -d 'Print the help'`)];
  for (const [option, declaration] of Object.entries(options)) {
    const places = declaration.actions?.map((action) => `${name} ${action}`) ?? [name];
    for (const place of places)
      lines.push(line(`__deliverability_in ${place}`, optionWords(option, declaration)));
  }
  if (!actions) lines.push(...argumentLines(name, args, 2));
  for (const [action, { description, arguments: args = [] }] of Object.entries(actions ?? {}))
    lines.push(
      line(`__deliverability_in ${name} ""`, `-a ${action} -d ${quoted(description)}`),
      ...argumentLines(`${name} ${action}`, args, 3),
    );
  return `\n${lines.join('')}`;
}

function optionWords(
  name: string,
  { value, description, choices, completion = choices }: Option,
): string {
  const text = `-l ${name} -d ${quoted(description)}`;
  if (value === undefined) return text;
  return `${text} ${completion ? `-r ${valueWords(completion)}` : '-x'}`;
}

/** `first` is the position of the first argument, counted from the program. */
const argumentLines = (place: string, args: readonly Argument[], first: number): string[] =>
  args.flatMap(({ choices, completion = choices, isRepeatable }, index) => {
    if (!completion) return [];
    // Options before it move an argument that files stand for; words stand only in their place.
    const isAnywhere = isRepeatable || completion === 'file' || completion === 'folder';
    const where = isAnywhere ? '' : `; and __deliverability_at ${first + index}`;
    return [line(`__deliverability_in ${place}${where}`, valueWords(completion))];
  });

function valueWords(completion: Completion): string {
  if (completion === 'file') return '-F';
  if (completion === 'folder') return `-f -a '(__deliverability_folders)'`;
  if ('prefixes' in completion)
    return `${completion.suffix === 'file' ? '-F' : '-f'} -a ${quoted(completion.prefixes.join(' '))}`;
  return `-f -a ${quoted(completion.join(' '))}`;
}
