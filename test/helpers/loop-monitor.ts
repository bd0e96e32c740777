/** Preloaded into a program under test: on SIGUSR2 it says how long its event loop stood still at most. */

import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;

export interface Stall {
  /** Milliseconds in which no timer ran, those included in which the machine did something else. */
  wall: number;
  /** Milliseconds that the main thread itself worked meanwhile. */
  cpu: number;
}

if (isMainThread) {
  let longest: Stall = { wall: 0, cpu: 0 };
  let last = now();
  const tick = () => {
    const present = now();
    const wall = present.wall - last.wall - TICK_MS;
    longest = {
      wall: Math.max(longest.wall, wall),
      cpu: Math.max(longest.cpu, present.cpu - last.cpu),
    };
    last = present;
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
