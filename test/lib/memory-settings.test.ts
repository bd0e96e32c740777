/** The service restarts itself once with settings for its memory. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { execFileSync } from '../../scripts/programs.ts';
import { applyMemorySettings, withMemorySettings } from '../../src/lib/memory-settings.ts';
import { spawnProgram } from '../helpers/program.ts';

const MEMORY_SETTINGS = new URL('../../src/lib/memory-settings.ts', import.meta.url).href;

type Process = Parameters<typeof applyMemorySettings>[0];

interface Restart {
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
}

/** The restart that a process like this makes; null if it makes none. */
function restartOf(changes: Partial<Process>): Restart | null {
  let restart: Restart | null = null;
  applyMemorySettings({
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

test('applyMemorySettings restarts the same program with the settings', () => {
  assert.deepEqual(restartOf({}), {
    file: '/usr/bin/node',
    args: ['/usr/bin/node', '--no-warnings', '/srv/program.js', 'serve', '--x'],
    env: {
      PATH: '/bin',
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '262144',
      MALLOC_TRIM_THRESHOLD_: '262144',
      NODE_OPTIONS: '--max-semi-space-size=4',
    },
  });
});

test('applyMemorySettings passes no script to the executable', () => {
  const argv = ['/srv/deliverability', '/snapshot/main.cjs', 'serve'];
  const restart = restartOf({ pkg: {}, execPath: '/srv/deliverability', execArgv: [], argv });
  assert.deepEqual(restart?.args, ['/srv/deliverability', 'serve']);
});

test('applyMemorySettings restarts only once', () => {
  assert.equal(restartOf({ env: withMemorySettings({}) }), null);
});

test('applyMemorySettings keeps the settings of the administrator', () => {
  const env = { MALLOC_ARENA_MAX: '8', NODE_OPTIONS: '--max-semi-space-size=32' };
  assert.equal(restartOf({ env }), null);
  assert.deepEqual(restartOf({ env: { MALLOC_ARENA_MAX: '8', NODE_OPTIONS: '--trace-gc' } })?.env, {
    MALLOC_ARENA_MAX: '8',
    NODE_OPTIONS: '--trace-gc --max-semi-space-size=4',
  });
});

test('applyMemorySettings returns where a restart is not possible', () => {
  assert.equal(restartOf({ platform: 'darwin' }), null);
  assert.equal(restartOf({ execve: undefined as never }), null);
  const failing = (() => {
    throw new Error('EPERM');
  }) as never;
  assert.equal(restartOf({ execve: failing }), null);
});

test('serve runs with the settings', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-settings-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const child = await spawnProgram(['serve'], {
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.test',
  });
  for await (const line of createInterface(child.stderr)) if (/\bready\b/.test(line)) break;
  const environment = readFileSync(`/proc/${child.pid}/environ`, 'latin1').split('\0');
  child.kill('SIGTERM');
  await once(child, 'exit');
  assert.ok(environment.includes('MALLOC_ARENA_MAX=2'));
  assert.ok(environment.includes('NODE_OPTIONS=--max-semi-space-size=4'));
});

/** The limit of the heap, in MB, of a thread with 64 MB for old and 24 MB for young objects. */
function heapLimitOfThread(nodeOptions: string): number {
  const script = `
    import { Worker } from 'node:worker_threads';
    import { allowThreadLimits } from ${JSON.stringify(MEMORY_SETTINGS)};
    allowThreadLimits(process.env);
    // A module, as is this script.
    const code = \`
      import { getHeapStatistics } from 'node:v8';
      import { parentPort } from 'node:worker_threads';
      parentPort.postMessage(getHeapStatistics().heap_size_limit);\`;
    new Worker(code, {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 24 },
    }).on('message', console.log);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: '/usr/bin:/bin', NODE_OPTIONS: nodeOptions },
    encoding: 'utf8',
  });
  return Number(output) / 2 ** 20;
}

test('allowThreadLimits lets threads have more young objects than the main thread', () => {
  const { NODE_OPTIONS = '' } = withMemorySettings({});
  assert.equal(heapLimitOfThread(NODE_OPTIONS), 64 + 24);
});

test('allowThreadLimits keeps the limit of the administrator', () => {
  const options = '--max-semi-space-size=1';
  assert.ok(heapLimitOfThread(options) < 64 + 24);
});
