/** Limits of what is read, and the error beyond them. */

import type { AboutReport, RefusalReason } from './report.ts';

export const LIMITS = {
  /** Of all layers and members of one message together. */
  unpackedBytes: 20 * 1024 * 1024,
  /** XML and JSON files in one archive. */
  members: 10,
  /** All entries of one archive, including those that are not read. */
  entries: 1000,
  /** Of gzip and zip around one file. */
  layers: 2,
  /** Reports in one message. */
  reports: 100,
  /** Messages attached to messages. */
  attachedMessages: 3,
  xmlDepth: 16,
  xmlAttributes: 32,
  /** Of one element, in characters. */
  xmlText: 4096,
  records: 100_000,
  /** Rows of a report that are kept one by one. */
  rows: 5000,
  /** Sums of the remaining rows. */
  sums: 5000,
  /** More messages in one report are not plausible, and sums stay exact. */
  count: 1e12,
  /** Days between the beginning and the end of a report. */
  days: 100,
  recipients: 1000,
} as const;

/** Why something is not a report, or not a readable one. Becomes a `Refusal`. */
export class RefusedError extends Error {
  /** What was read of the report. */
  about: Partial<AboutReport> = {};

  constructor(
    readonly reason: RefusalReason,
    /** A sentence with what was found. */
    message: string,
  ) {
    super(message);
  }
}

/** How much may still be unpacked, shared by all parts of a message. */
export interface Budget {
  left: number;
}

export const newBudget = (): Budget => ({ left: LIMITS.unpackedBytes });

export const tooLarge = (): RefusedError =>
  new RefusedError('too_large', 'The report has more than 20 MiB when unpacked.');

/** Throws if the bytes exceed the budget. */
export function spend(budget: Budget, bytes: number): void {
  if (bytes > budget.left) throw tooLarge();
  budget.left -= bytes;
}
