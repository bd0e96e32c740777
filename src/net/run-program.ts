/** Runs a program of the operator’s configuration: no shell, a small environment, and an end for it and its children. */

import { spawn } from 'node:child_process';

export interface Program {
  /** The absolute path of the program, and its arguments. */
  command: string[];
  env: Record<string, string>;
  input: string;
  timeoutMs: number;
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

export type ProgramResult =
  | { output: string }
  /** Why it did not end well, as a clause without its output. `wasStarted`: it may have done something. */
  | { failure: string; isTimeout: boolean; wasStarted: boolean };

const DRAIN_MS = 200;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Never rejects. What the program prints on standard error goes nowhere, because it may contain secrets. */
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
      // A process group of its own, so that its children end with it.
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
