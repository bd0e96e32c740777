/** The clocks that run against one client: for the next command, for DATA and for the session. */

import type { SmtpLimits } from './limits.ts';

export interface Deadlines {
  /** The client owes us a command. Bytes of it win no time: the whole line has to come. */
  awaitCommand(): void;
  /** The client owes us all of DATA. */
  awaitData(): void;
  /** Bytes of DATA came; more are awaited for `ms` (the idle limit where not given). */
  progress(ms?: number): void;
  /** We owe the client an answer: only the session's clock runs. */
  work(): void;
  /** Stops everything. */
  end(): void;
}

/** `expire` is called when any of the clocks runs out. */
export function createDeadlines(limits: SmtpLimits, expire: () => void): Deadlines {
  const session = setTimeout(expire, limits.session);
  let waiting: NodeJS.Timeout | undefined;
  let data: NodeJS.Timeout | undefined;
  const progress = (ms = limits.idle) => {
    clearTimeout(waiting);
    waiting = setTimeout(expire, ms);
  };
  const work = () => {
    clearTimeout(waiting);
    clearTimeout(data);
  };
  return {
    awaitCommand: () => progress(),
    awaitData() {
      work();
      data = setTimeout(expire, limits.data);
      progress();
    },
    progress,
    work,
    end() {
      work();
      clearTimeout(session);
    },
  };
}
