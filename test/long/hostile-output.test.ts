/** No command prints characters that control a terminal: all arguments and variables. */

// @one-database: about printed texts.

import { test } from 'node:test';
import { assertRefused, HOSTILE_ENVIRONMENTS, run } from '../e2e/hostile-commands.ts';

test('Commands print hostile arguments without control characters', (t) => assertRefused(t));

test('Commands print hostile environment values without control characters', async () => {
  for (const env of HOSTILE_ENVIRONMENTS)
    for (const args of [['env'], ['env', '--json'], ['key', 'x', '--role=owner']])
      await run(args, env);
});
