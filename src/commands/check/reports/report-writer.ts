/** A report that is written while messages are analyzed, so that a run needs little memory. */

import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomToken } from '../../../lib/crypto.ts';
import type { Outcome, Totals } from '../outcome.ts';

/** The parts of one report. Together they are the file. */
export interface ReportFormatter {
  begin(): string;
  /** The messages come in the order of the arguments. */
  add(outcome: Outcome): string;
  end(totals: Totals): string;
}

export interface ReportWriter {
  add(outcome: Outcome): void;
  end(totals: Totals): void;
  /** Removes what has been written. Does nothing after `end`. */
  discard(): void;
  /** Why the file could not be written. */
  fault(): string | null;
}

/** Writes to a temporary file and renames it, so that the path always has a complete file. */
export function createReportWriter(path: string, formatter: ReportFormatter): ReportWriter {
  const temporaryPath = temporaryFor(path);
  let descriptor: number | null = null;
  let fault: string | null = null;

  const attempt = (work: () => void) => {
    if (fault !== null) return;
    try {
      work();
    } catch (error) {
      if (!(error as NodeJS.ErrnoException).syscall) throw error;
      fault = `Could not write ${path}. ${(error as Error).message}`;
      discard();
    }
  };
  const write = (text: string) => {
    if (text === '') return;
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor!, bytes, at);
  };
  function discard(): void {
    if (descriptor === null) return;
    closeSync(descriptor);
    descriptor = null;
    rmSync(temporaryPath, { force: true });
  }

  attempt(() => {
    descriptor = openSync(temporaryPath, 'wx');
    write(formatter.begin());
  });
  return {
    add: (outcome) => attempt(() => write(formatter.add(outcome))),
    end: (totals) =>
      attempt(() => {
        write(formatter.end(totals));
        closeSync(descriptor!);
        descriptor = null;
        renameSync(temporaryPath, path);
      }),
    discard,
    fault: () => fault,
  };
}

export const temporaryFor = (path: string): string =>
  join(dirname(path), `.deliverability-${randomToken(8)}`);
