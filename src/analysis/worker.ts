/** The analysis thread: takes messages, asks the main thread for DNS, answers with results. */

import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { errorMessage } from '../lib/errors.ts';
import type { DnsAnswer, RecordType, Resolver } from '../net/resolver.ts';
import { analyze } from './analyze.ts';
import type { AnalysisInput } from './check.ts';

export interface AnalyzeCommand {
  type: 'analyze';
  job: number;
  input: AnalysisInput;
  offline: boolean;
  deadlineMs: number;
}

export type ToWorker = AnalyzeCommand | { type: 'answers'; answers: [ask: number, DnsAnswer][] };

export type FromWorker =
  | { type: 'asks'; asks: [ask: number, name: string, type: RecordType][] }
  /** `result` is an AnalysisResult as JSON: cheaper to hand over than its many small objects. */
  | { type: 'done'; job: number; result: string; faults: string[] }
  | { type: 'failed'; job: number; error: string };

/** Marks a worker thread as one of ours: in the executable every thread runs the same file. */
export const WORKER_ROLE = 'analysis';

/**
 * What a thread runs: this file, or in the executable the one file that holds everything.
 * A path, not a URL: only paths does pkg look up inside the executable.
 */
export const WORKER_FILE = fileURLToPath(import.meta.url);

if (!isMainThread && workerData?.role === WORKER_ROLE) serve();

function serve(): void {
  const port = parentPort!;
  const resolver = askingResolver((message) => port.postMessage(message));
  port.on('message', (message: ToWorker) => {
    if (message.type === 'answers') resolver.answered(message.answers);
    else void work(message, resolver.ask);
  });

  async function work(command: AnalyzeCommand, ask: Resolver): Promise<void> {
    const { job, input, offline, deadlineMs } = command;
    const faults: string[] = [];
    const onFault = (check: string, error: unknown) => {
      faults.push(`${check}: ${error instanceof Error ? error.stack : errorMessage(error)}`);
    };
    let reply: FromWorker;
    try {
      const result = await analyze(input, { resolver: ask, offline, deadlineMs, onFault });
      reply = { type: 'done', job, result: JSON.stringify(result), faults };
    } catch (error) {
      reply = { type: 'failed', job, error: String((error as Error)?.stack ?? error) };
    }
    port.postMessage(reply);
  }
}

/** A resolver whose questions go to the main thread, those of all jobs in one turn of the loop in one message. */
function askingResolver(send: (message: FromWorker) => void) {
  const waiting = new Map<number, (answer: DnsAnswer) => void>();
  let asks: [number, string, RecordType][] = [];
  let last = 0;
  const flush = () => {
    send({ type: 'asks', asks });
    asks = [];
  };
  const ask: Resolver = (name, type) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      if (asks.length === 0) setImmediate(flush);
      asks.push([last, name, type]);
    });
  const answered = (answers: [number, DnsAnswer][]) => {
    for (const [id, answer] of answers) {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    }
  };
  return { ask, answered };
}
