/** The name of the job of monitors, by which it is woken, and what it claims. */

import type { MonitorRow } from '../store/watching-tables.ts';

export const RUN_MONITORS_JOB = 'monitors.run';

/** Those that are run; where mail arrives cannot be looked at without seed mailboxes. */
export type RunType = Exclude<MonitorRow['type'], 'placement'>;

export interface ClaimedMonitor extends MonitorRow {
  next_run_at: string;
  lease: string;
  /** Milliseconds since 1970. */
  startedAt: number;
}
