/** The data of a report, shown by the page, the PDF and the terminal alike. */

import type { Envelope, Json } from '../analysis/check.ts';
import type { AnalysisResult, CheckResult } from '../analysis/result.ts';
import type { TimeFormat } from '../lib/format/times.ts';
import type { State } from '../ui/components.tsx';
import type { Assets, Shell } from '../ui/shell.tsx';
import type { Brand } from './brand.ts';
import type { LoadedImage } from './preview/images.ts';
import type { MessagePreview, PreviewChoice } from './preview/message-preview.ts';
import type { StoredStatus } from './status.ts';
import type { FigureSource, ScheduledReport } from './summary.ts';

/** The part of an analysis result that reports show. */
export type ReportedResult = Pick<
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
  | 'judged_kind'
  | 'alternative'
  | 'providers'
  | 'ruleset'
  | 'is_template'
> & {
  /** Where records at and below the domain `owner` can be published. Only on pages of the application. */
  publish?: { url: string; owner: string } | null;
};

/** The placement of the message in one seed mailbox. */
export interface SeedPlacement {
  provider: string;
  /** `inbox`, `promotions`, `spam`, `missing`, `pending`, `unknown`, … */
  placement: string;
  /** Delay after the arrival at the test address; null if the message has not arrived. */
  seconds: number | null;
  /** Missing in public reports, because it names folders and addresses. */
  details?: SeedDetails;
}

/** What a seed mailbox shows to the team. */
export interface SeedDetails {
  address: string;
  settled: boolean;
  match: string | null;
  folder: string | null;
  searched: string[];
  /** Why the placement is unknown, as a sentence. */
  detail: string | null;
  reasons: PlacementReason[];
}

/** A value in a header field that the provider added, and what it means; or a move of the message. */
export interface PlacementReason {
  field: string;
  name: string;
  value: string;
  text: string;
}

/** Stands for the header field of a reason that tells from where the message was moved. */
export const MOVE_FIELD = 'folder';
export const isMove = ({ field }: Pick<PlacementReason, 'field'>): boolean => field === MOVE_FIELD;

/** What receivers report about the source that a test came from. */
export interface ReportedSource extends FigureSource {
  /** Days in UTC, both included. */
  from: string;
  to: string;
  /** Who sent DMARC reports about the domain. */
  reporters: number;
  /** The page of the source. */
  url: string;
}

/** A part of the response of the API. */
interface UnsubscribeTry {
  method: 'POST' | 'GET';
  tries: number;
  requested_at: string;
  verdict: State;
  detail: string;
  response: {
    duration_ms: number;
    tls_version: string | null;
    certificate_expires_at: string | null;
  } | null;
}

export interface Report extends ReportedResult {
  /** The ID of the test; null for a message that the command line checks. */
  id: string | null;
  /** The name of the test or file. */
  name: string | null;
  /** ISO 8601, UTC. */
  received_at: string | null;
  completed_at: string | null;
  envelope: Envelope | null;
  placement: SeedPlacement[];
  /** `none`, `waiting` or `settled`. Missing for messages that were not sent to a test address. */
  placement_status?: string;
  /** Where the page sends the kind that the reader chooses. Missing if they may not choose it. */
  kindForm?: string;
  /** It belongs to the team and not to the test, so public reports never have it. */
  reportedSource?: ReportedSource | null;
  /** Tries of the unsubscribe link. Public reports never have them. */
  unsubscribeTries?: UnsubscribeTry[];
  /** Where the page sends the wish to try it. Missing if the reader may not. */
  unsubscribeForm?: string;
  /** null in a public report, or if the message was deleted. */
  message: MessageView | null;
  /** The message as its readers see it; null if the message was deleted or must not be shown. */
  preview: MessagePreview | null;
  /** Where the page sends the wish to load the remote images. Missing if the reader may not load them. */
  imagesForm?: string;
}

export interface Attachment {
  filename: string | null;
  type: string;
  /** Bytes after decoding. */
  size: number;
}

/** The message as a report shows it. Every field is bounded. */
export interface MessageView {
  headers: { name: string; value: string }[];
  text: string | null;
  attachments: Attachment[];
  links: { href: string; text: string | null }[];
  /** As received; `omittedSourceBytes` is the number of bytes left out at the end. */
  source: string;
  omittedSourceBytes: number;
  /** What exceeded a limit, as sentences. */
  limitNotes: string[];
}

// Messages to and from render threads.

export type ReportFormat = 'html' | 'pdf';

/**
 * A report as stored: checks and providers, by far the largest part, are JSON that only render threads
 * parse.
 */
export type StoredReport = Omit<Report, 'message' | 'preview' | 'checks' | 'providers'> & {
  checks: string;
  providers: string;
};

/** A stored report for people outside the team. */
export type SharedReport = StoredReport & {
  /** Removed from every text: the token of the test and the addresses of its seeds. */
  conceal: string[];
  /** For the preview; null if the link does not show the message. */
  message: StoredMessage | null;
};

/** The source of a message, and its remote images if they may be shown. */
export interface StoredMessage {
  raw: Uint8Array;
  /** null if nobody has asked for them. */
  images: LoadedImage[] | null;
}

/** Whether the page of a shared link shows the messages, and their images on web servers. */
export const SHARE_PREVIEWS = ['none', 'without_images', 'with_images'] as const;
export type SharePreview = (typeof SHARE_PREVIEWS)[number];

/** The reports of a shared link in the order shown. Times are ISO 8601. */
export interface StoredShare {
  title: string | null;
  created_at: string;
  expires_at: string;
  reports: SharedReport[];
  /** The number of deleted tests. */
  deletedTests: number;
  brand?: Brand | null;
  /** Of domains, instead of reports. */
  status?: StoredStatus | null;
  /** Whether anyone with the link may delete it, as with public tests. */
  canDelete?: boolean;
}

export interface Rendered {
  bytes: Uint8Array;
  /** The Content-Security-Policy of the page; null for a PDF. */
  policy: string | null;
}

/** The web application around the page of a report. Without it, the page is self-contained. */
export interface AppFrame {
  shell: Shell;
  assets: Assets;
  /** HTML above and below the report. It comes from templates of this program, in which all other text is escaped. */
  above: string;
  below: string;
  /** How the reader wants to see times; null for UTC, as in a page of its own. */
  times: TimeFormat | null;
}

export type RenderCommand =
  | {
      kind: 'test';
      format: ReportFormat;
      frame?: AppFrame;
      report: StoredReport;
      /** null if it was deleted. */
      message: StoredMessage | null;
    }
  /** One frame of the preview as a document, or all else of the preview as JSON. */
  | { kind: 'preview'; message: StoredMessage; choice: PreviewChoice | null }
  | { kind: 'shared'; format: ReportFormat; shared: StoredShare }
  /** Always a PDF. */
  | { kind: 'summary'; report: ScheduledReport }
  /** No report: a JSON list of `ListedImage`, of a message and the stored checks of its test. */
  | { kind: 'images'; raw: Uint8Array; checks: string }
  | { kind: 'difference'; before: Uint8Array; after: Uint8Array };

/** What a render thread is started with. */
export interface RenderThreadData {
  /** Folders and files of fonts, in the order in which they are searched. */
  fontPaths: string[];
}

export type RenderResult = { ok: true; rendered: Rendered } | { ok: false; error: string };

/** Without the message, which is stored separately. */
export const parseStoredReport = (stored: StoredReport): Report => ({
  ...stored,
  checks: JSON.parse(stored.checks),
  providers: JSON.parse(stored.providers),
  message: null,
  preview: null,
});

// Typed access to evidence. Results of older rulesets may lack any key.

export type Evidence = CheckResult['evidence'];

/** The evidence of a check by its ID; empty if the result does not contain the check. */
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

/** The objects of a list, without other items such as the count of omitted ones. */
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
