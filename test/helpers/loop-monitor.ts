/** Preloaded into a program under test: logs the longest stall of its event loop on SIGUSR2. */

import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;

export interface Stall {
  /** Milliseconds without a timer, even if the machine was busy with other work. */
  wall: number;
  /** CPU milliseconds of the main thread in that time. */
  cpu: number;
}

if (isMainThread) {
  let longest: Stall = { wall: 0, cpu: 0 };
  let last = now();
  const tick = () => {
    const current = now();
    const wall = current.wall - last.wall - TICK_MS;
    longest = {
      wall: Math.max(longest.wall, wall),
      cpu: Math.max(longest.cpu, current.cpu - last.cpu),
    };
    last = current;
  };
  setInterval(tick, TICK_MS).unref();
  process.on('SIGUSR2', () => {
    tick();
    const { wall, cpu } = longest;
    const line = { message: 'longest stall', wall: Math.round(wall), cpu: Math.round(cpu) };
    longest = { wall: 0, cpu: 0 };
    process.stderr.write(`${JSON.stringify(line)}\n`);
  });
}

function now(): Stall {
  const { user, system } = process.threadCpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000 };
}
