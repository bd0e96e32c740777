/** The analysis thread: analyzes messages and sends DNS lookups to the main thread. */

import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { batchPerTurn } from '../lib/concurrency.ts';
import { errorMessage } from '../lib/errors.ts';
import type { DnsAnswer, RecordType, Resolver } from '../net/dns/resolver.ts';
import type { WebClient } from '../net/http/web.ts';
import type { analyze } from './analyze.ts';
import type { AnalysisInput, Setup } from './check.ts';
import type { StoredResult } from './result.ts';
import { checksToFix } from './summary.ts';

export interface AnalyzeCommand {
  type: 'analyze';
  job: number;
  input: AnalysisInput;
  offline: boolean;
  setup: Setup;
  deadlineMs: number;
}

/** Messages are sent in batches in both directions: see `batchPerTurn`. */
export type ToWorker = AnalyzeCommand | { type: 'answer'; lookup: number; answer: DnsAnswer };

export type FromWorker =
  | { type: 'lookup'; lookup: number; name: string; record: RecordType }
  | { type: 'done'; job: number; result: StoredResult; toFix: string[]; faults: string[] }
  | { type: 'failed'; job: number; error: string };

/** Identifies an analysis thread: in the executable, all threads run the same file. */
export const WORKER_ROLE = 'analysis';

/**
 * The file that a thread runs: this one, or in the executable the single bundled file. It is a path
 * and not a URL because pkg only looks up paths inside the executable.
 */
export const WORKER_FILE = fileURLToPath(import.meta.url);

if (!isMainThread && workerData?.role === WORKER_ROLE) void serve();

async function serve(): Promise<void> {
  // Imported here because the main thread loads this file too, but not the analysis code.
  const { analyze: run } = await import('./analyze.ts');
  const { createWebClient } = await import('../net/http/client.ts');
  const port = parentPort!;
  const send = batchPerTurn<FromWorker>((messages) => port.postMessage(messages));
  const { resolver, settle } = remoteResolver(send);
  const network: Network = { resolver, web: createWebClient({ resolver }) };
  port.on('message', (messages: ToWorker[]) => {
    for (const message of messages) {
      if (message.type === 'answer') settle(message.lookup, message.answer);
      else void runJob(run, message, network).then(send);
    }
  });
}

interface Network {
  resolver: Resolver;
  web: WebClient;
}

async function runJob(
  run: typeof analyze,
  command: AnalyzeCommand,
  network: Network,
): Promise<FromWorker> {
  const { job, input, offline, setup, deadlineMs } = command;
  const faults: string[] = [];
  const onFault = (check: string, error: unknown) => {
    faults.push(`${check}: ${error instanceof Error ? error.stack : errorMessage(error)}`);
  };
  try {
    const { checks, ...rest } = await run(input, {
      ...network,
      offline,
      setup,
      deadlineMs,
      onFault,
    });
    const result = { ...rest, checks: JSON.stringify(checks) };
    release(input.raw);
    return { type: 'done', job, result, toFix: checksToFix(checks).map(({ id }) => id), faults };
  } catch (error) {
    return { type: 'failed', job, error: String((error as Error)?.stack ?? error) };
  }
}

/** Frees the message now: the collector counts only the objects on the heap, and so comes late. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** A resolver that sends lookups to the main thread, which has the shared cache and the limits. */
function remoteResolver(send: (message: FromWorker) => void) {
  const pending = new Map<number, (answer: DnsAnswer) => void>();
  let lastId = 0;
  const resolver: Resolver = (name, record) =>
    new Promise((resolve) => {
      lastId += 1;
      pending.set(lastId, resolve);
      send({ type: 'lookup', lookup: lastId, name, record });
    });
  const settle = (id: number, answer: DnsAnswer) => {
    pending.get(id)?.(answer);
    pending.delete(id);
  };
  return { resolver, settle };
}
