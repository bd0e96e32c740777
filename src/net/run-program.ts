/** Runs a program of the configuration: without a shell, with a small environment, and with an end. */

import { spawn } from 'node:child_process';

export interface Program {
  command: string[];
  env: Record<string, string>;
  input: string;
  timeoutMs: number;
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

export type ProgramResult =
  | { output: string }
  /** A clause, without its output. */
  | { failure: string; isTimeout: boolean; wasStarted: boolean };

const DRAIN_MS = 200;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Never rejects. Standard error may contain secrets, and goes nowhere. */
export function runProgram({
  command: [file = '', ...args],
  env,
  input,
  timeoutMs,
  maxBytes,
  signal,
}: Program): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH, LANG: 'C.UTF-8', ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      // A process group, so that its children end with it.
      detached: true,
      ...(signal && { signal }),
    });
    let output = Buffer.alloc(0);
    const fail = (failure: string, isTimeout = false) =>
      resolve({ failure, isTimeout, wasStarted: child.pid !== undefined });
    child.stdout.on('data', (chunk: Buffer) => {
      output = Buffer.concat([output, chunk]);
      if (output.length > maxBytes) child.kill('SIGKILL');
    });
    child.on('error', ({ name, code }: NodeJS.ErrnoException) => {
      if (name !== 'AbortError') fail(`could not be started (${code})`);
    });
    child.on('exit', () => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // All of them have ended.
      }
      // A process that has left the group can still have the output open.
      setTimeout(() => child.stdout.destroy(), DRAIN_MS).unref();
    });
    child.on('close', (code, name) => {
      if (output.length > maxBytes) fail('printed too much');
      else if (child.killed) fail('did not end in time', true);
      else if (code !== 0) fail(name ? `was ended by ${name}` : `ended with exit code ${code}`);
      else resolve({ output: output.toString('utf8') });
    });
    // It may end without reading.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
