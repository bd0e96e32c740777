/**
 * Settings of glibc's memory allocator. By default it keeps the memory of large messages, separately for
 * each thread, so that a service needs up to twice as much.
 */

/** glibc reads them from the environment when a process starts. */
export const ALLOCATOR_SETTINGS: Readonly<Record<string, string>> = {
  /** Threads share two heaps. */
  MALLOC_ARENA_MAX: '2',
  /** From 256 KiB on, memory is returned to the system as soon as it is free. */
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '262144',
};

/** The parts of `process` that are used here. */
type Process = Pick<
  NodeJS.Process,
  'platform' | 'env' | 'execPath' | 'execArgv' | 'argv' | 'execve'
> & { pkg?: unknown };

/**
 * Replaces the process by the same program with the settings. Process ID and streams stay. Returns if they
 * are set already, also by the administrator, or if the system does not support it.
 */
export function applyAllocatorSettings(current: Process): void {
  const { platform, env, execPath, execArgv, argv } = current;
  if (platform !== 'linux' || !current.execve) return;
  if (Object.keys(ALLOCATOR_SETTINGS).some((name) => env[name] !== undefined)) return;
  // In the executable, the script is not an argument.
  const script = current.pkg ? [] : [...execArgv, argv[1]!];
  try {
    current.execve(execPath, [execPath, ...script, ...argv.slice(2)], {
      ...env,
      ...ALLOCATOR_SETTINGS,
    });
  } catch {
    // The service also runs without the settings.
  }
}
