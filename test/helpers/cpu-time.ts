/** The work that this thread has done: how long something takes, whatever else the machine does. */

/** Milliseconds of processor time since the thread began. */
export function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
