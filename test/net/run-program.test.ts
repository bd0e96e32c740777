/** Programs of the configuration run without a shell, and end with all that they have started. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { runProgram } from '../../src/net/run-program.ts';

const run = (script: string, options: Partial<Parameters<typeof runProgram>[0]> = {}) =>
  runProgram({
    command: [process.execPath, '-e', script],
    env: {},
    input: 'hello',
    timeoutMs: 5_000,
    maxBytes: 10_000,
    ...options,
  });

test('a program gets its input, its arguments as they are, and no environment of the service', async () => {
  process.env.DELIVERABILITY_TEST_SECRET = 'secret';
  const script = `
    const input = require('node:fs').readFileSync(0, 'utf8');
    console.error('not read');
    console.log(JSON.stringify({ input, args: process.argv.slice(1), env: Object.keys(process.env).sort(), cwd: process.cwd() }));`;
  const result = await run(script, {
    command: [process.execPath, '-e', script, '$(id) && "x"'],
    env: { TOKEN: 'a' },
  });
  delete process.env.DELIVERABILITY_TEST_SECRET;
  assert.ok('output' in result);
  assert.deepEqual(JSON.parse(result.output), {
    input: 'hello',
    args: ['$(id) && "x"'],
    env: ['LANG', 'PATH', 'TOKEN'],
    cwd: '/',
  });
});

test('a program that is too slow, too verbose, missing or failing is reported', async () => {
  const failure = async (work: ReturnType<typeof run>) => {
    const result = await work;
    assert.ok('failure' in result);
    return [result.isTimeout, result.failure, result.wasStarted];
  };
  assert.deepEqual(await failure(run('setInterval(() => {}, 1000)', { timeoutMs: 200 })), [
    true,
    'did not end in time',
    true,
  ]);
  const signal = AbortSignal.timeout(200);
  assert.equal((await failure(run('setInterval(() => {}, 1000)', { signal })))[0], true);
  assert.deepEqual(await failure(run('process.stdout.write("x".repeat(1e6))')), [
    false,
    'printed too much',
    true,
  ]);
  assert.deepEqual(await failure(run('process.exit(3)')), [false, 'ended with exit code 3', true]);
  assert.deepEqual(await failure(run('process.kill(process.pid, "SIGTERM")')), [
    false,
    'was ended by SIGTERM',
    true,
  ]);
  assert.deepEqual(await failure(run('', { command: ['/nonexistent/program'] })), [
    false,
    'could not be started (ENOENT)',
    false,
  ]);
  assert.ok('output' in (await run('', { input: 'x'.repeat(1e6) })));
});

test('the child processes of a program end with it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'run-program-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'pid');
  const start = `
    const { spawn } = process.getBuiltinModule('node:child_process');
    const idle = ['-e', 'setInterval(() => {}, 1000)'];
    const child = spawn(process.execPath, idle, { stdio: ['ignore', 'inherit', 'ignore'] });
    require('node:fs').writeFileSync(process.env.FILE, String(child.pid));`;
  const isRunning = (pid: string) => {
    try {
      return !readFileSync(`/proc/${pid}/status`, 'utf8').includes('State:\tZ');
    } catch {
      return false;
    }
  };
  for (const [script, key] of [
    [`${start} child.unref();`, 'output'],
    [`${start} setInterval(() => {}, 1000);`, 'failure'],
  ] as const) {
    const result = await run(script, { timeoutMs: 1_000, env: { FILE: file } });
    assert.ok(key in result);
    const pid = readFileSync(file, 'utf8');
    for (let i = 0; i < 50 && isRunning(pid); i += 1) await setTimeout(20);
    assert.equal(isRunning(pid), false);
  }
});
