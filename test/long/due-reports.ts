/** Scheduled reports that are due, each with its own recipients. */

import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { lastSend } from '../../src/schedules/times.ts';
import type { Db } from '../../src/store/open.ts';
import type { ReportScheduleRow } from '../../src/store/tables.generated.ts';
import type { TakenMail } from '../outbox/mail-sink.ts';
import { fieldOf } from '../schedules/scheduling.ts';

/** Creates due schedules and returns the addresses of all recipients. The first report is a PDF. */
export async function makeReportsDue(
  db: Db,
  label: string,
  schedules: number,
  recipientsEach: number,
): Promise<string[]> {
  const now = systemClock.now();
  const newId = createIdGenerator(systemClock);
  const addresses: string[] = [];
  for (let i = 0; i < schedules; i++) {
    const recipients = Array.from(
      { length: recipientsEach },
      (_, r) => `${label}-${i}-${r}@example.com`,
    );
    // Twelve hours from now, so that no other time is due during the test.
    const send_hour = (new Date(now).getUTCHours() + 12) % 24;
    const plan = { frequency: 'daily', send_hour, timezone: 'UTC', weekday: 'monday' } as const;
    const row: ReportScheduleRow = {
      id: newId('rps'),
      name: 'Ours',
      ...plan,
      day_of_month: 1,
      recipients: JSON.stringify(recipients),
      domains: null,
      include_sections: '["summary","trends","alerts"]',
      enabled: 1,
      format: i === 0 ? 'pdf' : 'html',
      next_send_at: isoTime(lastSend({ ...plan, day_of_month: 1 }, now)),
      created_at: isoTime(now),
      lease: null,
      leased_until: null,
    };
    await db.insertInto('report_schedules').values(row).execute();
    addresses.push(...recipients);
  }
  return addresses;
}

/** The ID of the email in the outbox. */
export const mailIdOf = ({ raw }: TakenMail): string =>
  /^<(mail_\w+)@/.exec(fieldOf(raw, 'Message-ID')!)![1]!;
