/** The order in which an analysis thread begins its jobs. */

export interface JobQueue<T> {
  /** Begins the job, or adds it to the queue. */
  add(job: T): void;
  /** Call for each message to the thread: some job goes on, so that none needs to begin. */
  heard(): void;
}

interface JobQueueOptions<T> {
  /** Never rejects. */
  run(job: T): Promise<void>;
  /** A job from which nothing is heard for so many milliseconds waits for the network. */
  waitingMs?: number;
}

/** So many fill the short time in which one waits for answers that the main thread has already. */
const MAX_READY = 3;

/**
 * Begins jobs in the order of arrival: up to three at once, and another one whenever all of them wait for the network.
 * With twelve at once, all their objects live until the last one ends. The garbage collector then copies them several
 * times, and a message takes a tenth more time.
 */
export function createJobQueue<T>({ run, waitingMs = 5 }: JobQueueOptions<T>): JobQueue<T> {
  const queue: T[] = [];
  let running = 0;
  let wasHeard = false;
  let timer: NodeJS.Timeout | null = null;

  function begin(job: T): void {
    running += 1;
    void run(job).then(() => {
      running -= 1;
      while (running < MAX_READY && queue.length > 0) begin(queue.shift()!);
    });
  }

  /** Begins the next job after `waitingMs` in which nothing was heard. */
  function watch(): void {
    timer ??= setTimeout(() => {
      wasHeard = false;
      // Messages that arrived while a job kept the thread busy are handled before this.
      setImmediate(() => {
        timer = null;
        const next = wasHeard ? undefined : queue.shift();
        if (next !== undefined) begin(next);
        if (queue.length > 0) watch();
      });
    }, waitingMs);
  }

  return {
    add(job) {
      if (running < MAX_READY) {
        begin(job);
        return;
      }
      queue.push(job);
      watch();
    },
    heard() {
      wasHeard = true;
      timer?.refresh();
    },
  };
}
