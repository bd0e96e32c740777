/** The functions that take the most CPU time, from the profiles that Node writes with `--cpu-prof`. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  /** The node that ran at each sample, and the microseconds since the one before. */
  samples: number[];
  timeDeltas: number[];
}

const SHOWN = 25;
/** Time in which the thread did nothing. */
const IDLE = new Set(['(idle)', '(root)']);

/**
 * For each thread that wrote a profile to the folder, the functions themselves, without those they call: milliseconds per
 * message, most first. Those of the start are included. `(program)` is native code.
 */
export function hottestFunctions(folder: string, messages: number): Record<string, string[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  return Object.fromEntries(
    files.map((name) => [
      threadOf(name),
      functionsOf(JSON.parse(readFileSync(join(folder, name), 'utf8')), messages),
    ]),
  );
}

/** `CPU.20261128.120000.4711.1.002.cpuprofile` is of thread 1. */
function threadOf(file: string): string {
  const number = Number(file.split('.')[4]);
  return number === 0 ? 'Main thread' : `Thread ${number}`;
}

function functionsOf({ nodes, samples, timeDeltas }: Profile, messages: number): string[] {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName.slice(0, 60) || '(anonymous)'} ${url.split('/').at(-1)}:${lineNumber + 1}`,
    ]),
  );
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const name = names.get(id)!;
    times.set(name, (times.get(name) ?? 0) + timeDeltas[index]! / 1000 / messages);
  }
  return [...times]
    .filter(([name]) => !IDLE.has(name.split(' ')[0]!))
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, ms]) => `${ms.toFixed(3)} ms ${name}`);
}
