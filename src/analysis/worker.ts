/** The analysis thread: takes messages, asks the main thread for DNS, answers with results. */

import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { batched } from '../lib/concurrency.ts';
import { errorMessage } from '../lib/errors.ts';
import type { DnsAnswer, RecordType, Resolver } from '../net/dns/resolver.ts';
import type { Web } from '../net/http/web.ts';
import type { analyze } from './analyze.ts';
import type { AnalysisInput, Setup } from './check.ts';
import type { StoredResult } from './result.ts';
import { toFix } from './summary.ts';

export interface AnalyzeCommand {
  type: 'analyze';
  job: number;
  input: AnalysisInput;
  offline: boolean;
  setup: Setup;
  deadlineMs: number;
}

/** Both ways messages travel in lists: see `batched`. */
export type ToWorker = AnalyzeCommand | { type: 'answer'; ask: number; answer: DnsAnswer };

export type FromWorker =
  | { type: 'ask'; ask: number; name: string; record: RecordType }
  | { type: 'done'; job: number; result: StoredResult; toFix: string[]; faults: string[] }
  | { type: 'failed'; job: number; error: string };

/** Marks a worker thread as one of ours: in the executable every thread runs the same file. */
export const WORKER_ROLE = 'analysis';

/**
 * What a thread runs: this file, or in the executable the one file that holds everything.
 * A path, not a URL: only paths does pkg look up inside the executable.
 */
export const WORKER_FILE = fileURLToPath(import.meta.url);

if (!isMainThread && workerData?.role === WORKER_ROLE) void serve();

async function serve(): Promise<void> {
  // Only here: the main thread knows this file too, and has no use for all that analysing needs.
  const { analyze: run } = await import('./analyze.ts');
  const { createWeb } = await import('../net/http/client.ts');
  const port = parentPort!;
  const send = batched<FromWorker>((messages) => port.postMessage(messages));
  const { ask, answered } = askingResolver(send);
  const outside: Outside = { resolver: ask, web: createWeb({ resolver: ask }) };
  port.on('message', (messages: ToWorker[]) => {
    for (const message of messages) {
      if (message.type === 'answer') answered(message.ask, message.answer);
      else void work(run, message, outside).then(send);
    }
  });
}

interface Outside {
  resolver: Resolver;
  web: Web;
}

async function work(
  run: typeof analyze,
  command: AnalyzeCommand,
  outside: Outside,
): Promise<FromWorker> {
  const { job, input, offline, setup, deadlineMs } = command;
  const faults: string[] = [];
  const onFault = (check: string, error: unknown) => {
    faults.push(`${check}: ${error instanceof Error ? error.stack : errorMessage(error)}`);
  };
  try {
    const { checks, ...rest } = await run(input, {
      ...outside,
      offline,
      setup,
      deadlineMs,
      onFault,
    });
    const result = { ...rest, checks: JSON.stringify(checks) };
    return { type: 'done', job, result, toFix: toFix(checks).map(({ id }) => id), faults };
  } catch (error) {
    return { type: 'failed', job, error: String((error as Error)?.stack ?? error) };
  }
}

/** A resolver whose questions go to the main thread, which has the one cache and the limits. */
function askingResolver(send: (message: FromWorker) => void) {
  const waiting = new Map<number, (answer: DnsAnswer) => void>();
  let last = 0;
  const ask: Resolver = (name, record) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      send({ type: 'ask', ask: last, name, record });
    });
  const answered = (id: number, answer: DnsAnswer) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  return { ask, answered };
}
