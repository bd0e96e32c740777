/** Rows of `feedback_reports`: the columns that all share, and the rows of refused reports. */

import type { App } from '../../app.ts';
import { type PreparedParameter, prepared, type Tx } from '../../store/open.ts';
import type { FeedbackMailRow, FeedbackReportRow } from '../../store/tables.generated.ts';
import type { Refusal } from '../reading/report.ts';
import type { Signer } from '../senders/reporter.ts';
import type { PreparedItem } from '../thread/prepare.ts';
import { signedRefusal } from './refused.ts';

export interface Recording {
  mail: FeedbackMailRow;
  /** The place of the item in the mail. */
  position: number;
  item: PreparedItem;
  /** Who signed the message. */
  signer: Signer | null;
}

const EMPTY_ROW: FeedbackReportRow = {
  id: '',
  mail_id: '',
  position: 0,
  type: null,
  reason: null,
  detail: null,
  identity: null,
  figures: null,
  status: 'refused',
  original_id: null,
  reporter_id: null,
  domain_id: null,
  policy_domain: null,
  period_from: null,
  period_to: null,
  messages: 0,
  passed: 0,
  failed: 0,
  verified: null,
  source: '',
  suffix: null,
  repaired: '[]',
  content: '{}',
  row_count: 0,
  stored_rows: 0,
  counted_rows: 0,
  received_at: '',
  label: null,
  file_identity: null,
  attributed: 1,
};

/** The row with the columns that follow from the mail. */
export const baseRow = (app: App, { mail, position }: Recording): FeedbackReportRow => ({
  ...EMPTY_ROW,
  id: app.newId('fbr'),
  mail_id: mail.id,
  position,
  source: mail.source,
  suffix: mail.suffix,
  received_at: mail.received_at,
});

export const insertRow = prepared((db, parameter: PreparedParameter<FeedbackReportRow>) => {
  const names = Object.keys(EMPTY_ROW) as (keyof FeedbackReportRow)[];
  const values = Object.fromEntries(names.map((name) => [name, parameter(name)]));
  return db.insertInto('feedback_reports').values(values as never);
});

export async function insertRefusal(
  tx: Tx,
  app: App,
  recording: Recording,
  refusal: Refusal,
): Promise<FeedbackReportRow> {
  const { type, reason, detail, excerpt } = refusal;
  const row = {
    ...baseRow(app, recording),
    type,
    reason,
    detail,
    domain_id: recording.mail.domain_id,
    content: JSON.stringify(excerpt ? { excerpt } : {}),
    ...(await signedRefusal(tx, app, recording, refusal)),
  };
  await insertRow(tx, row);
  return row;
}
