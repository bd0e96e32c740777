/** Starts threads. */

import { type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';

/** What the program uses of a `Worker`. It keeps the process running only while it works: see `ref` and `unref`. */
export interface WorkerThread {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: the thread decides what its messages are.
  on(event: 'message' | 'error' | 'exit', listener: (value: any) => void): unknown;
}

/** Starts a thread that runs the file. */
export type StartWorker = (file: string, options: WorkerOptions) => WorkerThread;

export const startWorker: StartWorker = (file, options) => new Worker(file, options);
