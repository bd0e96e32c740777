/** What a render thread is given, and what it gives back. */

import type { Report } from '../report.ts';

export type ReportFormat = 'html' | 'pdf';

/**
 * A report as it comes from the database: checks and providers, by far the largest part, are JSON that
 * only the thread reads.
 */
export type SealedReport = Omit<Report, 'message' | 'checks' | 'providers'> & {
  checks: string;
  providers: string;
};

export interface Rendered {
  bytes: Uint8Array;
  /** The Content-Security-Policy to send with it; null where there is none. */
  policy: string | null;
}

export interface RenderCommand {
  format: ReportFormat;
  report: SealedReport;
  /** The message as it came; null where it is gone or must not be shown. */
  raw: Uint8Array | null;
}

export type FromRenderer = { ok: true; rendered: Rendered } | { ok: false; error: string };
