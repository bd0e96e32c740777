/** The completions of zsh, with the descriptions of `--help`. */

import {
  type Argument,
  type Completion,
  type Declaration,
  type Option,
  optionsOf,
} from '../declaration.ts';
import { PROGRAMS, shell } from './names.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** In brackets. */
const explanation = (text: string): string => text.replace(/[\\[\]]/g, '\\$&');

/** Between colons. */
const message = (text: string): string => text.replace(/[\\:]/g, '\\$&');

/** A word and its description, as `_describe` reads them. */
const described = (word: string, text: string): string => quoted(`${message(word)}:${text}`);

const GLOBAL_OPTIONS = [
  `'(- *)'{-h,--help}'[Print the help]'`,
  `'(- *)'{-V,--version}'[Print the version]'`,
];

export const zshCompletion = (
  commands: Declaration[],
): string => shell`#compdef ${PROGRAMS.join(' ')}
# Completions of zsh for deliverability. To update them, run: deliverability completion zsh

_deliverability_commands() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${described(name, summary)}\n`).join('')}  )
  if [[ $1 == and-help ]]; then commands+=(${described('help', 'Print the help of a command')}); fi
  _describe -t commands command commands
}

# Words that something follows, such as json=FILE. $1: what follows.
_deliverability_prefixes() {
  local suffix=$1 prefix
  shift
  for prefix in "$@"; do
    if compset -P "$prefix"; then
      if [[ $suffix == file ]]; then _files; return; fi
      _message -e value value
      return
    fi
  done
  compadd -S '' -- "$@"
}

${commands.map(commandFunction).join('\n')}
_deliverability() {
  local curcontext=$curcontext state state_descr line ret=1
  typeset -A opt_args
  _arguments -C ${GLOBAL_OPTIONS.join(' ')} '1: : _deliverability_commands and-help' '*:: :->arguments' && ret=0
  if [[ $state == arguments ]]; then
    curcontext=\${curcontext%:*:*}:deliverability-$words[1]:
    case $words[1] in
      help) _arguments '1: : _deliverability_commands' && ret=0 ;;
${commands.map(({ name }) => `      ${name}) _deliverability_${name} && ret=0 ;;\n`).join('')}    esac
  fi
  return ret
}

# Loaded by compinit, the file is the function. Otherwise, it is read with source or eval.
if [[ $funcstack[1] == _deliverability ]]; then
  _deliverability "$@"
else
  compdef _deliverability ${PROGRAMS.join(' ')}
fi
`;

function commandFunction(command: Declaration): string {
  const { name, actions, arguments: args = [] } = command;
  if (!actions)
    return shell`_deliverability_${name}() {
  ${argumentsCall(command, null, args)}
}
`;
  const cases = Object.entries(actions).map(
    ([action, { arguments: args = [] }]) =>
      `    ${action}) ${argumentsCall(command, action, args)} && ret=0 ;;\n`,
  );
  const descriptions = Object.entries(actions).map(
    ([action, { description }]) => `    ${described(action, description)}\n`,
  );
  return shell`_deliverability_${name}_actions() {
  local -a actions=(
${descriptions.join('')}  )
  _describe -t actions action actions
}

_deliverability_${name}() {
  local curcontext=$curcontext state state_descr line ret=1
  typeset -A opt_args
  _arguments -C '(- *)'{-h,--help}'[Print the help]' '1: :_deliverability_${name}_actions' '*:: :->arguments' && ret=0
  [[ $state == arguments ]] || return ret
  case $words[1] in
${cases.join('')}  esac
  return ret
}
`;
}

function argumentsCall(
  command: Declaration,
  action: string | null,
  args: readonly Argument[],
): string {
  const specs = [
    ...optionsOf(command, action).map(([name, option]) => optionSpec(name, option)),
    `'(- *)'{-h,--help}'[Print the help]'`,
    ...args.map(argumentSpec),
  ];
  return ['_arguments -S', ...specs].join(' \\\n    ');
}

function optionSpec(name: string, option: Option): string {
  const { value, description, choices, completion = choices, isRepeatable } = option;
  const repeat = isRepeatable ? '*' : '';
  const text = `[${explanation(description)}]`;
  if (value === undefined) return quoted(`${repeat}--${name}${text}`);
  return quoted(`${repeat}--${name}=${text}:${message(value)}:${valueAction(completion)}`);
}

function argumentSpec({
  name,
  choices,
  completion = choices,
  isOptional,
  isRepeatable,
}: Argument): string {
  const place = isRepeatable ? '*:' : isOptional ? '::' : ':';
  return quoted(`${place}${message(name)}:${valueAction(completion)}`);
}

/** An empty list: the message says what is expected. With a space instead, zsh would not complete options there. */
function valueAction(completion: Completion | undefined): string {
  if (completion === undefined) return '( )';
  if (completion === 'file') return '_files';
  if (completion === 'folder') return '_path_files -/';
  if ('prefixes' in completion)
    return ` _deliverability_prefixes ${completion.suffix ?? 'none'} ${completion.prefixes.map(message).join(' ')}`;
  return `(${completion.map(message).join(' ')})`;
}
