/** `man`: prints the manual page. */

import { systemClock } from '../../lib/clock.ts';
import { type Command, defineCommand, EXIT, UsageError } from '../command.ts';
import { manPage } from './man-page.ts';

/** `commands` returns all commands; this one is among them. */
export const man = (commands: () => Command[]): Command =>
  defineCommand({
    name: 'man',
    summary: 'Print the manual page',
    async run(_input, io) {
      io.stdout(manPage(commands(), readDate(io.env.SOURCE_DATE_EPOCH)));
      return EXIT.success;
    },
  });

/** Milliseconds since the Unix epoch. A release sets SOURCE_DATE_EPOCH, so that it has the same bytes whenever it is built. */
function readDate(epoch: string | undefined): number {
  if (!epoch) return systemClock.now();
  if (!/^\d{1,11}$/.test(epoch))
    throw new UsageError('SOURCE_DATE_EPOCH must be a number of seconds');
  return Number(epoch) * 1000;
}
