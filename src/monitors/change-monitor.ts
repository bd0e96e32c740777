/** Changes of monitors: made, changed, run, deleted, each noted in the audit log. All to be called in `transact`. */

import type { App } from '../app.ts';
import { findDomain } from '../domains/queries.ts';
import { isoTime } from '../lib/clock.ts';
import { randomToken } from '../lib/crypto.ts';
import { AppError, type ParamError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import { afterCommit } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { DomainRow, MonitorRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { NO_SEEDS } from './queries.ts';
import { nextSlot, RUN_MONITORS_JOB } from './schedule.ts';
import type { MonitorPatch, NewMonitor } from './schema.ts';

/** Who changes monitors, with the App that this takes. */
export type Changer = Author & { app: App };

const TOKEN_LENGTH = 16;
/** Twice what a machine is known to look at in time. */
const MOST_MONITORS = 20_000;

/** Due at once. Throws `validation_failed` where what it looks at does not go with its type. */
export async function createMonitor(
  tx: Tx,
  author: Changer,
  { name, type, domain_id = null, targets = null, frequency, enabled }: NewMonitor,
): Promise<MonitorRow> {
  const { app } = author;
  await requireBelowLimit(tx.selectFrom('monitors'), {
    max: MOST_MONITORS,
    things: 'monitors',
    advice: ', or have one look at several targets',
  });
  const faults = faultsOf({ type, domain_id, targets });
  if (domain_id !== null && faults.length === 0 && !(await findDomain(tx, domain_id)))
    faults.push(['domain_id', 'is the id of no domain']);
  if (faults.length > 0) throw wrong(faults);
  const now = isoTime(app.clock.now());
  const id = app.newId('mon');
  const row: MonitorRow = {
    ...{ id, name, type, domain_id, frequency },
    targets: targets && JSON.stringify(targets),
    token: type === 'placement' ? randomToken(TOKEN_LENGTH) : null,
    enabled: enabled ? 1 : 0,
    status: enabled ? 'unknown' : 'paused',
    last_run_at: null,
    next_run_at: enabled && type !== 'placement' ? now : null,
    created_at: now,
    lease: null,
    leased_until: null,
  };
  await tx.insertInto('monitors').values(row).execute();
  await note(tx, author, 'created', id, { name, type, domain_id, targets, frequency, enabled });
  wakeAfter(tx, app);
  return row;
}

type Fault = [param: string, message: string];

function faultsOf({
  type,
  domain_id,
  targets,
}: Pick<NewMonitor, 'type' | 'domain_id' | 'targets'>) {
  const faults: Fault[] = [];
  if (type === 'domain_health' && domain_id === null)
    faults.push(['domain_id', 'is required for a monitor of this type']);
  if (type === 'blocklist' && domain_id === null && targets === null)
    faults.push(['targets', 'is required, or domain_id in its place']);
  if (type === 'blocklist' && domain_id !== null && targets !== null)
    faults.push(['targets', 'must not be given beside domain_id']);
  if (type !== 'blocklist' && targets !== null)
    faults.push(['targets', 'is for monitors of the type blocklist']);
  if (type === 'placement' && domain_id !== null)
    faults.push(['domain_id', 'is not for monitors of the type placement']);
  return faults;
}

function wrong(faults: Fault[]): AppError {
  const names = faults.map(([param]) => param).join(', ');
  const errors = faults.map(
    ([param, message]): ParamError => ({ param, code: 'invalid', message }),
  );
  return new AppError('validation_failed', `Wrong: ${names}.`, errors);
}

/** Changes what is given and is not so already; gives the row as it is then. */
export async function changeMonitor(
  tx: Tx,
  author: Changer,
  present: MonitorRow,
  patch: MonitorPatch,
): Promise<MonitorRow> {
  if (patch.targets !== undefined && present.targets === null)
    throw wrong([['targets', 'is for monitors of the type blocklist that were made with targets']]);
  const change = changeOf(present, patch);
  if (Object.keys(change).length === 0) return present;
  const row = { ...present, ...change, ...consequencesOf(present, change, author.app.clock.now()) };
  const { id, ...columns } = row;
  await tx.updateTable('monitors').set(columns).where('id', '=', id).execute();
  await note(tx, author, 'changed', id, detailsOf(present, change));
  wakeAfter(tx, author.app);
  return row;
}

type Change = Partial<Pick<MonitorRow, 'name' | 'targets' | 'frequency' | 'enabled'>>;

function changeOf(present: MonitorRow, { targets, enabled, ...patch }: MonitorPatch): Change {
  const wanted: Change = {
    ...patch,
    ...(targets === undefined ? {} : { targets: JSON.stringify(targets) }),
    ...(enabled === undefined ? {} : { enabled: enabled ? 1 : 0 }),
  };
  return Object.fromEntries(
    Object.entries(wanted).filter(([column, value]) => present[column as keyof Change] !== value),
  );
}

/** A run that is under way on what was before has no say any more: its lease is taken away. */
function consequencesOf(present: MonitorRow, change: Change, now: number): Partial<MonitorRow> {
  const row = { ...present, ...change };
  const withoutRun = { lease: null, leased_until: null };
  if (row.enabled === 0) return { status: 'paused', next_run_at: null, ...withoutRun };
  const begins = change.enabled === 1 || change.targets !== undefined;
  if (row.type === 'placement') return begins ? { status: 'unknown' } : {};
  if (begins) return { status: 'unknown', next_run_at: isoTime(now), ...withoutRun };
  const isDue = row.next_run_at !== null && Date.parse(row.next_run_at) <= now;
  if (change.frequency === undefined || isDue) return {};
  return { next_run_at: isoTime(nextSlot(row, now)) };
}

function detailsOf(present: MonitorRow, change: Change): Record<string, object> {
  const shown = (column: string, value: unknown) =>
    column === 'enabled' ? value === 1 : column === 'targets' ? JSON.parse(String(value)) : value;
  return Object.fromEntries(
    Object.entries(change).map(([column, value]) => [
      column,
      { from: shown(column, present[column as keyof Change]), to: shown(column, value) },
    ]),
  );
}

/** Due at once; one that is under way is that run. Throws `conflict` for one that is not run. */
export async function runNow(tx: Tx, author: Changer, present: MonitorRow): Promise<MonitorRow> {
  const { id, type, enabled } = present;
  if (enabled === 0)
    throw new AppError(
      'conflict',
      `The monitor is switched off: switch it on first (PATCH /v1/monitors/${id} with {"enabled": true}).`,
    );
  if (type === 'placement') throw new AppError('conflict', NO_SEEDS);
  const { app } = author;
  const next_run_at = isoTime(app.clock.now());
  await tx.updateTable('monitors').set({ next_run_at }).where('id', '=', id).execute();
  await note(tx, author, 'run', id, {});
  wakeAfter(tx, app);
  return { ...present, next_run_at };
}

/** With its runs. */
export async function deleteMonitor(
  tx: Tx,
  author: Changer,
  { id, name, type }: MonitorRow,
): Promise<void> {
  await tx.deleteFrom('monitors').where('id', '=', id).execute();
  await note(tx, author, 'deleted', id, { name, type });
}

/** With their domain, which is deleted in the same transaction. */
export async function deleteMonitorsOf(
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
    await note(tx, author, 'deleted', id, { name, type, with_domain: domain });
}

function wakeAfter(tx: Tx, { scheduler }: Pick<App, 'scheduler'>): void {
  afterCommit(tx, () => scheduler.wake(RUN_MONITORS_JOB));
}

async function note(tx: Tx, author: Author, what: string, id: string, details: object) {
  const object = { type: 'monitor', id };
  await audit(tx, author, { action: `monitor.${what}`, object, details: { ...details } });
}
