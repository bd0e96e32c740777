/** From rows to the runs that the API answers, and what a run has come to. */

import type { ReportCopyRow, ReportRunRow } from '../store/report-tables.ts';
import type { ReportCopy, ReportRun, RunStatus } from './schedule-schema.ts';

/** With what the outbox says of the last attempt, where more are to come. */
export type CopyState = ReportCopyRow & { mail_error: string | null };

/** What became of a copy, or how things stand with it. */
export function presentCopy(row: CopyState): ReportCopy {
  const { recipient, status, error, sent_at, mail_error } = row;
  return { recipient, status, error: status === 'queued' ? mail_error : error, sent_at };
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
