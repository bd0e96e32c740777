/** Arguments of a command, with errors that people understand. */

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { UsageError } from './io.ts';

/** Options and positionals; throws UsageError for an unknown option, a missing value or too many words. */
export function readArguments<const O extends ParseArgsOptionsConfig>(
  args: string[],
  options: O,
  { min = 0, max = 0, what = '' }: { min?: number; max?: number; what?: string } = {},
) {
  const parsed = parse(args, options);
  const { positionals } = parsed;
  if (positionals.length < min) throw new UsageError(`${what} is missing`);
  if (positionals.length > max) throw new UsageError(`"${positionals[max]}" is one word too many`);
  return parsed;
}

function parse<const O extends ParseArgsOptionsConfig>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!);
  }
}
