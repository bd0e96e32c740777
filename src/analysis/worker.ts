/** The analysis thread: analyzes messages and sends DNS lookups to the main thread. */

import { parentPort } from 'node:worker_threads';
import { batchPerTurn } from '../lib/concurrency.ts';
import { errorMessage } from '../lib/errors.ts';
import { createBriefCache } from '../net/dns/brief-cache.ts';
import {
  type LookupAnswer,
  type LookupRequest,
  remoteResolver,
} from '../net/dns/remote-resolver.ts';
import type { AskDns } from '../net/dns/reply.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { createWebClient } from '../net/http/client.ts';
import type { WebClient } from '../net/http/web.ts';
import { type AnalysisStep, analyze, type StepOutcome } from './analyze.ts';
import type { AnalysisInput, Setup } from './check.ts';
import { createJobQueue } from './job-queue.ts';
import type { StoredResult } from './result.ts';
import { checksToFix } from './summary.ts';

export interface AnalyzeCommand {
  type: 'analyze';
  job: number;
  input: AnalysisInput;
  offline: boolean;
  setup: Omit<Setup, 'domains'>;
  deadlineMs: number;
}

/** The domains of the team for the commands that follow. */
interface DomainsCommand {
  type: 'domains';
  domains: Setup['domains'];
}

/** Messages are sent in batches in both directions: see `batchPerTurn`. */
export type ToWorker = AnalyzeCommand | DomainsCommand | LookupAnswer;

export type FromWorker =
  | LookupRequest
  /** The time limit of the job begins. */
  | { type: 'started'; job: number }
  | { type: 'step'; job: number; step: AnalysisStep; outcome: StepOutcome }
  | { type: 'done'; job: number; result: StoredResult; toFix: string[]; faults: string[] }
  | { type: 'failed'; job: number; error: string };

const port = parentPort!;
const send = batchPerTurn<FromWorker>((messages) => port.postMessage(messages));
const { resolver: remoteLookup, askDns, settle } = remoteResolver(send);
const { resolver, clear } = createBriefCache(remoteLookup);
const network: Network = { resolver, web: createWebClient({ resolver }), askDns };

let domains: Setup['domains'] = {};
const jobs = createJobQueue<AnalyzeCommand & { setup: Setup }>({
  async run(command) {
    send({ type: 'started', job: command.job });
    send(await runJob(command, network));
  },
  onIdle: clear,
});

port.on('message', (messages: ToWorker[]) => {
  for (const message of messages) {
    if (message.type === 'answer') settle(message);
    else if (message.type === 'domains') domains = message.domains;
    else jobs.add({ ...message, setup: { ...message.setup, domains } });
  }
  if (messages.some(({ type }) => type === 'answer')) jobs.noteActivity();
});

interface Network {
  resolver: Resolver;
  web: WebClient;
  askDns: AskDns;
}

async function runJob(
  command: AnalyzeCommand & { setup: Setup },
  network: Network,
): Promise<FromWorker> {
  const { job, input, offline, setup, deadlineMs } = command;
  const faults: string[] = [];
  const onFault = (check: string, error: unknown) => {
    faults.push(`${check}: ${error instanceof Error ? error.stack : errorMessage(error)}`);
  };
  const steps = lateSteps();
  try {
    const { checks, ...rest } = await analyze(input, {
      ...network,
      offline,
      setup,
      deadlineMs,
      onFault,
      onStep: (step, outcome) => steps.add({ type: 'step', job, step, outcome }),
    });
    const result = {
      ...rest,
      providers: JSON.stringify(rest.providers),
      checks: JSON.stringify(checks),
    };
    steps.drop();
    release(input.raw);
    return { type: 'done', job, result, toFix: checksToFix(checks).map(({ id }) => id), faults };
  } catch (error) {
    steps.drop();
    return { type: 'failed', job, error: String((error as Error)?.stack ?? error) };
  }
}

/** Most analyses end sooner, and then nobody sees their steps: they need no messages between threads. */
const STEPS_AFTER_MS = 200;

/** Sends the steps of an analysis once it takes long enough for somebody to watch. */
function lateSteps() {
  let early: FromWorker[] | null = [];
  const timer = setTimeout(() => {
    for (const step of early ?? []) send(step);
    early = null;
  }, STEPS_AFTER_MS);
  return {
    add: (step: FromWorker) => void (early ? early.push(step) : send(step)),
    /** Those that are late are dropped: the result has all of them. */
    drop: () => clearTimeout(timer),
  };
}

/** Frees the message now: the collector counts only the objects on the heap, and so comes late. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
