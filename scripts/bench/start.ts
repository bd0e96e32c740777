/** The executable: time from start to ready, idle memory, size. */

import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { spawn } from '../programs.ts';
import { installedCopy } from './executable.ts';
import { median, round2 } from './measure.ts';
import { memoryOf } from './memory.ts';

const EXECUTABLE = resolve('dist/deliverability');
const STARTS = 5;
/** Long enough for the garbage of the start to be collected. */
const IDLE_MS = 5_000;

export async function benchStart() {
  if (!existsSync(EXECUTABLE))
    return { skipped: 'dist/deliverability does not exist: run npm run build' };
  const installed = installedCopy(EXECUTABLE);
  const starts: number[] = [];
  let memory = { resident: 0, peak: 0, private: 0 };
  for (let i = 0; i < STARTS; i++) {
    const folder = mkdtempSync(join(tmpdir(), 'bench-'));
    const env = {
      PATH: '/usr/bin:/bin',
      DELIVERABILITY_HTTP_PORT: '0',
      DELIVERABILITY_SMTP_PORT: '0',
      DELIVERABILITY_LOG_FORMAT: 'json',
    };
    const started = performance.now();
    const child = spawn(installed.path, ['serve'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    for await (const line of createInterface(child.stderr)) if (line.includes('"ready"')) break;
    starts.push((performance.now() - started) / 1000);
    if (i === STARTS - 1) {
      await pause(IDLE_MS);
      memory = memoryOf(child.pid!);
    }
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
  installed.remove();
  return {
    start_to_ready_seconds: round2(median(starts)),
    idle_memory_mb: memory.resident,
    idle_private_memory_mb: memory.private,
    executable_mb: Math.round(statSync(EXECUTABLE).size / 1e6),
  };
}
