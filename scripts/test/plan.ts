/** Which test files share a process, which have one to themselves, and which run with nothing beside them. */

import { readFileSync, statSync } from 'node:fs';

export interface Plan {
  /** Each list of files is one process; they run side by side, the longest first. */
  sideBySide: string[][];
  /** The same, one after the other when the others have ended. */
  alone: string[][];
}

/** How long each file took the last time, in milliseconds by its path. */
export type Durations = Record<string, number>;

/** So many processes per core: the last to end is then short, and a process start is cheap beside it. */
const PROCESSES_PER_CORE = 3;
/** Below this, in milliseconds, another process costs more than it saves. */
const MIN_PROCESS_MS = 8_000;

/**
 * A file says by a comment of its own what it needs: `// @isolated: <why>` a process to itself,
 * `// @alone: <why>` no other test beside it. All others share processes, or with the isolation
 * `process` have one each.
 */
export function plan(
  files: string[],
  durations: Durations,
  cores: number,
  isolation: 'process' | 'none',
): Plan {
  const groups = Object.groupBy(files, (file) => need(file, isolation));
  const estimate = (file: string) => durations[file] ?? guess(file);
  const isolated = (groups.isolated ?? []).map((file) => [file]);
  const shared = distribute(groups.shared ?? [], estimate, cores);
  const total = (some: string[]) => some.reduce((sum, file) => sum + estimate(file), 0);
  return {
    sideBySide: [...isolated, ...shared].sort((a, b) => total(b) - total(a)),
    alone: (groups.alone ?? []).map((file) => [file]),
  };
}

function need(file: string, isolation: 'process' | 'none'): 'isolated' | 'alone' | 'shared' {
  const [, word] = /^\/\/ @(isolated|alone): \S/m.exec(readFileSync(file, 'utf8')) ?? [];
  if (word === 'alone') return word;
  return word === 'isolated' || isolation === 'process' ? 'isolated' : 'shared';
}

/** A test file of 8 KB takes about a second. */
const guess = (file: string): number => statSync(file).size / 8;

/** The longest first, each to the process that has least to do; within one in the order of their names. */
function distribute(
  files: string[],
  estimate: (file: string) => number,
  cores: number,
): string[][] {
  const total = files.reduce((sum, file) => sum + estimate(file), 0);
  const count = Math.min(
    cores * PROCESSES_PER_CORE,
    files.length,
    Math.max(1, Math.ceil(total / MIN_PROCESS_MS)),
  );
  const processes = Array.from({ length: count }, () => ({ ms: 0, files: [] as string[] }));
  for (const file of files.toSorted((a, b) => estimate(b) - estimate(a))) {
    const least = processes.reduce((a, b) => (b.ms < a.ms ? b : a));
    least.ms += estimate(file);
    least.files.push(file);
  }
  return processes.map((one) => one.files.sort());
}
