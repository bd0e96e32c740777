/** How far a test is, as its page shows it until there is a result. */

import { createHash } from 'node:crypto';
import type { AnalysisStep, StepOutcome } from '../../analysis/analyze.ts';
import type { App } from '../../app.ts';
import { type DeliveryAttempt, liveTest } from '../../mailtests/live.ts';
import type { TestRow } from '../../store/tables.generated.ts';

/** After this time without a connection, the page names the usual reasons. */
const LATE_MS = 120_000;

export type Client = DeliveryAttempt['client'];
type Rejection = NonNullable<DeliveryAttempt['rejection']>;

export interface Progress {
  status: TestRow['status'];
  /** The server that connected; null if none did, or for a message that was uploaded. */
  client: Client | null;
  /** The last reply that rejected the address or a message; null once a message is stored. */
  rejection: Rejection | null;
  /** No server has connected for some time. */
  isLate: boolean;
  message: { size: number; subject: string | null } | null;
  steps: Partial<Record<AnalysisStep, StepOutcome>>;
  /** Temporary errors prevented a result. The analysis runs again at this time. */
  retryAt: string | null;
  /** A completed test is analyzed again. */
  isReanalysis: boolean;
}

export async function readProgress(app: App, row: TestRow): Promise<Progress> {
  const { attempt, steps } = liveTest(app, row.id);
  const envelope: Partial<Client> | null = row.envelope === null ? null : JSON.parse(row.envelope);
  const received = envelope?.client_ip ? clientOf(envelope) : null;
  const hasMessage = row.received_at !== null;
  return {
    status: row.status,
    client: received ?? (hasMessage ? null : (attempt?.client ?? null)),
    rejection: hasMessage ? null : (attempt?.rejection ?? null),
    isLate: row.status === 'waiting' && attempt === null && lateIn(app, row) <= 0,
    message: hasMessage ? { size: row.message_size ?? 0, subject: row.subject } : null,
    steps,
    retryAt: row.analysis_attempts > 0 ? row.analysis_due_at : null,
    isReanalysis: row.status === 'completed' && row.analysis_due_at !== null,
  };
}

const clientOf = ({ client_ip = null, helo = null, tls = null }: Partial<Client>): Client => ({
  client_ip,
  helo,
  tls,
});

/** Milliseconds until a test counts as late. */
const lateIn = ({ clock }: Pick<App, 'clock'>, { created_at }: TestRow): number =>
  Date.parse(created_at) + LATE_MS - clock.now();

/** When the progress changes without a signal, in milliseconds from now. */
export function nextChangeMs(app: Pick<App, 'clock'>, row: TestRow): number {
  const ms = row.status === 'waiting' ? lateIn(app, row) : 0;
  return ms > 0 ? ms : Number.POSITIVE_INFINITY;
}

/** Differs whenever the page looks different. */
export function versionOf(row: TestRow, progress: Progress): string {
  const { name, kind, completed_at, expires_at, placement_status, placement } = row;
  return hashOf([progress, name, kind, completed_at, expires_at, placement_status, placement]);
}

/** Differs whenever the report looks different, apart from its placement. */
export const reportVersionOf = (row: TestRow, progress: Progress): string =>
  hashOf([progress, row.name, row.kind, row.completed_at]);

const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 12);
