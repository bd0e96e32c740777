/** From rows to the runs that the API answers, and what a run has come to. */

import type { ReportCopyRow, ReportRunRow } from '../store/report-tables.ts';
import type { ReportCopy, ReportRun, RunStatus } from './schedule-schema.ts';

/** With what the outbox says of its mail, where it is still kept. */
export type CopyState = ReportCopyRow & {
  mail_status: 'queued' | 'sent' | 'failed' | null;
  mail_error: string | null;
  mail_sent_at: string | null;
};

/** Only where the service was off for so long that the outbox had forgotten it. */
export const FORGOTTEN = 'what became of it is not known: the service was off for too long';

/** What became of a copy, or how things stand with it. */
export function presentCopy(row: CopyState): ReportCopy {
  const { recipient, status, error, sent_at } = row;
  if (status !== 'queued') return { recipient, status, error, sent_at };
  if (row.mail_status === null)
    return { recipient, status: 'failed', error: FORGOTTEN, sent_at: null };
  return {
    recipient,
    status: row.mail_status,
    error: row.mail_error,
    sent_at: row.mail_sent_at,
  };
}

/** Copies of those who have left count nowhere; a run that nobody was left to read has failed. */
export function runStatus(copies: ReportCopy[]): RunStatus {
  const counting = copies.filter(({ status }) => status !== 'unsubscribed');
  const having = (wanted: ReportCopy['status']) =>
    counting.filter(({ status }) => status === wanted).length;
  if (having('queued') > 0) return 'sending';
  if (counting.length === 0) return 'failed';
  if (having('sent') === counting.length) return 'sent';
  if (having('sent') > 0) return 'partial';
  return having('not_configured') === counting.length ? 'not_configured' : 'failed';
}

export function presentRun(row: ReportRunRow, states: CopyState[]): ReportRun {
  const { id, schedule_id, trigger, slot, period_from, period_to, error, created_at } = row;
  const copies = states.map(presentCopy);
  return {
    ...{ id, object: 'report_run', schedule_id, trigger, slot, period_from, period_to },
    status: runStatus(copies),
    ...{ error, copies, created_at },
  };
}
