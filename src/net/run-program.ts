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

/** What a program has printed, or why it did not end well, as a clause without its output. */
export type ProgramResult =
  | { status: 'ended'; output: string }
  /** `wasStarted`: it may have done something. */
  | { status: 'failed'; reason: 'timeout' | 'other'; detail: string; wasStarted: boolean };

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
      // A process group of its own, so that its children end with it.
      detached: true,
    });
    let failure: { reason: 'timeout' | 'other'; detail: string } | null = null;
    const chunks: Buffer[] = [];
    let size = 0;
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of them have ended.
      }
    };
    const fail = (reason: 'timeout' | 'other', detail: string) => {
      failure ??= { reason, detail };
      kill();
      // A process that has left the group could keep the pipe open.
      child.stdout.destroy();
    };
    const onTimeout = () => fail('timeout', 'did not end in time');
    const timer = setTimeout(onTimeout, timeoutMs);
    signal?.addEventListener('abort', onTimeout);
    if (signal?.aborted) onTimeout();
    const settle = (result: ProgramResult) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onTimeout);
      kill();
      child.stdout.destroy();
      resolve(result);
    };
    child.on('error', ({ code }: NodeJS.ErrnoException) =>
      settle({
        status: 'failed',
        reason: 'other',
        detail: `could not be started (${code})`,
        wasStarted: false,
      }),
    );
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return fail('other', 'printed too much');
      chunks.push(chunk);
    });
    child.on('exit', () => setTimeout(() => child.stdout.destroy(), DRAIN_MS));
    child.on('close', (code, name) => {
      if (code !== 0)
        failure ??= {
          reason: 'other',
          detail: code === null ? `was ended by ${name}` : `ended with exit code ${code}`,
        };
      settle(
        failure
          ? { status: 'failed', ...failure, wasStarted: true }
          : { status: 'ended', output: Buffer.concat(chunks).toString('utf8') },
      );
    });
    // It may end without reading.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** After its end, a child of the program may still have its output open. */
const DRAIN_MS = 200;
