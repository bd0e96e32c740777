/** What a report tells of: the one shape that the page, the PDF and the terminal show. */

import type { Envelope, Json } from '../analysis/check.ts';
import type { AnalysisResult, CheckResult } from '../analysis/result.ts';
import type { ScheduledReport } from './summary.ts';

/** The result itself. */
export type Reported = Pick<
  AnalysisResult,
  | 'score'
  | 'grade'
  | 'cap'
  | 'coverage'
  | 'summary'
  | 'from_address'
  | 'subject'
  | 'message_size'
  | 'auth_results'
  | 'categories'
  | 'checks'
  | 'providers'
  | 'ruleset'
>;

/** A seed mailbox and where the message was found in it. */
export interface SeedPlacement {
  provider: string;
  /** `inbox`, `promotions`, `spam`, `missing`, `pending`, `unknown`, … */
  placement: string;
  /** From the moment that the test address had it. */
  seconds: number | null;
}

export interface Report extends Reported, Pick<AnalysisResult, 'judged_kind'> {
  /** The test's id, or null for a message checked without a service. */
  id: string | null;
  /** What people call it: the test's name, or the file's. */
  name: string | null;
  /** ISO 8601, UTC. */
  received_at: string | null;
  completed_at: string | null;
  envelope: Envelope | null;
  placement: SeedPlacement[];
  /** null where it must not be shown (a shared report) or is gone. */
  message: MessageView | null;
}

export interface Attachment {
  filename: string | null;
  type: string;
  /** Octets after decoding. */
  size: number;
}

/** The message for people; everything in it is bounded. `messageView` makes it. */
export interface MessageView {
  headers: { name: string; value: string }[];
  text: string | null;
  /** As a reader sees it: inline images as data URIs, nothing else changed. To be shown sandboxed only. */
  html: string | null;
  attachments: Attachment[];
  links: { href: string; text: string | null }[];
  /** As received, cut where `sourceCut` says how many octets are left out. */
  source: string;
  sourceCut: number;
  /** Images in the HTML that would have to be fetched. */
  remoteImages: number;
  /** What was too much to be shown, a sentence each. */
  notShown: string[];
}

// What a render thread is given, and what it gives back.

export type ReportFormat = 'html' | 'pdf';

/**
 * A report as it comes from the database: checks and providers, by far the largest part, are JSON that
 * only the thread reads.
 */
export type StoredReport = Omit<Report, 'message' | 'checks' | 'providers'> & {
  checks: string;
  providers: string;
};

/** A report for people who are not of the team. */
export type SharedReport = StoredReport & {
  /** What they must not see wherever it stands: the token of the test, the addresses of its seeds. */
  conceal: string[];
};

/** The reports of one link, in the order in which they are shown. */
export interface StoredShare {
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
      report: StoredReport;
      /** The message as it came; null where it is gone or must not be shown. */
      raw: Uint8Array | null;
    }
  | { kind: 'shared'; format: ReportFormat; shared: StoredShare }
  /** A PDF. */
  | { kind: 'summary'; report: ScheduledReport };

export type FromRenderer = { ok: true; rendered: Rendered } | { ok: false; error: string };

// A stored report, read: its checks and providers out of their JSON.

/** Without the message, which is stored apart. */
export const parseStoredReport = (sealed: StoredReport): Report => ({
  ...sealed,
  checks: JSON.parse(sealed.checks),
  providers: JSON.parse(sealed.providers),
  message: null,
});

// Reads what a check noted as evidence: results of older rules are shown too, so nothing is taken for granted.

export type Evidence = CheckResult['evidence'];

/** The evidence of a check by its id; empty where the check is not in the result. */
export function evidenceOf(checks: CheckResult[], id: string): Evidence {
  return checks.find((check) => check.id === id)?.evidence ?? {};
}

export function textIn(evidence: Evidence, key: string): string | null {
  const value = evidence[key];
  return typeof value === 'string' && value !== '' ? value : null;
}

export function numberIn(evidence: Evidence, key: string): number | null {
  const value = evidence[key];
  return typeof value === 'number' ? value : null;
}

export function booleanIn(evidence: Evidence, key: string): boolean | null {
  const value = evidence[key];
  return typeof value === 'boolean' ? value : null;
}

export function objectIn(evidence: Evidence, key: string): Evidence {
  const value = evidence[key];
  return isObject(value) ? value : {};
}

/** The objects of a list; what else is in it (a count of what was cut) is left out. */
export function objectsIn(evidence: Evidence, key: string): Evidence[] {
  const value = evidence[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textsIn(evidence: Evidence, key: string): string[] {
  const value = evidence[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function isObject(value: Json | undefined): value is Evidence {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
