/** What is known about the feedback of a domain: its address, its records, and whether reports arrive. */

import { strictest } from '../../analysis/domain/parked.ts';
import type { App } from '../../app.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { DomainRow, FeedbackDomainRow } from '../../store/tables.generated.ts';
import { feedbackAddress } from './address.ts';
import { type FeedbackRecord, storedRecords } from './records.ts';
import { maySend } from './sending.ts';

export const FEEDBACK_STATES = [
  'not_published',
  'waiting',
  'receiving',
  'stopped',
  'unknown',
] as const;
export type FeedbackState = (typeof FEEDBACK_STATES)[number];

export interface DomainFeedback {
  address: string;
  state: FeedbackState;
  records: FeedbackRecord[];
  last_report_at: string | null;
}

/** Also has what only the policy advice needs. */
interface KnownFeedback extends DomainFeedback {
  isParked: boolean;
  /** The DMARC record to publish with the current policy, even for a parked domain. Undefined before the first lookup. */
  proposal: string | undefined;
}

/** Most reporters send once a day. */
const SILENT_MS = 3 * DAY_MS;
/** A domain with little mail gets no report on many days. */
const ESTABLISHED_MS = 7 * DAY_MS;

export async function feedbackOf(
  app: Pick<App, 'config' | 'clock'>,
  db: Db | Tx,
  { id }: Pick<DomainRow, 'id'>,
): Promise<KnownFeedback> {
  const row = await db
    .selectFrom('feedback_domains')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  const stored = storedRecords(row);
  const isParked = stored[0]?.isParked === true && !(await maySend(app, db, { id }));
  // A parked domain can't lose mail, so it starts with the strictest policy.
  const records = stored.map(({ isParked: declared, value, ...record }) => ({
    ...record,
    value: declared && isParked ? strictest(value) : value,
  }));
  return {
    address: feedbackAddress(app, { id }),
    state: stateOf(row, records, app.clock.now()),
    records,
    last_report_at: row?.last_at ?? null,
    isParked,
    proposal: stored[0]?.value,
  };
}

/** `now` in milliseconds. */
export function stateOf(
  row: Pick<FeedbackDomainRow, 'first_at' | 'last_at'> | undefined,
  [dmarc]: FeedbackRecord[],
  now: number,
): FeedbackState {
  if (row?.last_at && now - Date.parse(row.last_at) <= SILENT_MS) return 'receiving';
  if (row && isStopped(row, now)) return 'stopped';
  if (dmarc === undefined || dmarc.published === null) return 'unknown';
  return dmarc.published ? 'waiting' : 'not_published';
}

/** Whether reports arrived for a while, and no longer do. */
export function isStopped(
  { first_at, last_at }: Pick<FeedbackDomainRow, 'first_at' | 'last_at'>,
  now: number,
): boolean {
  if (last_at === null) return false;
  const last = Date.parse(last_at);
  return now - last > SILENT_MS && last - Date.parse(first_at ?? last_at) >= ESTABLISHED_MS;
}
