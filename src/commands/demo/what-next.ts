/** The last lines of the demo: how to start your own service. */

import { painter, wrap } from '../../report/text.ts';
import type { Io } from '../command.ts';

/** Each command works as it is printed, in the current folder. */
const COMMANDS = [
  ['Check one of your domains, without a service:', 'domain example.com'],
  ['Start your own service:', 'serve'],
  ['Create your account, in another terminal in the same folder:', 'owner you@example.com'],
];

export const whatNextText = ({
  program,
  width,
  useColor,
}: Pick<Io, 'program' | 'width' | 'useColor'>): string =>
  [
    painter(useColor)('bold', 'What next'),
    '',
    ...COMMANDS.flatMap(([purpose, command]) => [
      `  ${wrap(purpose!, width - 2, '  ')}`,
      `    ${program} ${command}`,
    ]),
    '',
  ].join('\n');
