/** Reads what the Gmail Postmaster Tools API v2 publishes about domains, within limits of size and time. */

import type { AccountError } from '../account-error.ts';
import type { WebClient } from '../http/web.ts';

export interface PostmasterAccess {
  web: WebClient;
  /** Without a slash at the end. */
  baseUrl: string;
  accessToken: string;
  /** Ends requests early. */
  signal: AbortSignal;
}

export interface PostmasterDomain {
  /** In A-labels. */
  name: string;
  /** Such as `OWNER`, `READER` and `NONE`. */
  permission: string;
  /** Such as `VERIFIED`; null if Google doesn’t say. */
  verificationState: string | null;
}

export interface RequirementStatus {
  /** Such as `SPF_AND_DKIM`. */
  requirement: string;
  /** Such as `COMPLIANT` and `NEEDS_WORK`. */
  status: string;
  /** Such as `NO_UNSUB_GENERAL`; null if Google gives none. */
  reason: string | null;
}

export interface DeliveryErrors {
  type: 'reject' | 'temp_fail';
  /** The name that Google uses, such as `low_ip_reputation`. */
  reason: string;
  /** From 0 to 1; null if only the count is published. */
  rate: number | null;
  count: number | null;
}

export interface FeedbackLoopRate {
  id: string;
  /** From 0 to 1; null if none was published. */
  spamRate: number | null;
}

/** What is null was not published, or could not be read. Rates are from 0 to 1. */
export interface PostmasterDay {
  /** Such as `2026-11-21`, as Google counts days. */
  day: string;
  spamRate: number | null;
  spfRate: number | null;
  dkimRate: number | null;
  dmarcRate: number | null;
  tlsRate: number | null;
  tlsMessages: number | null;
  rejectRate: number | null;
  tempFailRate: number | null;
  errors: DeliveryErrors[] | null;
  feedbackLoops: FeedbackLoopRate[] | null;
}

export interface PostmasterDays {
  /** The days about which anything was published, oldest first. */
  days: PostmasterDay[];
  /** Why figures are missing that Google may have; null if all was read. */
  problem: AccountError | null;
}

export interface Postmaster {
  /** All domains of the account. */
  listDomains(): Promise<PostmasterDomain[]>;
  /** Null if Google has no compliance status of the domain. */
  compliance(name: string): Promise<RequirementStatus[] | null>;
  /** Days such as `2026-11-21`, both included. Rejects only if nothing could be read. */
  days(name: string, range: { from: string; to: string }): Promise<PostmasterDays>;
}

/** Its operations reject with an AccountError; with `sign_in_failed` if the access token is not accepted. */
export function openPostmaster(_: PostmasterAccess): Postmaster {
  throw new Error('is not supported yet');
}
