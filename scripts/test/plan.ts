/** Decides which test files share a process, which have their own, and which run alone. */

import { readFileSync, statSync } from 'node:fs';

export interface Plan {
  /** Each list of files is a process; they run in parallel, the longest first. */
  parallel: string[][];
  /** Processes that run one after the other, after the parallel ones. */
  sequential: string[][];
}

/** The last duration of each file in milliseconds, by path. */
export type Durations = Record<string, number>;

/** Several small processes per core balance the load; starting one is cheap in comparison. */
const PROCESSES_PER_CORE = 3;
/** Below this duration, another process costs more than it saves. */
const MIN_PROCESS_MS = 8_000;

/**
 * A comment in a file states what it needs: `// @isolated: <reason>` its own process,
 * `// @alone: <reason>` no other test at the same time. All other files share processes, or have one
 * each with the isolation `process`.
 */
export function planProcesses(
  files: string[],
  durations: Durations,
  cores: number,
  isolation: 'process' | 'none',
): Plan {
  const groups = Object.groupBy(files, (file) => isolationOf(file, isolation));
  const estimate = (file: string) => durations[file] ?? guessDuration(file);
  const isolated = (groups.isolated ?? []).map((file) => [file]);
  const shared = distribute(groups.shared ?? [], estimate, cores);
  const total = (list: string[]) => list.reduce((sum, file) => sum + estimate(file), 0);
  return {
    parallel: [...isolated, ...shared].sort((a, b) => total(b) - total(a)),
    sequential: (groups.alone ?? []).map((file) => [file]),
  };
}

function isolationOf(file: string, isolation: 'process' | 'none'): 'isolated' | 'alone' | 'shared' {
  const [, word] = /^\/\/ @(isolated|alone): \S/m.exec(readFileSync(file, 'utf8')) ?? [];
  if (word === 'alone') return word;
  return word === 'isolated' || isolation === 'process' ? 'isolated' : 'shared';
}

/** A test file of 8 KB takes about a second. */
const guessDuration = (file: string): number => statSync(file).size / 8;

/** Assigns the longest files first, each to the process with the least work. */
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
    const shortest = processes.reduce((a, b) => (b.ms < a.ms ? b : a));
    shortest.ms += estimate(file);
    shortest.files.push(file);
  }
  return processes.map(({ files }) => files.sort());
}
