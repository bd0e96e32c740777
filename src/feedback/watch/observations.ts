/** What the watch observes: sources, TLS sessions, the days of receivers, and whether reports arrive. */

import type { Observed } from '../../events/observations.ts';
import type { DomainRow, FeedbackDomainRow } from '../../store/tables.generated.ts';

export type WatchedDomain = Pick<DomainRow, 'id' | 'name'> &
  Pick<FeedbackDomainRow, 'first_at' | 'last_at'>;

/** What DMARC reports say about a source, with its latest day of at least 10 messages. The subject is its ID. */
export interface SourceObservation extends Observed {
  kind: 'source';
  /** The name of the domain. */
  domain: string;
  /** What people call the source. */
  name: string;
  /** In UTC, with the messages of this day; null if there was none in the last days. */
  day: string | null;
  messages: number;
  failed: number;
  /** How many reporters counted these messages, if it is new or failing; else 0. */
  reporters: number;
  /** Whether it belongs to the domain as far as people said: only then it can fail. */
  isOurs: boolean;
  /** The day since which its messages fail, though it belongs to the domain and passed before. */
  failingSince: string | null;
  /** The first day of a source that nobody has classified. */
  newSince: string | null;
}

/** The sessions of the latest day of which TLS reports tell. The subject is the domain. */
export interface TlsObservation extends Observed {
  kind: 'tls';
  /** Null if there was no report for a week. */
  day: string | null;
  succeeded: number;
  failed: number;
  /** How many reporters counted these sessions. */
  reporters: number;
}

/**
 * A day as receivers see it: complaints, and the messages to compare them with. The subject is the domain. The figures of
 * one receiver alone need another subject, or they would resolve what those of the others opened.
 */
export interface ReceiverDayObservation extends Observed {
  kind: 'receiver_day';
  /** Null if nobody counted messages for a week. */
  day: string | null;
  complaints: number;
  /** Who passed on the complaints, those with the most first: domains such as `yahoo.com`. */
  receivers: string[];
  /** As DMARC reports count them, and how many reporters do. */
  messages: number;
  reporters: number;
}

/** Whether reports about a domain still arrive. The subject is the domain. */
export interface FeedbackObservation extends Observed {
  kind: 'feedback';
  lastReportAt: string;
  isStopped: boolean;
}

declare module '../../events/observations.ts' {
  interface Observations {
    source: SourceObservation;
    tls: TlsObservation;
    receiver_day: ReceiverDayObservation;
    feedback: FeedbackObservation;
  }
}
