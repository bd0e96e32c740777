/** What one check of the doctor found, and what all checks share. */

import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { WebClient } from '../../net/http/web.ts';
import type { Mailer } from '../../net/smtp/mailer.ts';
import type { InspectedStore } from '../../store/inspect.ts';

export type FindingState = 'ok' | 'warning' | 'problem' | 'unknown';

export interface Finding {
  /** Stable, for scripts. */
  id: string;
  title: string;
  state: FindingState;
  /** What was seen, in sentences. */
  evidence: string;
  /** Exactly what to do; null if nothing is to be done. */
  action: string | null;
}

export interface Checkup {
  config: Config;
  clock: Clock;
  resolver: Resolver;
  /** Reaches every network, because the administrator configured the hosts. */
  web: WebClient;
  /** Null if it is not configured. */
  mailer: Mailer | null;
  /** The database, or why it can't be read. */
  store: InspectedStore | { fault: string };
  /** The state of the running service; null if none responds. */
  service: RunningService | null;
  /** The recipient of a test email; null to send none. */
  to: string | null;
  /** Whether to fetch from each account at a receiver. */
  tryReceivers?: boolean;
  /** The server whose `Date` header shows the time. */
  timeUrl: string;
  /** The addresses of this machine. */
  ownAddresses: string[];
  /** The port that other mail servers connect to: 25, except in tests. */
  mailPort: number;
  /** Trusted in addition to the system's authorities, for tests. */
  ca?: string[];
}

export interface RunningService {
  url: string;
  version: string;
  dependencies: { name: string; status: string; detail: string | null }[];
}

/** One or more findings. Must end by itself within the time limit. */
export interface Check {
  title: string;
  /** The identifier of its finding, or of the one that says that it took too long. */
  id: string;
  timeoutMs?: number;
  run(checkup: Checkup): Promise<Finding | Finding[]>;
}

type Outcome = Omit<Finding, 'id' | 'title'>;

export const ok = (evidence: string): Outcome => ({ state: 'ok', evidence, action: null });
export const warning = (evidence: string, action: string): Outcome => ({
  state: 'warning',
  evidence,
  action,
});
export const problem = (evidence: string, action: string): Outcome => ({
  state: 'problem',
  evidence,
  action,
});
export const unknown = (evidence: string, action: string): Outcome => ({
  state: 'unknown',
  evidence,
  action,
});

/** A check with one finding. */
export const check = (
  id: string,
  title: string,
  run: (checkup: Checkup) => Promise<Outcome>,
  timeoutMs?: number,
): Check => ({
  id,
  title,
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  run: async (checkup) => ({ id, title, ...(await run(checkup)) }),
});

const ORDER: FindingState[] = ['problem', 'unknown', 'warning', 'ok'];

/** The worst state first. */
export const worstOf = (states: FindingState[]): FindingState =>
  ORDER.find((state) => states.includes(state)) ?? 'ok';

/** `2026-11-21 10:00 UTC` of an ISO time. */
export const timeText = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;
