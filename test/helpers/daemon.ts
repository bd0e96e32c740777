/** A daemon of Debian's in the foreground, with a folder of its own: ready, stopped in its tracks, and always killed. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Daemon {
  /** Freezes all its processes: connections are still accepted, nothing is answered. */
  stop(): void;
  /** Resolves when its main process is gone and its folder is removed. */
  kill(): Promise<void>;
}

export interface DaemonOptions {
  command: string;
  /** Given its folder, which it may write to whatever user it runs as. */
  args(folder: string): string[];
  /** The line of its log, on stdout or stderr, after which it takes connections. */
  ready: RegExp;
}

/** Rejects with what it said where it ends without having been ready. */
export async function startDaemon({ command, args, ready }: DaemonOptions): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), `${command}-`));
  chmodSync(folder, 0o755);
  // A process group of its own, so that its workers end with it.
  const child = spawn(command, args(folder), { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, name);
    } catch {
      // It has ended.
    }
  };
  const end = () => signal('SIGKILL');
  process.once('exit', end);
  const ended = once(child, 'exit').then(() => {
    process.off('exit', end);
    rmSync(folder, { recursive: true, force: true });
  });
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        if (said.length < 100) said.push(line);
        if (ready.test(line)) resolve();
      });
    child.on('error', reject);
    child.on('exit', () => reject(new Error(`${command} ended: ${said.join('\n')}`)));
  });
  return {
    stop: () => signal('SIGSTOP'),
    async kill() {
      end();
      await ended;
    },
  };
}

/** A port of 127.0.0.1 that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
