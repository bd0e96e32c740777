/** Runs what is measured in its own process, so that the load generator does not count. */

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type ChildProcess, spawn } from '../programs.ts';

export interface Child<Ready> {
  process: ChildProcess;
  /** The first line of its output, as JSON. */
  ready: Ready;
  stop(): Promise<void>;
}

/** Starts a bundled script of this folder, which prints a line of JSON when it is ready. */
export async function startChild<Ready>(script: string, args: string[]): Promise<Child<Ready>> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${script} exited before it was ready`);
  });
  const [line] = await Promise.race([once(createInterface(child.stdout!), 'line'), exited]);
  exited.catch(() => {});
  return {
    process: child,
    ready: JSON.parse(line as string) as Ready,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
