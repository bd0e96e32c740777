/** From a row to the schedule that the API answers. */

import type { ReportScheduleRow } from '../store/report-tables.ts';
import type { RunStatus, Schedule } from './schedule-schema.ts';

/** A schedule with what is not in its row. */
interface ScheduleState {
  row: ReportScheduleRow;
  /** Those that are still there. */
  domains: string[] | null;
  lastStatus: RunStatus | null;
  lastSentAt: string | null;
  unsubscribed: Schedule['unsubscribed'];
}

export const recipientsOf = ({ recipients }: Pick<ReportScheduleRow, 'recipients'>): string[] =>
  JSON.parse(recipients);

const NO_DOMAIN_LEFT =
  'All domains that it names have been deleted, so its reports count no tests. Name others, or send null for all.';
const NOBODY_LEFT =
  'Everybody whom it names has unsubscribed, so nobody gets its reports. Name other recipients.';

export function presentSchedule(state: ScheduleState): Schedule {
  const { row, domains, lastStatus, lastSentAt, unsubscribed } = state;
  const { id, name, frequency, format, send_hour, timezone, weekday, day_of_month } = row;
  const recipients = recipientsOf(row);
  const gone = new Set(unsubscribed.map(({ email }) => email));
  const nobody = recipients.every((email) => gone.has(email));
  return {
    ...{ id, object: 'report_schedule', name, frequency, recipients, domains },
    include_sections: JSON.parse(row.include_sections),
    ...{ format, send_hour, timezone, weekday, day_of_month },
    enabled: row.enabled === 1,
    detail: domains?.length === 0 ? NO_DOMAIN_LEFT : nobody ? NOBODY_LEFT : null,
    next_send_at: row.next_send_at,
    last_sent_at: lastSentAt,
    last_status: lastStatus,
    unsubscribed,
    created_at: row.created_at,
  };
}
