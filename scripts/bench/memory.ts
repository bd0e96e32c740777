/**
 * The memory of `serve` before, during and after 1,500 messages, by number of analysis threads, beside that of a
 * Node process that does nothing.
 */

import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startDnsServer } from '../../test/helpers/dns-server.ts';
import { spawn } from '../programs.ts';
import { createTests, installedCopy, newInstallation, startServe } from './executable.ts';
import { round2 } from './measure.ts';
import { type BenchMail, benchMail } from './message.ts';
import { sendAll } from './smtp.ts';

const EXECUTABLE = resolve('dist/deliverability');
const MESSAGES = 1500;
/** Long enough for the garbage of the start, or of the load, to be collected. */
const IDLE_MS = 10_000;
const SAMPLE_MS = 50;

export async function benchMemory() {
  if (!existsSync(EXECUTABLE))
    return { skipped: 'dist/deliverability does not exist: run npm run build' };
  const bare = await bareMemoryMb();
  const installed = installedCopy(EXECUTABLE);
  const one = await measureMemory([installed.path], 1);
  const two = await measureMemory([installed.path], 2);
  installed.remove();
  return {
    messages: MESSAGES,
    bare_node_mb: bare,
    idle_mb: one.idle,
    one_worker_peak_mb: one.peak,
    one_worker_after_mb: one.after,
    one_worker_per_second: one.perSecond,
    one_worker_cpu_ms_each: one.cpuMs,
    two_workers_peak_mb: two.peak,
    two_workers_after_mb: two.after,
    two_workers_per_second: two.perSecond,
    two_workers_cpu_ms_each: two.cpuMs,
    private_idle_mb: one.privateIdle,
    one_worker_private_peak_mb: one.privatePeak,
    two_workers_private_peak_mb: two.privatePeak,
    idle_over_bare: round2(one.idle / bare),
    one_worker_peak_over_bare: round2(one.peak / bare),
    two_workers_peak_over_bare: round2(two.peak / bare),
  };
}

/** A process of the same Node that only waits. */
async function bareMemoryMb(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log()'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await pause(1000);
  const memory = memoryOf(child.pid!).resident;
  child.kill();
  await once(child, 'exit');
  return memory;
}

export interface MemoryFigures {
  /** In MB (10⁶ bytes), as are the others. */
  idle: number;
  peak: number;
  /** Some seconds after the last result. */
  after: number;
  /** Messages received and analyzed per second. */
  perSecond: number;
  /** CPU time for each message, in milliseconds. */
  cpuMs: number;
  /** The same by kind of thread. */
  cpuMsOf: ThreadTimes;
  /** CPU time of the PostgreSQL server for each message, in milliseconds; 0 without one. */
  databaseMs: number;
  /** Private memory in MB: without the pages of the program file, which the kernel can reclaim. */
  privateIdle: number;
  privatePeak: number;
}

/** `engine`: the garbage collector and compiler of V8. `files`: the pool that reads and writes files. */
export interface ThreadTimes {
  main: number;
  analysis: number;
  engine: number;
  files: number;
}

interface MeasureOptions {
  messages?: number;
  idleMs?: number;
  mail?: BenchMail;
  /** The URL of a PostgreSQL database, and the CPU time that its server has used, in milliseconds. */
  database?: string;
  databaseCpuMs?(): number;
  /** The folder to which the process writes CPU profiles of its threads when it ends. */
  profiles?: string;
}

/** Starts `command serve`, sends it the messages as fast as it accepts them, and waits for all results. */
export async function measureMemory(
  command: [string, ...string[]],
  workers: number,
  {
    messages = MESSAGES,
    idleMs = IDLE_MS,
    mail,
    database,
    databaseCpuMs = () => 0,
    profiles,
  }: MeasureOptions = {},
): Promise<MemoryFigures> {
  const { input, zone } = mail ?? (await benchMail());
  const dns = await startDnsServer(zone);
  const installation = newInstallation(command, { dnsPort: dns.address.port, workers, database });
  const profiling = profiles ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` } : {};
  const { pid, api, smtpPort, stop } = await startServe(installation, profiling);
  try {
    await pause(idleMs);
    const { resident: idle, private: privateIdle } = memoryOf(pid);
    const tests = await createTests(api, installation.key, messages);
    const cpuBefore = cpuMsOf(pid);
    const threadsBefore = threadTimes(pid);
    const databaseBefore = databaseCpuMs();
    let privatePeak = 0;
    const sample = () => {
      privatePeak = Math.max(privatePeak, memoryOf(pid).private);
    };
    const sampling = setInterval(sample, SAMPLE_MS);
    const started = performance.now();
    await sendAll([smtpPort], tests.tokens, Buffer.from(input.raw));
    await tests.completed();
    const seconds = (performance.now() - started) / 1000;
    clearInterval(sampling);
    const threadsAfter = threadTimes(pid);
    const each = (name: keyof ThreadTimes) =>
      round2((threadsAfter[name] - threadsBefore[name]) / messages);
    const cpuOf: ThreadTimes = {
      main: each('main'),
      analysis: each('analysis'),
      engine: each('engine'),
      files: each('files'),
    };
    const cpuMs = round2((cpuMsOf(pid) - cpuBefore) / messages);
    const databaseMs = round2((databaseCpuMs() - databaseBefore) / messages);
    const { peak } = memoryOf(pid);
    await pause(idleMs);
    const after = memoryOf(pid).resident;
    const perSecond = Math.round(messages / seconds);
    const cpu = { cpuMs, cpuMsOf: cpuOf, databaseMs };
    return { idle, peak, after, perSecond, ...cpu, privateIdle, privatePeak };
  } finally {
    await stop();
    await dns.close();
    installation.remove();
  }
}

/** In MB. */
export function memoryOf(pid: number): { resident: number; peak: number; private: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const read = (name: string) =>
    Math.round((Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) * 1024) / 1e6);
  return { resident: read('VmRSS'), peak: read('VmHWM'), private: read('RssAnon') };
}

/** Of all its threads, in milliseconds, from the kernel's count of hundredths of a second. */
const cpuMsOf = (pid: number): number => ticksOf(`/proc/${pid}/stat`) * 10;

/** Of all processes in the group, in milliseconds. */
export function cpuMsOfGroup(group: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .map(Number)
    .reduce((sum, pid) => sum + (groupOf(pid) === group ? cpuMsOf(pid) : 0), 0);
}

/** Null if the process has ended. */
function groupOf(pid: number): number | null {
  try {
    return Number(fieldsOf(`/proc/${pid}/stat`)[2]);
  } catch {
    return null;
  }
}

/** Those after the name, which may contain spaces. */
const fieldsOf = (path: string): string[] =>
  readFileSync(path, 'latin1').split(') ').at(-1)!.split(' ');

function ticksOf(path: string): number {
  const fields = fieldsOf(path);
  return Number(fields[11]) + Number(fields[12]);
}

/** The CPU time of each kind of thread, in milliseconds, from the kernel's count of nanoseconds. */
export function threadTimes(pid: number): ThreadTimes {
  const times: ThreadTimes = { main: 0, analysis: 0, engine: 0, files: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    const name = readFileSync(`${folder}/comm`, 'latin1').trim();
    const [nanoseconds] = readFileSync(`${folder}/schedstat`, 'latin1').split(' ');
    times[kindOfThread(name, Number(thread) === pid)] += Number(nanoseconds) / 1e6;
  }
  return times;
}

function kindOfThread(name: string, isMain: boolean): keyof ThreadTimes {
  if (isMain) return 'main';
  if (name.startsWith('libuv')) return 'files';
  return /^(?:V8Worker|DelayedTask|SignalInspector)/.test(name) ? 'engine' : 'analysis';
}
