/** What a report tells of: the one shape that the page, the PDF and the terminal show. */

import type { Envelope } from '../analysis/check.ts';
import type { AnalysisResult } from '../analysis/result.ts';

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
