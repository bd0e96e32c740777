/**
 * Observations: what features have found out about one subject. A feature publishes them in the transaction that stores
 * them, and alert rules are evaluated on them there.
 */

import type { CheckResult } from '../analysis/result.ts';
import type { Changes, Finding } from '../monitors/findings.ts';
import { channel } from '../store/subscribers.ts';
import type {
  MonitorRow,
  MonitorRunRow,
  SeedMailboxRow,
  TestRow,
} from '../store/tables.generated.ts';

interface Common {
  /** What an incident is about: the same text each time. */
  subject: string;
  /** The domain that it belongs to, for rules that are limited to one. */
  domainId: string | null;
}

/** A live test that has just completed, not a reanalysis. The subject is its From domain. */
export interface TestObservation extends Common {
  kind: 'test';
  test: TestRow;
  checks: CheckResult[];
}

/** What a monitor run says about one of its targets, or about its address. */
export interface RunObservation extends Common {
  kind: 'run';
  run: MonitorRunRow;
  monitor: MonitorRow;
  findings: Finding[];
  changes: Changes;
}

/** A look into a seed mailbox that failed, or the first one after failures. */
export interface SeedObservation extends Common {
  kind: 'seed';
  seed: SeedMailboxRow;
  /** In milliseconds since the Unix epoch. */
  at: number;
}

/** What DMARC reports say about a source, with its latest day of at least 10 messages. The subject is its ID. */
export interface SourceObservation extends Common {
  kind: 'source';
  /** The name of the domain. */
  domain: string;
  /** What people call the source. */
  name: string;
  /** In UTC, with the messages of this day; null if there was none in the last days. */
  day: string | null;
  messages: number;
  failed: number;
  /** The day since which its messages fail, though it belongs to the domain and passed before. */
  failingSince: string | null;
  /** The first day of a source that nobody has classified. */
  newSince: string | null;
}

/** The sessions of the latest day of which TLS reports tell. The subject is the domain. */
export interface TlsObservation extends Common {
  kind: 'tls';
  day: string;
  succeeded: number;
  failed: number;
}

/** The complaints of a day, and the messages that DMARC reports count for it. The subject is the domain. */
export interface ComplaintObservation extends Common {
  kind: 'complaints';
  day: string;
  complaints: number;
  messages: number;
}

/** Whether reports about a domain still arrive. The subject is the domain. */
export interface FeedbackObservation extends Common {
  kind: 'feedback';
  lastReportAt: string;
  isStopped: boolean;
}

export type Observation =
  | TestObservation
  | RunObservation
  | SeedObservation
  | SourceObservation
  | TlsObservation
  | ComplaintObservation
  | FeedbackObservation;

export type ObservationKind = Observation['kind'];

/** For people: what a condition is evaluated on. */
export const OBSERVED_ON: Record<ObservationKind, string> = {
  test: 'tests',
  run: 'monitor runs',
  seed: 'seed mailboxes',
  source: 'DMARC reports',
  tls: 'TLS reports',
  complaints: 'complaints',
  feedback: 'DMARC and TLS reports',
};

/** Published in `transact`, once what was observed is stored. */
export const observed = channel<[observations: Observation[]]>('observed');
