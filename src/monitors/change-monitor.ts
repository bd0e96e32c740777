/** Creates, updates, runs, and deletes monitors, with audit entries. Call all of these in `transact`. */

import type { App } from '../app.ts';
import { findDomain, NO_SUCH_DOMAIN } from '../domains/queries.ts';
import { isoTime } from '../lib/clock.ts';
import { randomToken } from '../lib/crypto.ts';
import { AppError, type ParamError } from '../lib/errors.ts';
import { messageDeadline } from '../mailtests/monitor-mail.ts';
import { audited, rowsOf } from '../store/audited.ts';
import type { Tx } from '../store/open.ts';
import { afterCommit } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { DomainRow, MonitorRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { MONITOR_ROW } from './queries.ts';
import { nextSlot, RUN_MONITORS_JOB } from './schedule.ts';
import type { MonitorPatch, NewMonitor } from './schema.ts';

export const AUDITED_MONITOR = audited({
  type: 'monitor',
  name: 'Monitor',
  actions: ['monitor.created', 'monitor.changed', 'monitor.run', 'monitor.deleted'],
  texts: { 'monitor.run': 'Monitor run requested' },
  page: (id) => `/monitors/${id}`,
  withPage: rowsOf('monitors'),
});

/** The author of a change, for the audit log, and the App. */
export type ChangeAuthor = Author & { app: App };

const RUN_BY_MESSAGE =
  'A placement monitor runs when a message arrives. Send one to its address and to its seed addresses.';

const TOKEN_LENGTH = 16;
/** Twice the number that one machine is known to run on time. */
const MAX_MONITORS = 20_000;

/** The first run is due at once. Throws `validation_failed` if the targets don't fit the type. */
export async function createMonitor(
  tx: Tx,
  author: ChangeAuthor,
  { name, type, domain_id = null, targets = null, frequency, enabled }: NewMonitor,
): Promise<MonitorRow> {
  const { app } = author;
  await requireBelowLimit(tx, tx.selectFrom('monitors'), {
    max: MAX_MONITORS,
    noun: 'monitors',
    advice: ', or let one monitor check several targets',
  });
  const problems = problemsOf({ type, domain_id, targets });
  if (domain_id !== null && problems.length === 0 && !(await findDomain(tx, domain_id)))
    problems.push(['domain_id', NO_SUCH_DOMAIN]);
  if (problems.length > 0) throw validationError(problems);
  const now = isoTime(app.clock.now());
  const id = app.newId('mon');
  const row: MonitorRow = {
    id,
    name,
    type,
    domain_id,
    frequency,
    token: type === 'placement' ? randomToken(TOKEN_LENGTH) : null,
    ...MONITOR_ROW.encode({ targets, enabled }),
    status: enabled ? 'unknown' : 'paused',
    last_run_at: null,
    next_run_at: enabled ? isoTime(firstRunAt({ type, frequency }, app.clock.now())) : null,
    created_at: now,
    lease: null,
    leased_until: null,
  };
  await tx.insertInto('monitors').values(row).execute();
  await audit(tx, author, AUDITED_MONITOR, 'monitor.created', id, {
    name,
    type,
    domain_id,
    targets,
    frequency,
    enabled,
  });
  wakeAfterCommit(tx, app);
  return row;
}

/** A placement monitor waits for its first message. */
const firstRunAt = (monitor: Pick<MonitorRow, 'type' | 'frequency'>, now: number): number =>
  monitor.type === 'placement' ? messageDeadline(monitor, now) : now;

type Problem = [param: string, message: string];

function problemsOf({
  type,
  domain_id,
  targets,
}: Pick<NewMonitor, 'type' | 'domain_id' | 'targets'>) {
  const problems: Problem[] = [];
  if (type === 'domain_health' && domain_id === null)
    problems.push(['domain_id', 'is required for domain_health monitors']);
  if (type === 'blocklist' && domain_id === null && targets === null)
    problems.push(['targets', 'is required unless domain_id is set']);
  if (type === 'blocklist' && domain_id !== null && targets !== null)
    problems.push(['targets', 'must not be combined with domain_id']);
  if (type !== 'blocklist' && targets !== null)
    problems.push(['targets', 'is only allowed for blocklist monitors']);
  if (type === 'placement' && domain_id !== null)
    problems.push(['domain_id', 'is not allowed for placement monitors']);
  return problems;
}

function validationError(problems: Problem[]): AppError {
  const errors = problems.map(
    ([param, message]): ParamError => ({ param, code: 'invalid', message }),
  );
  const detail =
    problems.length === 1
      ? `Invalid ${problems[0]!.join(': ')}.`
      : `Invalid parameters: ${problems.map(([param]) => param).join(', ')}.`;
  return new AppError('validation_failed', detail, errors);
}

/** Applies a patch, if it changes anything, and returns the resulting row. */
export async function changeMonitor(
  tx: Tx,
  author: ChangeAuthor,
  current: MonitorRow,
  patch: MonitorPatch,
): Promise<MonitorRow> {
  if (patch.targets !== undefined && current.targets === null)
    throw validationError([
      ['targets', 'is only allowed for blocklist monitors that were created with targets'],
    ]);
  const { columns: change, details } = MONITOR_ROW.changes(current, patch);
  if (Object.keys(change).length === 0) return current;
  const row = { ...current, ...change, ...consequencesOf(current, change, author.app.clock.now()) };
  const { id, ...columns } = row;
  await tx.updateTable('monitors').set(columns).where('id', '=', id).execute();
  await audit(tx, author, AUDITED_MONITOR, 'monitor.changed', id, details);
  wakeAfterCommit(tx, author.app);
  return row;
}

type Change = Partial<MonitorRow>;

/** Clears the lease where the change invalidates a run in progress. */
function consequencesOf(current: MonitorRow, change: Change, now: number): Partial<MonitorRow> {
  const row = { ...current, ...change };
  const releasedLease = { lease: null, leased_until: null };
  if (row.enabled === 0) return { status: 'paused', next_run_at: null, ...releasedLease };
  const startsOver = change.enabled === 1 || change.targets !== undefined;
  if (startsOver)
    return { status: 'unknown', next_run_at: isoTime(firstRunAt(row, now)), ...releasedLease };
  const isDue = row.next_run_at !== null && Date.parse(row.next_run_at) <= now;
  if (change.frequency === undefined || isDue) return {};
  if (row.type === 'placement')
    return { next_run_at: isoTime(messageDeadline(row, now)), ...releasedLease };
  return { next_run_at: isoTime(nextSlot(row, now)) };
}

/** Makes the next run due at once; a run in progress counts as that run. Throws `conflict` if it can't run. */
export async function runNow(
  tx: Tx,
  author: ChangeAuthor,
  current: MonitorRow,
): Promise<MonitorRow> {
  const { id, type, enabled } = current;
  if (enabled === 0)
    throw new AppError('conflict', 'This monitor is disabled. Enable it, then try again.');
  if (type === 'placement') throw new AppError('conflict', RUN_BY_MESSAGE);
  const { app } = author;
  const next_run_at = isoTime(app.clock.now());
  await tx.updateTable('monitors').set({ next_run_at }).where('id', '=', id).execute();
  await audit(tx, author, AUDITED_MONITOR, 'monitor.run', id);
  wakeAfterCommit(tx, app);
  return { ...current, next_run_at };
}

/** Deletes a monitor and its runs. */
export async function deleteMonitor(
  tx: Tx,
  author: ChangeAuthor,
  { id, name, type }: MonitorRow,
): Promise<void> {
  await tx.deleteFrom('monitors').where('id', '=', id).execute();
  await audit(tx, author, AUDITED_MONITOR, 'monitor.deleted', id, { name, type });
}

/** Deletes the monitors of a domain, in the transaction that deletes the domain. */
export async function deleteMonitorsOfDomain(
  tx: Tx,
  { id: domain_id, name: domain }: Pick<DomainRow, 'id' | 'name'>,
  author: Author,
): Promise<void> {
  const monitors = await tx
    .selectFrom('monitors')
    .select(['id', 'name', 'type'])
    .where('domain_id', '=', domain_id)
    .orderBy('id')
    .execute();
  if (monitors.length === 0) return;
  await tx.deleteFrom('monitors').where('domain_id', '=', domain_id).execute();
  for (const { id, name, type } of monitors)
    await audit(tx, author, AUDITED_MONITOR, 'monitor.deleted', id, {
      name,
      type,
      with_domain: domain,
    });
}

function wakeAfterCommit(tx: Tx, { scheduler }: Pick<App, 'scheduler'>): void {
  afterCommit(tx, () => scheduler.wake(RUN_MONITORS_JOB));
}
