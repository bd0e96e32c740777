/**
 * Settings that keep the memory of the service small. Most take effect only when a process starts.
 *
 * By default, glibc keeps the memory of large messages, separately for each thread. V8 lets the young objects
 * of the main thread grow to 100 MB under load, and keeps them.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** glibc reads them from the environment. */
const ALLOCATOR_SETTINGS: Readonly<Record<string, string>> = {
  /** Threads share two heaps. */
  MALLOC_ARENA_MAX: '2',
  /** From 256 KiB on, memory is returned to the system as soon as it is free. */
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '262144',
};

/** Two semi-spaces and a third for what survives, in MiB. Twice as much saves no measurable time. */
const YOUNG_OBJECTS = '--max-semi-space-size=4';

/** The parts of `process` that are used here. */
type Process = Pick<
  NodeJS.Process,
  'platform' | 'env' | 'execPath' | 'execArgv' | 'argv' | 'execve'
> & { pkg?: unknown };

/** The environment with the settings. Those of the administrator stay as they are. */
export function withMemorySettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: options = '' } = env;
  const setsAllocator = Object.keys(ALLOCATOR_SETTINGS).some((name) => env[name] !== undefined);
  const setsYoung = options.includes('semi-space');
  return {
    ...env,
    ...(setsAllocator ? {} : ALLOCATOR_SETTINGS),
    ...(setsYoung ? {} : { NODE_OPTIONS: `${options} ${YOUNG_OBJECTS}`.trim() }),
  };
}

/**
 * For `serve`, replaces the process by the same program with the settings. Process ID and streams stay. Returns if all of
 * them are set already, or if the system does not support it.
 */
export function applyMemorySettings(current: Process): void {
  const { platform, env, execPath, execArgv, argv } = current;
  if (argv[2] !== 'serve' || platform !== 'linux' || !current.execve) return;
  const newEnv = withMemorySettings(env);
  if (Object.keys(newEnv).every((name) => newEnv[name] === env[name])) return;
  // In the executable, the script is not an argument.
  const script = current.pkg ? [] : [...execArgv, argv[1]!];
  try {
    current.execve(execPath, [execPath, ...script, ...argv.slice(2)], newEnv);
  } catch {
    // The service also runs without the settings.
  }
}

/**
 * Lets each thread that starts afterwards have a limit of its own for young objects: a limit in NODE_OPTIONS replaces it.
 * A limit that the administrator set stays in effect for all threads.
 */
export function allowThreadLimits({ NODE_OPTIONS }: NodeJS.ProcessEnv): void {
  if (NODE_OPTIONS?.endsWith(YOUNG_OBJECTS)) setFlagsFromString('--max-semi-space-size=0');
}

/** By how much the old objects of a thread may grow until they are collected again. V8 lets them double or more. */
const MAX_GROWTH_PERCENT = 50;

/**
 * Collects the garbage of the start-up. V8 would wait until there are more than 100 MB, and measures growth only from
 * the first collection on. Takes 50 ms.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${MAX_GROWTH_PERCENT}`);
  setFlagsFromString('--expose-gc');
  // Only contexts that are created with the flag have the function.
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
}
