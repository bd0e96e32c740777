/**
 * The completions of bash. They work in bash 3.2, which macOS has, and need no package: readline splits words at `=` and
 * `:`, so the script joins them again.
 */

import type { Argument, Completion, Declaration } from '../declaration.ts';
import { optionsOf } from '../declaration.ts';
import { GLOBAL_WORDS, PROGRAMS, shell } from './names.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const words = (list: readonly string[]): string => quoted(list.join(' '));

export const bashCompletion = (commands: Declaration[]): string =>
  shell`# Completions of bash for deliverability. To update them, run: deliverability completion bash

# Replies with those of the words in $2 that begin with $1. $3: what precedes $1 in the same word of bash.
_deliverability_words() {
  local word
  COMPREPLY=()
  for word in $(compgen -W "$2" -- "$1"); do COMPREPLY+=("\${word#"$3"}"); done
}

# Words that something follows, such as json=FILE. Once $1 has one of them, files follow if $4 says so.
_deliverability_prefixes() {
  local prefix
  for prefix in $2; do
    case $1 in
      "$prefix"*) if [ "$4" = file ]; then _deliverability_files default; fi; return ;;
    esac
  done
  _deliverability_words "$1" "$2" "$3"
  if type compopt >/dev/null 2>&1; then compopt -o nospace; fi
}

# readline completes files itself, because it knows how to quote their names.
_deliverability_files() {
  COMPREPLY=()
  if type compopt >/dev/null 2>&1; then compopt -o "$1"; fi
}

_deliverability() {
  local line=\${COMP_LINE:0:COMP_POINT} words=() word i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $line in
      [[:space:]]*) words+=('') ;;
      *) if [ "$i" -eq 0 ]; then words+=(''); fi ;;
    esac
    line=\${line#"\${line%%[![:space:]]*}"}
    if [ "$i" -eq "$COMP_CWORD" ]; then word=$line; fi
    words[\${#words[@]}-1]+=$word
    line=\${line#"$word"}
  done
  local last=$((\${#words[@]} - 1)) command='' action='' option='' ended='' position=0
  for ((i = 1; i < last; i++)); do
    word=\${words[i]}
    if [ -n "$option" ]; then option=''
    elif [ -z "$command" ]; then command=$word
    elif [ -n "$ended" ]; then position=$((position + 1))
    else
      case $word in
        --) ended=1 ;;
        -*)
          case "$command $word" in
${commands.flatMap(valuedOptions).join('')}          esac ;;
        *)
          case $command in
            ${commands.flatMap(({ name, actions }) => (actions ? [name] : [])).join('|')})
              if [ -z "$action" ]; then action=$word; else position=$((position + 1)); fi ;;
            *) position=$((position + 1)) ;;
          esac ;;
      esac
    fi
  done
  local current=\${words[last]} typed=$2
  # What bash takes for an earlier word.
  local before=\${current%"$typed"}
  COMPREPLY=()
  if [ -z "$command" ]; then
    _deliverability_words "$current" ${words([...commands.map(({ name }) => name), ...GLOBAL_WORDS])} "$before"
    return
  fi
  if [ -z "$option$ended" ]; then
    case $current in
      --*=*)
        option=\${current%%=*}
        current=\${current#*=}
        before=\${before#"$option="}
        ;;
      -*)
        case "$command $action" in
${commands.flatMap(optionLines).join('')}        esac
        return ;;
    esac
  fi
  if [ -n "$option" ]; then
    case "$command $option" in
${commands.flatMap(optionValues).join('')}    esac
    return
  fi
  case "$command $action $position" in
    'help  0') _deliverability_words "$current" ${words(commands.map(({ name }) => name))} "$before" ;;
${commands.flatMap(argumentLines).join('')}  esac
}

if type compopt >/dev/null 2>&1; then
  complete -F _deliverability ${PROGRAMS.join(' ')}
else
  complete -o default -F _deliverability ${PROGRAMS.join(' ')}
fi
`;

function valuedOptions({ name, options = {} }: Declaration): string[] {
  const names = Object.keys(options).filter((option) => options[option]!.value !== undefined);
  if (names.length === 0) return [];
  const patterns = names.map((option) => quoted(`${name} --${option}`)).join('|');
  return [`            ${patterns}) option=$word ;;\n`];
}

/** The options of each action; before the action, those of all. */
const optionLines = (command: Declaration): string[] =>
  [null, ...Object.keys(command.actions ?? {})].map((action) => {
    const names = optionsOf(command, action).map(([name]) => `--${name}`);
    return `          ${quoted(`${command.name} ${action ?? ''}`)}) _deliverability_words "$current" ${words([...names, '--help'])} "$before" ;;\n`;
  });

const optionValues = ({ name, options = {} }: Declaration): string[] =>
  Object.entries(options).flatMap(([option, { choices, completion = choices }]) =>
    completion ? [`      ${quoted(`${name} --${option}`)}) ${reply(completion)} ;;\n`] : [],
  );

function argumentLines({ name, actions, arguments: args = [] }: Declaration): string[] {
  if (!actions) return patterns(name, '', args);
  const names = `    ${quoted(`${name}  0`)}) _deliverability_words "$current" ${words(Object.keys(actions))} "$before" ;;\n`;
  return [
    names,
    ...Object.entries(actions).flatMap(([action, { arguments: args = [] }]) =>
      patterns(name, action, args),
    ),
  ];
}

const patterns = (command: string, action: string, args: readonly Argument[]): string[] =>
  args.flatMap(({ choices, completion = choices, isRepeatable }, index) =>
    completion
      ? [
          `    ${quoted(`${command} ${action} ${isRepeatable ? '' : index}`)}${isRepeatable ? '*' : ''}) ${reply(completion)} ;;\n`,
        ]
      : [],
  );

function reply(completion: Completion): string {
  if (completion === 'file') return '_deliverability_files default';
  if (completion === 'folder') return '_deliverability_files dirnames';
  if ('prefixes' in completion)
    return `_deliverability_prefixes "$current" ${words(completion.prefixes)} "$before" ${completion.suffix ?? ''}`.trimEnd();
  return `_deliverability_words "$current" ${words(completion)} "$before"`;
}
