/** Complaints and bounces: their rows, and the events about those that count. */

import type { App } from '../../app.ts';
import { appendEvent } from '../../events/events.ts';
import { isoTime } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { idAt } from '../../lib/ids.ts';
import type { Tx } from '../../store/open.ts';
import type { BounceRow, ComplaintRow, FeedbackReportRow } from '../../store/tables.generated.ts';
import { presentBounce, presentComplaint } from '../present.ts';
import { ANNOUNCED_CLASSES } from '../reading/report.ts';
import { providerOf } from '../reading/values.ts';
import { dayBefore } from '../sums.ts';
import type { PreparedBounce, PreparedComplaint } from '../thread/prepare.ts';

/** Older complaints are history, of which nobody needs to be told. */
const MAX_EVENT_AGE_DAYS = 7;

const dayOf = (time: string): string => time.slice(0, 10);

export async function addComplaint(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  { id, domain_id, received_at, source }: FeedbackReportRow,
  complaint: PreparedComplaint,
  reporter: string,
): Promise<void> {
  // Imported ones can be years old.
  const time = source === 'smtp' ? received_at : (complaint.arrived_at ?? received_at);
  const row: ComplaintRow = {
    id: newId('cpl'),
    report_id: id,
    domain_id,
    received_at,
    day: dayOf(time),
    ...complaint,
    provider: providerOf(reporter.slice(reporter.lastIndexOf('@') + 1)),
  };
  await tx.insertInto('complaints').values(row).execute();
}

/** Recipients of a message with hundreds are stored in one statement. */
export async function addBounces(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  { id, domain_id, received_at, verified }: FeedbackReportRow,
  bounces: PreparedBounce[],
): Promise<void> {
  const rows = bounces.map(
    (bounce, position): BounceRow => ({
      id: newId('bnc'),
      report_id: id,
      position,
      domain_id,
      received_at,
      day: dayOf(received_at),
      ...bounce,
      provider: providerOf(bounce.remote_server ?? bounce.recipient_domain),
      authenticated: verified,
    }),
  );
  if (rows.length > 0) await tx.insertInto('bounces').values(rows).execute();
}

/** More events about one report say nothing more. */
const MAX_BOUNCE_EVENTS = 10;

/** At most the retention of events: only a stored event shows that a complaint was announced. */
const maxEventAge = ({ config }: App): number =>
  Math.min(MAX_EVENT_AGE_DAYS * DAY_MS, config.EVENT_RETENTION || Number.POSITIVE_INFINITY);

/** Whether the complaint already has an event. A report counts again if its reporter is withdrawn and confirmed again. */
async function isAnnounced(tx: Tx, { id, received_at }: ComplaintRow): Promise<boolean> {
  const event = await tx
    .selectFrom('events')
    .select('id')
    .where('type', '=', 'complaint.received')
    .where('id', '>=', idAt('evt', Date.parse(received_at)))
    .where('data', 'like', `%"id":"${id}"%`)
    .limit(1)
    .executeTakeFirst();
  return event !== undefined;
}

/** The events about a report that counts from now on. */
export async function announce(tx: Tx, app: App, { id, type }: FeedbackReportRow): Promise<void> {
  if (type === 'complaint') {
    const oldest = isoTime(app.clock.now() - maxEventAge(app));
    const rows = await tx
      .selectFrom('complaints')
      .selectAll()
      .where('report_id', '=', id)
      .execute();
    for (const row of rows) {
      if (row.day < dayBefore(dayOf(row.received_at), MAX_EVENT_AGE_DAYS)) continue;
      if (row.received_at < oldest || (await isAnnounced(tx, row))) continue;
      const data = presentComplaint(row);
      await appendEvent(tx, { type: 'complaint.received', livemode: true, data }, app);
    }
  }
  if (type === 'bounce') {
    const rows = await tx
      .selectFrom('bounces')
      .selectAll()
      .where('report_id', '=', id)
      .where('class', 'in', ANNOUNCED_CLASSES)
      .orderBy('position')
      .limit(MAX_BOUNCE_EVENTS)
      .execute();
    for (const row of rows) {
      const data = presentBounce(row);
      await appendEvent(tx, { type: 'bounce.received', livemode: true, data }, app);
    }
  }
}
