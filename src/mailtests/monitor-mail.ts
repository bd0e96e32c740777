/** Messages to the permanent addresses of placement monitors: each becomes a test, whose placement is a run. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { type Destination, NO_SUCH_ADDRESS, type Rejection, reject } from '../smtp/destination.ts';
import { afterCommit, type Db, lockIn, type Tx } from '../store/open.ts';
import type { MessageRow, MonitorRow } from '../store/tables.generated.ts';
import { insertMessage } from './messages.ts';
import { earlierMail, receivedTestRow } from './permanent-address.ts';
import { insertPlacements, LOOK_JOB, withSeeds } from './placement.ts';
import { ANALYZE_JOB, insertTest } from './queries.ts';
import { type StoreOutcome, storeMail } from './receive.ts';

/** The monitor with this local part in its address, in any case. Locks it in a transaction. */
export async function findMonitorByToken(
  db: Db | Tx,
  token: string,
): Promise<MonitorRow | undefined> {
  const query = db.selectFrom('monitors').selectAll().where('token', '=', token.toLowerCase());
  return lockIn(db, query).executeTakeFirst();
}

/** How often a message is expected, and how late it may be. */
const EXPECTED_MS: Record<MonitorRow['frequency'], { period: number; grace: number }> = {
  hourly: { period: HOUR_MS, grace: HOUR_MS / 2 },
  every_6_hours: { period: 6 * HOUR_MS, grace: HOUR_MS },
  daily: { period: 24 * HOUR_MS, grace: 3 * HOUR_MS },
  weekly: { period: 168 * HOUR_MS, grace: 12 * HOUR_MS },
};

/** When the message after one at `at` counts as missing; both in milliseconds since the Unix epoch. */
export function messageDeadline({ frequency }: Pick<MonitorRow, 'frequency'>, at: number): number {
  const { period, grace } = EXPECTED_MS[frequency];
  return at + period + grace;
}

/** More cannot be a schedule. */
const MAX_TESTS_PER_HOUR = 30;

const PAUSED = reject(550, '5.2.1', 'This monitor is paused');
const NO_SEEDS = reject(550, '5.2.1', 'This monitor has no seed mailboxes');
const TOO_MANY = reject(452, '4.2.1', 'Too many messages to this monitor, try again later');

export const monitorDestination = (app: App): Destination => ({
  label: 'test',
  maxSize: app.config.SMTP_MAX_SIZE,
  single: true,
  async check({ local }) {
    const monitor = await findMonitorByToken(app.db, local);
    return monitor ? (closedReply(app, monitor) ?? { accept: true }) : null;
  },
  receive(mail) {
    const [{ address, local }] = mail.recipients;
    return storeMail(app, mail, {
      recipient: address,
      job: ANALYZE_JOB,
      async store(tx, message, raw) {
        const monitor = await findMonitorByToken(tx, local);
        return monitor ? storeForMonitor(tx, app, { monitor, message, raw }) : NO_SUCH_ADDRESS;
      },
    });
  },
});

/** The reply of a monitor that takes no messages now, or null. */
function closedReply({ config }: Pick<App, 'config'>, { enabled }: MonitorRow): Rejection | null {
  if (enabled === 0) return PAUSED;
  return config.SEED_MAILBOXES.length === 0 ? NO_SEEDS : null;
}

/** Stores a message as a test that is due for analysis, and expects the next message. */
async function storeForMonitor(
  tx: Tx,
  app: Pick<App, 'clock' | 'newId' | 'config' | 'scheduler' | 'signals'>,
  { monitor, message, raw }: { monitor: MonitorRow; message: MessageRow; raw: Uint8Array },
): Promise<StoreOutcome> {
  const closed = closedReply(app, monitor);
  if (closed) return closed;
  const seeds = app.config.SEED_MAILBOXES;
  const at = Date.parse(message.received_at);
  const { id: monitor_id, name } = monitor;
  const { repeated, lastHour } = await earlierMail(tx, message, { monitor_id });
  if (repeated) return { accept: true, ...repeated };
  if (lastHour >= MAX_TESTS_PER_HOUR) return TOO_MANY;
  const token = monitor.token!;
  const fields = { kind: 'auto', metadata: {}, livemode: true, name } as const;
  const received = receivedTestRow(app, fields, message, raw);
  const test = withSeeds({ ...received, monitor_id }, seeds, token);
  await insertTest(tx, test);
  await insertPlacements(tx, test, seeds, token);
  await insertMessage(tx, { ...message, test_id: test.id }, raw);
  await tx
    .updateTable('monitors')
    .set({
      next_run_at: isoTime(messageDeadline(monitor, at)),
      // Ends a run in progress, which would report this message as missing.
      lease: null,
      leased_until: null,
    })
    .where('id', '=', monitor_id)
    .execute();
  afterCommit(tx, () => {
    app.scheduler.wake(LOOK_JOB);
    app.signals.raise(monitor_id);
  });
  return { accept: true, id: message.id, testId: test.id };
}
