/** What a render thread is given, and what it gives back. */

import type { Report } from '../report.ts';
import type { ScheduledReport } from '../summary.ts';

export type ReportFormat = 'html' | 'pdf';

/**
 * A report as it comes from the database: checks and providers, by far the largest part, are JSON that
 * only the thread reads.
 */
export type SealedReport = Omit<Report, 'message' | 'checks' | 'providers'> & {
  checks: string;
  providers: string;
};

/** A report for people who are not of the team. */
export type SharedReport = SealedReport & {
  /** What they must not see wherever it stands: the token of the test, the addresses of its seeds. */
  conceal: string[];
};

/** The reports of one link, in the order in which they are shown. */
export interface SealedShare {
  title: string | null;
  /** ISO 8601, as the next. */
  created_at: string;
  expires_at: string;
  reports: SharedReport[];
  /** Tests deleted since. */
  missing: number;
}

export interface Rendered {
  bytes: Uint8Array;
  /** The Content-Security-Policy to send with it; null where there is none. */
  policy: string | null;
}

export type RenderCommand =
  | {
      kind: 'test';
      format: ReportFormat;
      report: SealedReport;
      /** The message as it came; null where it is gone or must not be shown. */
      raw: Uint8Array | null;
    }
  | { kind: 'shared'; format: ReportFormat; shared: SealedShare }
  /** A PDF. */
  | { kind: 'summary'; report: ScheduledReport };

export type FromRenderer = { ok: true; rendered: Rendered } | { ok: false; error: string };
