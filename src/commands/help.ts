/** What `--help` prints. */

import { wrap } from '../report/text.ts';
import { VERSION } from '../version.ts';
import type { Io } from './command.ts';
import { actionText, type Declaration, optionText, usagesOf } from './declaration.ts';
import { describedVariables } from './variables.ts';

export const PURPOSE = 'find out why mail lands in spam, and how to fix it';

type Terminal = Pick<Io, 'program' | 'width'>;

export function overview(commands: Declaration[], { program, width }: Terminal): string {
  return [
    wrap(`deliverability ${VERSION}: ${PURPOSE}`, width),
    '',
    ...commands.map(({ name, summary }) => definition(name.padEnd(12), summary, width)),
    '',
    wrap(
      `For options, run ${program} COMMAND --help. Settings are environment variables; to list them, run ${program} env.`,
      width,
    ),
    '',
  ].join('\n');
}

export function commandHelp(command: Declaration, { program, width }: Terminal): string {
  const terms = describedTerms(command);
  const column = Math.max(0, ...terms.map(([term]) => term.length)) + 2;
  return [
    ...usagesOf(command).map((usage) => wrap(`${program} ${usage}`, width)),
    '',
    `${command.summary}.`,
    ...terms.map(([term, text]) => definition(term.padEnd(column), text, width)),
    ...variablesHelp(command, { program, width }),
    ...(command.exitCodes ? [definition('Exit codes:  ', command.exitCodes, width)] : []),
    '',
  ].join('\n');
}

function variablesHelp({ variables }: Declaration, { program, width }: Terminal): string[] {
  if (!variables) return [];
  return [
    '',
    wrap('Set environment variables. Most installations need only these:', width),
    ...describedVariables(variables).map(([name, text]) => {
      const indent = '      ';
      return `  ${name}\n${indent}${wrap(text, width, indent).slice(indent.length)}`;
    }),
    '',
    wrap(`To list all variables with their values, run ${program} env.`, width),
  ];
}

/** Actions, arguments and options, each with its description. */
export const describedTerms = ({
  actions = {},
  arguments: args = [],
  options = {},
}: Declaration): [term: string, description: string][] => [
  ...Object.entries(actions).map(([name, action]): [string, string] => [
    actionText(name, action),
    action.description,
  ]),
  ...args.flatMap(({ name, description }): [string, string][] =>
    description ? [[name, description]] : [],
  ),
  ...Object.entries(options).map(([name, option]): [string, string] => [
    optionText(name, option),
    option.description,
  ]),
];

/** A term and its description, which is wrapped in its own column. */
function definition(term: string, text: string, width: number): string {
  const indent = ' '.repeat(term.length + 2);
  return `  ${term}${wrap(text, width, indent).slice(indent.length)}`;
}
