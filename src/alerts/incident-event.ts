/** What a notification is about: the incident with the test or run that opened it, ended it, or says how it is now. */

import { observeTest } from '../mailtests/observe.ts';
import type { Db, Tx } from '../store/open.ts';
import type {
  AlertIncidentRow,
  AlertNotificationRow,
  AlertRow,
} from '../store/tables.generated.ts';
import type { IncidentEvent, RunSummary } from './alert-text.ts';
import type { TestSummary } from './conditions/condition.ts';
import { evaluateCondition } from './evaluate.ts';

/** Reads the data for a notification that is composed some time after the change. */
export async function findIncidentEvent(
  db: Db | Tx,
  type: AlertNotificationRow['news'],
  alert: AlertRow,
  incident: AlertIncidentRow | null,
): Promise<IncidentEvent> {
  if (incident === null) return { type, alert, incident, test: null, run: null };
  const current = type === 'reminder' ? await findCurrentEvent(db, alert, incident) : null;
  if (current) return current;
  const test = await (type === 'resolved' ? endingTest(db, incident) : openingTest(db, incident));
  const run = await openingRun(db, incident);
  return { type, alert, incident, test: test ?? null, run: run ?? null };
}

const SUMMARY_COLUMNS = ['id', 'checks', 'subject', 'score', 'spf', 'dkim', 'dmarc'] as const;

const openingTest = (
  db: Db | Tx,
  { test_id }: AlertIncidentRow,
): Promise<TestSummary | undefined> =>
  db.selectFrom('tests').select(SUMMARY_COLUMNS).where('id', '=', test_id).executeTakeFirst();

/** The last test of the same domain when the incident was resolved. */
function endingTest(
  db: Db | Tx,
  { test_id, subject, resolved_at }: AlertIncidentRow,
): Promise<TestSummary | undefined> | undefined {
  if (test_id === null) return undefined;
  return db
    .selectFrom('tests')
    .select(SUMMARY_COLUMNS)
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
): Promise<RunSummary | undefined> {
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

/** How it is now, for a reminder: as the latest test of the domain or the latest run of the monitor found it. */
async function findCurrentEvent(
  db: Db | Tx,
  alert: AlertRow,
  incident: AlertIncidentRow,
): Promise<IncidentEvent | null> {
  const found =
    incident.test_id !== null ? await latestTest(db, incident) : await latestRun(db, incident);
  if (!found) return null;
  const verdict = evaluateCondition(alert, found.observation);
  // The incident is still open, so a result that says nothing about it does not say how it is.
  if (verdict.answer !== 'yes') return null;
  const { test, run } = found;
  const now = { ...incident, value: JSON.stringify(verdict.value) };
  return { type: 'reminder', alert, incident: now, test, run };
}

async function latestTest(db: Db | Tx, { subject, opened_at }: AlertIncidentRow) {
  const test = await db
    .selectFrom('tests')
    .selectAll()
    .where('from_domain', '=', subject)
    .where('livemode', '=', 1)
    .where('status', '=', 'completed')
    .where('completed_at', '>=', opened_at)
    .orderBy('completed_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const [observation] = test ? observeTest(test) : [];
  return observation && { observation, test: test!, run: null };
}

async function latestRun(db: Db | Tx, { subject, run_id }: AlertIncidentRow) {
  const monitor = await db
    .selectFrom('monitors')
    .selectAll('monitors')
    .innerJoin('monitor_runs as opening', 'opening.monitor_id', 'monitors.id')
    .where('opening.id', '=', run_id)
    .executeTakeFirst();
  const run =
    monitor &&
    (await db
      .selectFrom('monitor_runs')
      .selectAll()
      .where('monitor_id', '=', monitor.id)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst());
  if (!run) return undefined;
  const { findings, changes } = run;
  const observation = {
    kind: 'run' as const,
    subject,
    domainId: monitor.domain_id,
    run,
    monitor,
    findings: JSON.parse(findings),
    changes: JSON.parse(changes),
  };
  return { observation, test: null, run: { findings, monitor } };
}
