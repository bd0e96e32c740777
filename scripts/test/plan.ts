/** Decides which test files share a process, which have their own, and which run alone. */

import { readFileSync, statSync } from 'node:fs';

export interface Plan {
  /** Each list of files is a process; they run in parallel, the longest first. */
  parallel: string[][];
  /** Processes that mostly wait. They run one after the other, beside the parallel ones. */
  waiting: string[][];
  /** Processes that run one after the other, after all others. */
  sequential: string[][];
}

/** The last duration of each file in milliseconds, by path. */
export type Durations = Record<string, number>;

/** Several small processes per core balance the load; starting one is cheap in comparison. */
const PROCESSES_PER_CORE = 3;
/** Below this duration, another process costs more than it saves. */
const MIN_PROCESS_MS = 8_000;

/**
 * A comment in a file states what it needs: `// @isolated: <reason>` its own process, `// @alone: <reason>` no other test
 * at the same time. `// @waits: <reason>` says that it mostly waits for real time, and measures no short times. All other
 * files share processes, or have one each with the isolation `process`.
 */
export function planProcesses(
  files: string[],
  durations: Durations,
  cores: number,
  isolation: 'process' | 'none',
): Plan {
  const groups = Object.groupBy(files, (file) => needOf(file, isolation));
  const estimate = (file: string) => durations[file] ?? guessDuration(file);
  const total = (list: string[]) => list.reduce((sum, file) => sum + estimate(file), 0);
  const longestFirst = (list: string[][]) => list.sort((a, b) => total(b) - total(a));
  const own = (list: string[] = []) => list.map((file) => [file]);
  // With one core, no file runs beside another.
  const waiting = own(groups.waits);
  const parallel = [...own(groups.isolated), ...distribute(groups.shared ?? [], estimate, cores)];
  return {
    parallel: longestFirst(cores > 1 ? parallel : [...parallel, ...waiting]),
    waiting: longestFirst(cores > 1 ? waiting : []),
    sequential: own(groups.alone),
  };
}

type Need = 'isolated' | 'alone' | 'waits' | 'shared';

function needOf(file: string, isolation: 'process' | 'none'): Need {
  const [, word] = /^\/\/ @(isolated|alone|waits): \S/m.exec(readFileSync(file, 'utf8')) ?? [];
  if (word === 'alone' || word === 'waits') return word;
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
  // Files without any duration all go to the first process.
  return processes.filter(({ files }) => files.length > 0).map(({ files }) => files.sort());
}
