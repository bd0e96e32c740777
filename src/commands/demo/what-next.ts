/** The last thing that the demo prints: the way from it to a service of one's own. */

import { painter, wrap } from '../../report/text.ts';
import type { Io } from '../command.ts';

/** Each works as it is written, in the folder of the reader. */
const COMMANDS = [
  ['Check a domain of yours, without a service:', 'domain example.com'],
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
