/**
 * Processes that receive messages in turns, with the CPU time of each turn: the floor, the executable, and others to compare
 * it with. All run at the same time, so that a change of the machine's speed affects them equally.
 */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { startChild } from './child.ts';
import { createTests, installedCopy, newInstallation, startServe } from './executable.ts';
import { median, round2 } from './measure.ts';
import { memoryOf, type ThreadTimes, threadTimes } from './memory.ts';
import { openClient } from './smtp.ts';

const EXECUTABLE = resolve('dist/deliverability');
const POLL_MS = 10;
const TIMEOUT_MS = 60_000;
/** What a turn leaves behind, such as garbage, belongs to the turn. */
const SETTLE_MS = 100;

/** The messages of a turn. */
export interface Load {
  raw: Buffer;
  count: number;
  /** Each sends as fast as the process accepts. */
  connections: number;
  /** Whether each message has a connection of its own, as from most senders. */
  reconnect?: boolean;
}

/** A process that receives messages and stores a result for each. */
export interface Participant {
  name: string;
  pid: number;
  /** Sends messages, each to an address of its own, and resolves when all results are stored. */
  send(load: Load): Promise<void>;
  privateMb(): number;
  stop(): Promise<void>;
}

/** The name of each executable: `dist/deliverability`, and those in BENCH_OTHER. Those that don't exist are left out. */
export function executables(): [name: string, path: string][] {
  const others = (process.env.BENCH_OTHER ?? '').split(':').filter(Boolean);
  const named = [EXECUTABLE, ...others].map((path, index): [string, string] => [
    index === 0 ? 'product' : `other_${index}`,
    path,
  ]);
  return named.filter(([, path]) => existsSync(path));
}

/** An executable with one analysis thread that has just started. It can receive `messages` messages. */
export async function startProduct(
  name: string,
  executable: string,
  { dnsPort, messages }: { dnsPort: number; messages: number },
): Promise<Participant> {
  const installed = installedCopy(executable);
  const installation = newInstallation([installed.path], { dnsPort, workers: 1 });
  // Another process creates the tests, so that the code for requests and queries is cold in the measured one.
  const before = await startServe(installation);
  const { tokens } = await createTests(before.api, installation.key, messages);
  await before.stop();
  const service = await startServe(installation);
  const stored = readCount(
    join(installation.folder, 'deliverability.db'),
    "SELECT count(*) FROM tests WHERE status IN ('processing', 'failed')",
  );
  return participant(
    { name, pid: service.pid, smtpPort: service.smtpPort, tokens },
    stored,
    async () => {
      await service.stop();
      installation.remove();
      installed.remove();
    },
  );
}

/** The floor: see floor-child.ts. */
export async function startFloor({
  dnsPort,
  messages,
}: {
  dnsPort: number;
  messages: number;
}): Promise<Participant> {
  const folder = mkdtempSync(join(tmpdir(), 'floor-'));
  const child = await startChild<{ smtp: number; path: string }>('floor-child.cjs', [
    folder,
    String(dnsPort),
  ]);
  const tokens = Array.from({ length: messages }, (_, index) => `user${index}`);
  const stored = readCount(
    child.ready.path,
    'SELECT (SELECT count(*) FROM messages) - (SELECT count(*) FROM results)',
  );
  const known = { name: 'floor', pid: child.process.pid!, smtpPort: child.ready.smtp, tokens };
  return participant(known, stored, async () => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  });
}

interface Known {
  name: string;
  pid: number;
  smtpPort: number;
  tokens: string[];
}

function participant(
  { name, pid, smtpPort, tokens }: Known,
  pending: ReturnType<typeof readCount>,
  stop: () => Promise<void>,
): Participant {
  return {
    name,
    pid,
    async send({ raw, count, connections, reconnect = false }) {
      const unused = tokens.splice(0, count);
      if (unused.length < count) throw new Error(`${name} has no more addresses`);
      const sendAll = async () => {
        let client = await openClient(smtpPort);
        for (let token = unused.pop(); token; token = unused.pop()) {
          await client.send(`${token}@bench.example`, raw);
          if (!reconnect || unused.length === 0) continue;
          client.close();
          client = await openClient(smtpPort);
        }
        client.close();
      };
      await Promise.all(Array.from({ length: connections }, sendAll));
      await pending.untilZero(name);
    },
    privateMb: () => memoryOf(pid).private,
    async stop() {
      pending.close();
      await stop();
    },
  };
}

/** Reads the database beside the process: asking the process would add to its CPU time. */
function readCount(path: string, query: string) {
  const sqlite = new Sqlite(path, { readonly: true });
  const statement = sqlite.prepare(query).pluck();
  return {
    async untilZero(name: string): Promise<void> {
      for (const end = performance.now() + TIMEOUT_MS; performance.now() < end; ) {
        if (statement.get() === 0) return;
        await pause(POLL_MS);
      }
      throw new Error(`${name} did not store all results in time`);
    },
    close: () => sqlite.close(),
  };
}

/** CPU time per message, in milliseconds. */
export interface Turn extends ThreadTimes {
  all: number;
}

/** One turn: the CPU time of all threads of the process, until all results are stored. */
export async function takeTurn({ pid, send }: Participant, load: Load): Promise<Turn> {
  const before = threadTimes(pid);
  await send(load);
  await pause(SETTLE_MS);
  const after = threadTimes(pid);
  const each = (kind: keyof ThreadTimes) => (after[kind] - before[kind]) / load.count;
  const times = {
    main: each('main'),
    analysis: each('analysis'),
    engine: each('engine'),
    files: each('files'),
  };
  return { all: times.main + times.analysis + times.engine + times.files, ...times };
}

/** The median of each figure over several turns. */
export function medianTurn(turns: Turn[]): Turn {
  const of = (kind: keyof Turn) => round2(median(turns.map((turn) => turn[kind])));
  return {
    all: of('all'),
    main: of('main'),
    analysis: of('analysis'),
    engine: of('engine'),
    files: of('files'),
  };
}

/**
 * The median of the ratios of turns that followed each other, their range, and the range of the ratios of three sections of
 * the run.
 */
export function ratios(turns: Turn[], reference: Turn[]) {
  const pairs = turns.map((turn, index) => turn.all / reference[index]!.all);
  const sum = (list: Turn[]) => list.reduce((total, { all }) => total + all, 0);
  const length = Math.ceil(turns.length / 3);
  const sections = [0, 1, 2].flatMap((index) => {
    const [from, to] = [index * length, (index + 1) * length];
    return from < turns.length ? [sum(turns.slice(from, to)) / sum(reference.slice(from, to))] : [];
  });
  return {
    ratio: round2(median(pairs)),
    sections: rangeOf(sections),
    pairs: rangeOf(pairs),
  };
}

const rangeOf = (values: number[]): string =>
  `${round2(Math.min(...values))}–${round2(Math.max(...values))}`;
