/** What a notification is about, and how it is found for one that is written later than its news. */

import type { Db, Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';
import type {
  AlertIncidentRow,
  AlertNotificationRow,
  AlertRow,
  MonitorRow,
  MonitorRunRow,
} from '../store/watching-tables.ts';

export interface Occasion {
  news: AlertNotificationRow['news'];
  alert: AlertRow;
  /** null for a sample. */
  incident: AlertIncidentRow | null;
  /** The test that it is about, where there is one that is still kept. */
  test: AboutTest | null;
  /** The run that opened it, or that tells of its end. */
  run: AboutRun | null;
}
export type AboutTest = Pick<
  TestRow,
  'id' | 'checks' | 'subject' | 'score' | 'spf' | 'dkim' | 'dmarc'
>;
export interface AboutRun extends Pick<MonitorRunRow, 'findings'> {
  monitor: Pick<MonitorRow, 'id' | 'name' | 'type' | 'domain_id'>;
}
export async function findOccasion(
  db: Db | Tx,
  news: AlertNotificationRow['news'],
  alert: AlertRow,
  incident: AlertIncidentRow | null,
): Promise<Occasion> {
  if (incident === null) return { news, alert, incident, test: null, run: null };
  const test = await (news === 'resolved' ? endingTest(db, incident) : openingTest(db, incident));
  const run = await openingRun(db, incident);
  return { news, alert, incident, test: test ?? null, run: run ?? null };
}

const WORDS = ['id', 'checks', 'subject', 'score', 'spf', 'dkim', 'dmarc'] as const;

const openingTest = (db: Db | Tx, { test_id }: AlertIncidentRow): Promise<AboutTest | undefined> =>
  db.selectFrom('tests').select(WORDS).where('id', '=', test_id).executeTakeFirst();

/** The last one of the same domain when it ended. */
function endingTest(
  db: Db | Tx,
  { test_id, subject, resolved_at }: AlertIncidentRow,
): Promise<AboutTest | undefined> | undefined {
  if (test_id === null) return undefined;
  return db
    .selectFrom('tests')
    .select(WORDS)
    .where('from_domain', '=', subject)
    .where('livemode', '=', 1)
    .where('status', '=', 'completed')
    .where('completed_at', '<=', resolved_at)
    .orderBy('completed_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
}

async function openingRun(
  db: Db | Tx,
  { run_id }: AlertIncidentRow,
): Promise<AboutRun | undefined> {
  if (run_id === null) return undefined;
  const row = await db
    .selectFrom('monitor_runs as run')
    .innerJoin('monitors', 'monitors.id', 'run.monitor_id')
    .select(['run.findings', 'monitors.id', 'name', 'type', 'domain_id'])
    .where('run.id', '=', run_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { findings, ...monitor } = row;
  return { findings, monitor };
}
