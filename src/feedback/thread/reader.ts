/** The thread for feedback, as the main thread uses it. A file that exhausts it is refused, and the next one gets a new thread. */

import type { Envelope } from '../../analysis/check.ts';
import type { App } from '../../app.ts';
import type { Log } from '../../lib/log.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { type StartWorker, startWorker, type WorkerThread } from '../../lib/threads.ts';
import { answerLookup } from '../../net/dns/remote-resolver.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { ReadItem, Refusal } from '../reading/report.ts';
import type { PreparedItem } from './prepare.ts';
import type { Verification, VerifyLimits } from './verify.ts';
import type { FromWorker, ToWorker } from './worker.ts';
import { FEEDBACK_FILE } from './worker-file.ts';

export interface FeedbackReader {
  /**
   * The reports and refusals in a message or file, read one file at a time. `now` in milliseconds. A file that takes too much
   * time or memory is one refusal.
   */
  read(raw: Uint8Array, now: number): Promise<PreparedItem[]>;
  /** The same, as they were read, and not as they are stored. */
  parse(raw: Uint8Array, now: number): Promise<ReadItem[]>;
  /**
   * Who the message authenticates; without an envelope, by DKIM alone. Waits for DNS, together with others, within these
   * limits. Rejects with ThreadEndedError.
   */
  verify(
    raw: Uint8Array,
    envelope: Envelope | null,
    receivedAt: number,
    limits?: VerifyLimits,
  ): Promise<Verification>;
  /** The message with nothing but its report; null if that is too large, or if there is none. */
  reduce(raw: Uint8Array): Promise<Uint8Array | null>;
  /** Ends the thread; the next work starts it again. */
  end(): Promise<void>;
}

/** The thread ended, because of another file or because the service stops. The work is worth another attempt. */
export class ThreadEndedError extends Error {
  /** Whether other work ran in the thread, which may have ended it. */
  readonly hadCompany: boolean;

  constructor(hadCompany: boolean) {
    super('the thread ended');
    this.hadCompany = hadCompany;
  }
}

/** The thread of a service. It starts with the first file. */
export const readerOf: (app: App) => FeedbackReader = memoizePerObject((app: App) =>
  createFeedbackReader({
    resolver: app.backgroundResolver,
    log: app.log,
    startWorker: app.startWorker,
  }),
);

interface ReaderOptions {
  resolver: Resolver;
  log: Log;
  timeoutMs?: number;
  memoryMb?: number;
  idleMs?: number;
  /** Tests of failing threads use another file. */
  workerFile?: string;
  startWorker?: StartWorker;
}

const MAX_ATTEMPTS = 5;

/** Beside the unpacked text of 20 MiB, of which a character can take two bytes. */
const MEMORY_MB = 160;

export function createFeedbackReader(options: ReaderOptions): FeedbackReader {
  const { resolver, log, timeoutMs = 20_000, memoryMb = MEMORY_MB, idleMs = 60_000 } = options;
  const jobs = new Map<number, PromiseWithResolvers<FromWorker>>();
  let lastJob = 0;
  let worker: WorkerThread | null = null;
  let reading: Promise<unknown> = Promise.resolve();
  let idleTimer: NodeJS.Timeout | undefined;

  function start(): WorkerThread {
    const started = (options.startWorker ?? startWorker)(options.workerFile ?? FEEDBACK_FILE, {
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 12 },
    });
    started.unref();
    started.on('message', (message: FromWorker) => {
      if (message.type === 'lookup')
        answerLookup(message, resolver, (answer) => started.postMessage(answer));
      else if (message.type === 'failed') jobs.get(message.job)?.reject(new Error(message.error));
      else jobs.get(message.job)?.resolve(message);
    });
    started.on('error', (error: Error) =>
      log.warn('feedback thread failed', { error: error.message }),
    );
    started.on('exit', () => {
      if (worker === started) worker = null;
      const ended = new ThreadEndedError(jobs.size > 1);
      for (const job of jobs.values()) job.reject(ended);
    });
    return started;
  }

  async function run(request: (job: number) => ToWorker): Promise<FromWorker> {
    clearTimeout(idleTimer);
    worker ??= start();
    const used = worker;
    lastJob += 1;
    const job = lastJob;
    const result = Promise.withResolvers<FromWorker>();
    jobs.set(job, result);
    const timer = setTimeout(() => {
      log.warn('feedback thread timed out');
      void used.terminate();
    }, timeoutMs);
    used.ref();
    used.postMessage(request(job));
    try {
      return await result.promise;
    } finally {
      clearTimeout(timer);
      jobs.delete(job);
      if (jobs.size === 0) rest(used);
    }
  }

  function rest(used: WorkerThread): void {
    used.unref();
    idleTimer = setTimeout(() => void used.terminate(), idleMs).unref();
  }

  /** Once more if the thread ended; several times if what was verified at the same time can be the cause. */
  async function readAs<Type extends 'read' | 'parse'>(
    type: Type,
    raw: Uint8Array,
    now: number,
    attempt = 1,
  ): Promise<ItemOf<Type>[]> {
    try {
      const message = await run((job) => ({ type, job, raw, now }));
      return message.type === type ? (message as { items: ItemOf<Type>[] }).items : [FAULT];
    } catch (error) {
      if (!(error instanceof ThreadEndedError)) {
        log.error('a file with feedback could not be read', { error: String(error) });
        return [FAULT];
      }
      const isCause = attempt > 1 && !error.hadCompany;
      return isCause || attempt === MAX_ATTEMPTS
        ? [EXHAUSTED]
        : readAs(type, raw, now, attempt + 1);
    }
  }

  /** One file at a time. */
  function inTurn<Type extends 'read' | 'parse'>(type: Type, raw: Uint8Array, now: number) {
    const result = reading.then(() => readAs(type, raw, now));
    reading = result.catch(() => {});
    return result;
  }

  return {
    read: (raw, now) => inTurn('read', raw, now),
    parse: (raw, now) => inTurn('parse', raw, now),
    async verify(raw, envelope, receivedAt, limits) {
      const question = { type: 'verify', raw, envelope, receivedAt, limits } as const;
      const message = await run((job) => ({ ...question, job }));
      if (message.type !== 'verified') throw new Error('unexpected answer');
      return message.verification;
    },
    async reduce(raw) {
      try {
        const message = await run((job) => ({ type: 'reduce', job, raw }));
        return message.type === 'reduced' ? message.raw : null;
      } catch (error) {
        log.warn('a message with feedback could not be reduced', { error: String(error) });
        return null;
      }
    },
    async end() {
      clearTimeout(idleTimer);
      await worker?.terminate();
    },
  };
}

/** A refusal is one of either. */
type ItemOf<Type extends 'read' | 'parse'> =
  | Refusal
  | (Type extends 'read' ? PreparedItem : ReadItem);

const EXHAUSTED: Refusal = {
  ok: false,
  reason: 'too_large',
  detail: 'Reading the file took too much time or memory.',
  type: null,
};

const FAULT: Refusal = {
  ok: false,
  reason: 'unreadable',
  detail: 'The file could not be read.',
  type: null,
};
