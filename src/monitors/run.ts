/** The job that runs monitors: claim, look, record. */

import type { App } from '../app.ts';
import { findDomain } from '../domains/queries.ts';
import { errorMessage } from '../lib/errors.ts';
import type { Job } from '../scheduler/scheduler.ts';
import type { DomainRow } from '../store/watching-tables.ts';
import { askBlocklists } from './ask-blocklists.ts';
import { claimDueMonitors, replanMonitors } from './claim.ts';
import { nothingKnown, type Outcome } from './findings.ts';
import { type ClaimedMonitor, RUN_MONITORS_JOB, type RunType } from './jobs.ts';
import { lookAtDomain } from './look-at-domain.ts';
import { recordRun } from './record.ts';

/** How many of each type are under way at once. */
const MOST: Record<RunType, number> = { domain_health: 8, blocklist: 32 };
const REPLAN_EVERY_MS = 60_000;

export function runMonitorsJob(app: App): Job {
  const underWay = new Map<string, { type: RunType; work: Promise<void> }>();
  let replannedAt = app.clock.now();

  const start = (monitor: ClaimedMonitor, type: RunType) => {
    const work = runMonitor(app, monitor)
      .catch((error) =>
        app.log.error('a monitor could not be run', {
          monitor: monitor.id,
          error: errorMessage(error),
        }),
      )
      .then(() => {
        underWay.delete(monitor.id);
        app.scheduler.wake(RUN_MONITORS_JOB);
      });
    underWay.set(monitor.id, { type, work });
  };

  return {
    name: RUN_MONITORS_JOB,
    tick: '* * * * * *',
    async run() {
      const now = app.clock.now();
      // Also as soon as the clock has been set back.
      if (now < replannedAt || now - replannedAt >= REPLAN_EVERY_MS) {
        replannedAt = now;
        await replanMonitors(app);
      }
      for (const type of Object.keys(MOST) as RunType[]) {
        const running = [...underWay.values()].filter((one) => one.type === type).length;
        const room = MOST[type] - running;
        if (room <= 0) continue;
        for (const monitor of await claimDueMonitors(app, type, room, [...underWay.keys()]))
          start(monitor, type);
      }
    },
    async idle() {
      await Promise.all([...underWay.values()].map(({ work }) => work));
    },
  };
}

async function runMonitor(app: App, monitor: ClaimedMonitor): Promise<void> {
  const { domain_id } = monitor;
  const domain = domain_id === null ? null : await findDomain(app.db, domain_id);
  // Its domain has been deleted, and the monitor with it.
  if (domain === undefined) return;
  const targets = domain ? [domain.name] : (JSON.parse(monitor.targets ?? '[]') as string[]);
  const outcome = await look(app, monitor, { domain, targets }).catch((error): Outcome => {
    // A fault of ours: it is found out at the next slot, not again and again until then.
    app.log.error('a monitor could not look', { monitor: monitor.id, error: errorMessage(error) });
    return nothingKnown(targets);
  });
  await recordRun(app, monitor, outcome);
}

const look = (
  app: App,
  { type }: ClaimedMonitor,
  { domain, targets }: { domain: DomainRow | null; targets: string[] },
): Promise<Outcome> =>
  domain && type === 'domain_health' ? lookAtDomain(app, domain) : askBlocklists(app, targets);
