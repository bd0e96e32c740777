/** Waiting for a moment, and the moments in the life of a process. */

import type { Moment, Running } from './load.ts';
import type { Site } from './site.ts';

/** A machine on which a moment does not come in this time is too slow for the test. */
const MAX_REACH_MS = 180_000;

/** Resolves when the moment has come, or the service has ended. Rejects if a client fails before. */
export async function inTime(moment: Moment, running: Running, site: Site): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => {
    const replies = JSON.stringify(site.replies);
    reject(new Error(`${moment.name} did not come: ${replies} ${site.faults.join('\n')}`));
  };
  const timer = setTimeout(giveUp, MAX_REACH_MS);
  try {
    await Promise.race([moment.reach(running), promise, site.failed, running.service.ended]);
  } finally {
    clearTimeout(timer);
  }
}

// The life of a process.

const MAX_START_MS = 500;
const MAX_STOP_MS = 20;

/** Before the service is ready. */
export const STARTING: Moment = {
  name: 'start',
  once: true,
  reach: ({ random }) => new Promise((resolve) => setTimeout(resolve, random.below(MAX_START_MS))),
  end: () => true,
};

/** While the service stops and waits for the end of an analysis. */
export function stoppingAt(analysis: Moment): Moment {
  let log: { message: string }[] = [];
  return {
    name: 'stop',
    async reach(running) {
      const { service, random } = running;
      await analysis.reach(running);
      service.signal('SIGTERM');
      await service.nextLine('stopping');
      await new Promise((resolve) => setTimeout(resolve, random.below(MAX_STOP_MS)));
      log = service.log;
    },
    async end(db) {
      return (await analysis.end(db)) && !log.some(({ message }) => message === 'stopped');
    },
  };
}
