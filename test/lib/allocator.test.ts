/** The service restarts itself once with settings for the memory allocator. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALLOCATOR_SETTINGS, applyAllocatorSettings } from '../../src/lib/allocator.ts';

type Process = Parameters<typeof applyAllocatorSettings>[0];

interface Restart {
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
}

/** The restart that a process like this makes; null if it makes none. */
function restartOf(changes: Partial<Process>): Restart | null {
  let restart: Restart | null = null;
  applyAllocatorSettings({
    platform: 'linux',
    env: { PATH: '/bin' },
    execPath: '/usr/bin/node',
    execArgv: ['--no-warnings'],
    argv: ['/usr/bin/node', '/srv/program.js', 'serve', '--x'],
    execve: ((file: string, args: readonly string[], env: NodeJS.ProcessEnv) => {
      restart = { file, args, env };
    }) as Process['execve'],
    ...changes,
  });
  return restart;
}

test('applyAllocatorSettings restarts the same program with the settings', () => {
  assert.deepEqual(restartOf({}), {
    file: '/usr/bin/node',
    args: ['/usr/bin/node', '--no-warnings', '/srv/program.js', 'serve', '--x'],
    env: { PATH: '/bin', ...ALLOCATOR_SETTINGS },
  });
});

test('applyAllocatorSettings passes no script to the executable', () => {
  const argv = ['/srv/deliverability', '/snapshot/main.cjs', 'serve'];
  const restart = restartOf({ pkg: {}, execPath: '/srv/deliverability', execArgv: [], argv });
  assert.deepEqual(restart?.args, ['/srv/deliverability', 'serve']);
});

test('applyAllocatorSettings restarts neither twice, nor over settings of the administrator', () => {
  assert.equal(restartOf({ env: { ...ALLOCATOR_SETTINGS } }), null);
  assert.equal(restartOf({ env: { MALLOC_ARENA_MAX: '8' } }), null);
});

test('applyAllocatorSettings returns where a restart is not possible', () => {
  assert.equal(restartOf({ platform: 'darwin' }), null);
  assert.equal(restartOf({ execve: undefined as never }), null);
  const failing = (() => {
    throw new Error('EPERM');
  }) as never;
  assert.equal(restartOf({ execve: failing }), null);
});
