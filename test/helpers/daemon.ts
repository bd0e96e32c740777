/** Runs a daemon from a Debian package in the foreground, with its own folder; it is always killed. */

import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { spawn } from '../../scripts/programs.ts';

export interface Daemon {
  /** The ID of the group of all its processes. */
  group: number;
  /** Suspends all its processes: the kernel still accepts connections, but nothing is answered. */
  stop(): void;
  /** Resolves when its main process has exited and its folder is removed. */
  kill(): Promise<void>;
}

export interface DaemonOptions {
  command: string;
  /** Receives the folder of the daemon. */
  args(folder: string): string[];
  /** The log line on stdout or stderr after which it accepts connections. */
  ready: RegExp;
}

/** Rejects with the daemon's output if it exits before it is ready. */
export async function startDaemon({ command, args, ready }: DaemonOptions): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), `${command}-`));
  chmodSync(folder, 0o755);
  // Its own process group, so that its workers are killed too.
  const child = spawn(command, args(folder), { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, name);
    } catch {
      // It has already exited.
    }
  };
  const end = () => signal('SIGKILL');
  process.once('exit', end);
  const exited = once(child, 'exit').then(() => {
    process.off('exit', end);
    rmSync(folder, { recursive: true, force: true });
  });
  const output: string[] = [];
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        if (output.length < 100) output.push(line);
        if (ready.test(line)) resolve();
      });
    child.on('error', reject);
    child.on('exit', () => reject(new Error(`${command} exited: ${output.join('\n')}`)));
  });
  return {
    group: child.pid!,
    stop: () => signal('SIGSTOP'),
    async kill() {
      end();
      await exited;
    },
  };
}

/** A port on 127.0.0.1 without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
