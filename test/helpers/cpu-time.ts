/** CPU time of this thread, to measure work independent of other load on the machine. */

/** CPU milliseconds since the thread started. */
export function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
