/** Reads what Microsoft SNDS publishes about IP addresses, within limits of size and time. */

import type { WebClient } from '../http/web.ts';

export interface SndsAccess {
  web: WebClient;
  /** Without a slash at the end. */
  baseUrl: string;
  /** A secret. */
  key: string;
  /** Ends requests early. */
  signal: AbortSignal;
}

export type FilterResult = 'GREEN' | 'YELLOW' | 'RED';

/** One address in one period of activity. What is null was not published. */
export interface SndsAddress {
  /** Normalized. */
  address: string;
  startedAt: string;
  endedAt: string;
  rcptCommands: number;
  dataCommands: number;
  recipients: number;
  filterResult: FilterResult | null;
  /** From 0 to 1. */
  complaintRate: number | null;
  /** Whether the real rate is below it. */
  isBelowRate: boolean;
  trapHits: number | null;
  sampleHelo: string | null;
  sampleMailFrom: string | null;
  comments: string | null;
}

export interface SndsRange {
  /** Normalized, both included. */
  firstAddress: string;
  lastAddress: string;
  blocked: boolean;
  details: string;
}

export interface SndsRows<Row> {
  rows: Row[];
  /** Lines that could not be read. */
  skipped: number;
}

export interface Snds {
  /** A day such as `2026-11-21`. */
  data(day: string): Promise<SndsRows<SndsAddress>>;
  status(): Promise<SndsRows<SndsRange>>;
}

/** Its operations reject with an AccountError; with `refused` if the key is not accepted. No error contains the key. */
export function openSnds(_: SndsAccess): Snds {
  throw new Error('is not supported yet');
}
