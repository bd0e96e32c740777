/**
 * Threads that the services of a test process use one after the other. Starting a thread and compiling its code
 * takes longer than most tests.
 */

import { EventEmitter } from 'node:events';
import { type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';
import type { StartWorker, WorkerThread } from '../../src/lib/threads.ts';

/** Idle threads by file and options. */
const idle = new Map<string, Worker[]>();
const MAX_IDLE = 2;

/** A thread that an earlier service has ended while it was idle, or a new one. */
export const reuseWorker: StartWorker = (file, options) => {
  const key = `${file} ${JSON.stringify(options)}`;
  return new LentWorker(key, idle.get(key)?.pop() ?? startIdle(file, options, key));
};

function startIdle(file: string, options: WorkerOptions, key: string): Worker {
  const worker = new Worker(file, options);
  worker.on('exit', () => {
    idle.set(
      key,
      (idle.get(key) ?? []).filter((other) => other !== worker),
    );
  });
  return worker;
}

class LentWorker extends EventEmitter implements WorkerThread {
  #key: string;
  #worker: Worker;
  #isBusy = true;
  #isReturned = false;
  #listeners = new Map<string, (value?: unknown) => void>();

  constructor(key: string, worker: Worker) {
    super();
    this.#key = key;
    this.#worker = worker;
    for (const event of ['message', 'error', 'exit']) {
      const listener = (value?: unknown) => void this.emit(event, value);
      this.#listeners.set(event, listener);
      worker.on(event, listener);
    }
  }

  postMessage(message: unknown, transfer?: Transferable[]): void {
    if (!this.#isReturned) this.#worker.postMessage(message, transfer);
  }

  ref(): void {
    this.#isBusy = true;
    this.#worker.ref();
  }

  unref(): void {
    this.#isBusy = false;
    if (!this.#isReturned) this.#worker.unref();
  }

  async terminate(): Promise<unknown> {
    const waiting = idle.get(this.#key) ?? [];
    if (this.#isReturned) return;
    if (this.#isBusy || waiting.length >= MAX_IDLE) return this.#worker.terminate();
    this.#isReturned = true;
    for (const [event, listener] of this.#listeners) this.#worker.off(event, listener);
    idle.set(this.#key, [...waiting, this.#worker]);
    this.emit('exit');
    return undefined;
  }
}
