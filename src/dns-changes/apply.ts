/**
 * Applies changes at a name server: stored first, then made, then recorded with their outcome. A change whose node stopped
 * in between is settled by a job, which reads the records.
 */

import type { App } from '../app.ts';
import { requestCheck } from '../domains/transitions.ts';
import { VERIFY_JOB } from '../domains/verify-job.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import { audited, rowsOf } from '../store/audited.ts';
import { timeIn } from '../store/database-clock.ts';
import { afterCommit, lockIn, type Tx, transact } from '../store/open.ts';
import type { DnsChangeRow, DnsServerRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { type Author, audit } from '../team/audit.ts';
import { DnsServerError, hasSameValues, type NameServer, type RecordSet } from './server.ts';
import { openServer } from './stored-servers.ts';

export const AUDITED_CHANGE = audited({
  type: 'dns_change',
  name: 'DNS change',
  actions: ['dns_change.requested', 'dns_change.failed', 'dns_change.not_confirmed'],
  page: (id) => `/dns/changes/${id}`,
  withPage: rowsOf('dns_changes'),
});

/** Longer than one change and its record can take. */
export const LEASE_MS = 120_000;
const MAX_REPLACE_MS = 40_000;
const MAX_READ_MS = 15_000;

export interface Change {
  zone: string;
  before: RecordSet;
  after: RecordSet;
  reason: string;
  undoes?: string;
}

type StoredSet = Pick<RecordSet, 'values' | 'ttl'>;

const stored = ({ values, ttl }: RecordSet): string => JSON.stringify({ values, ttl });

export const setOf = (
  { name, type }: Pick<DnsChangeRow, 'name' | 'type'>,
  json: string,
): RecordSet => ({ name, type, ...(JSON.parse(json) as StoredSet) });

/** Stores changes that are about to be made, with audit entries. Throws `conflict` if one of them is being made. */
export async function beginChanges(
  tx: Tx,
  author: Author & { app: App },
  { id: server_id, name: serverName }: Pick<DnsServerRow, 'id' | 'name'>,
  domain_id: string | null,
  changes: Change[],
): Promise<DnsChangeRow[]> {
  const { app } = author;
  const rows: DnsChangeRow[] = [];
  for (const { zone, before, after, reason, undoes = null } of changes) {
    const { name, type } = before;
    const row: DnsChangeRow = {
      id: app.newId('chg'),
      server_id,
      domain_id,
      zone,
      name,
      type,
      reason,
      undoes,
      before: stored(before),
      after: stored(after),
      status: 'applying',
      error: null,
      created_at: isoTime(app.clock.now()),
      finished_at: null,
      leased_until: null,
    };
    const inserted = await tx
      .insertInto('dns_changes')
      .values({ ...row, leased_until: timeIn(app.clock, LEASE_MS) })
      .onConflict((conflict) => conflict.doNothing())
      .returning('leased_until')
      .executeTakeFirst();
    if (!inserted)
      throw new AppError(
        'conflict',
        `The ${type} records at ${name} are being changed right now. Make a new plan in a minute.`,
      );
    await audit(tx, author, AUDITED_CHANGE, 'dns_change.requested', row.id, {
      server: serverName,
      name,
      type,
      from: before.values,
      to: after.values,
      ...(undoes === null ? {} : { undoes }),
    });
    rows.push({ ...row, ...inserted });
  }
  return rows;
}

/** Makes the changes one after another, and records what came of each. Call outside of a transaction. */
export async function makeChanges(
  app: App,
  author: Author,
  server: DnsServerRow,
  rows: DnsChangeRow[],
): Promise<DnsChangeRow[]> {
  const done: DnsChangeRow[] = [];
  let held = rows;
  for (const { id } of rows) {
    held = await renewLeases(app, held);
    const row = held.find((one) => one.id === id);
    done.push(
      row
        ? await finishChange(app, author, row, await makeChange(app, server, row))
        : await storedChange(app, id),
    );
  }
  await checkAgain(app, done);
  return done;
}

/** The changes that still belong to this node, with their new leases. The others belong to the job that settles them. */
async function renewLeases({ db, clock }: App, rows: DnsChangeRow[]): Promise<DnsChangeRow[]> {
  if (rows.length === 0) return [];
  const renewed = await untilAvailable(() =>
    db
      .updateTable('dns_changes')
      .set({ leased_until: timeIn(clock, LEASE_MS) })
      .where('status', '=', 'applying')
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      // The job sets another time.
      .where(
        'leased_until',
        'in',
        rows.map(({ leased_until }) => leased_until),
      )
      .returning(['id', 'leased_until'])
      .execute(),
  );
  return rows.flatMap((row) => {
    const lease = renewed.find(({ id }) => id === row.id);
    return lease ? [{ ...row, ...lease }] : [];
  });
}

const storedChange = ({ db }: App, id: string): Promise<DnsChangeRow> =>
  untilAvailable(() =>
    db.selectFrom('dns_changes').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
  );

/** What came of a change. It is still `applying` if that is not known: a job finds out. */
type Result = Pick<DnsChangeRow, 'status' | 'error'>;

const APPLIED: Result = { status: 'applied', error: null };
const failed = (error: string): Result => ({ status: 'failed', error });

async function makeChange(app: App, server: DnsServerRow, row: DnsChangeRow): Promise<Result> {
  const open = (ms: number) => openServer(app, server, AbortSignal.timeout(ms));
  try {
    await open(MAX_REPLACE_MS).replace(row.zone, setOf(row, row.before), setOf(row, row.after));
    return APPLIED;
  } catch (error) {
    if (error instanceof AppError) return failed(error.detail);
    const isExpected = error instanceof DnsServerError;
    if (isExpected && !error.mayHaveChanged) return failed(error.message);
    if (!isExpected)
      app.log.error('could not change DNS records', {
        change: row.id,
        error: errorMessage(error),
        fault: error instanceof Error ? error.stack : undefined,
      });
    const message = isExpected ? error.message : 'An internal error occurred.';
    const found = await outcomeOf(open(MAX_READ_MS), row);
    if (found === 'unknown') return { status: 'applying', error: `${message}${NOT_KNOWN_YET}` };
    return settled(found, message);
  }
}

const NOT_KNOWN_YET =
  ' It is not known yet whether the records were changed: the service reads them again.';

type Outcome = 'made' | 'not_made' | 'other' | 'unknown';

const OUTCOMES: Record<Exclude<Outcome, 'made'>, string> = {
  not_made: 'The records have not changed.',
  other: 'The records are neither the old ones nor the planned ones. Check them.',
  unknown: 'It is unknown whether the records were changed. Check them.',
};

/** `detail`: why the server did not confirm the change. */
const settled = (outcome: Outcome, detail: string): Result =>
  outcome === 'made'
    ? APPLIED
    : {
        status: outcome === 'not_made' ? 'failed' : 'unknown',
        error: `${detail} ${OUTCOMES[outcome]}`,
      };

/** Never rejects. */
async function outcomeOf(server: NameServer, row: DnsChangeRow): Promise<Outcome> {
  try {
    const found = await server.read(row.zone, row.name, row.type);
    const isAs = (json: string) => hasSameValues(found, setOf(row, json));
    return isAs(row.after) ? 'made' : isAs(row.before) ? 'not_made' : 'other';
  } catch {
    return 'unknown';
  }
}

/** Of the entries in the audit log. A change that was made has the entry of its request only. */
const ACTIONS = { failed: 'dns_change.failed', unknown: 'dns_change.not_confirmed' } as const;

/**
 * Records the result, unless another node has settled the change. One that was made stays neither `failed` nor
 * `unknown`. Returns the current row.
 */
async function finishChange(
  app: App,
  author: Author,
  row: DnsChangeRow,
  { status, error }: Result,
): Promise<DnsChangeRow> {
  return untilAvailable(() =>
    transact(app.db, async (tx) => {
      const query = tx.selectFrom('dns_changes').selectAll().where('id', '=', row.id);
      const current = await lockIn(tx, query).executeTakeFirstOrThrow();
      const isReplaced =
        current.status === 'applying' ||
        (status === 'applied' && ['failed', 'unknown'].includes(current.status));
      if (!isReplaced) return current;
      const finished_at = status === 'applying' ? null : isoTime(app.clock.now());
      const outcome = { status, error, finished_at, leased_until: null };
      await tx.updateTable('dns_changes').set(outcome).where('id', '=', row.id).execute();
      if (status === 'failed' || status === 'unknown')
        await audit(tx, author, AUDITED_CHANGE, ACTIONS[status], row.id, { reason: error });
      if (status === 'applied' && row.undoes !== null) await markUndone(tx, row.undoes);
      return { ...current, ...outcome };
    }),
  );
}

/** If it was an undoing itself, the change that it had undone is in effect again. */
async function markUndone(tx: Tx, id: string): Promise<void> {
  const undone = await tx
    .updateTable('dns_changes')
    .set({ status: 'undone', error: null })
    .where('id', '=', id)
    .returning('undoes')
    .executeTakeFirst();
  if (!undone?.undoes) return;
  await tx
    .updateTable('dns_changes')
    .set({ status: 'applied' })
    .where('id', '=', undone.undoes)
    .where('status', '=', 'undone')
    .execute();
}

/** The domains of changes that were made are checked at once, past our own cache. */
async function checkAgain(app: App, rows: DnsChangeRow[]): Promise<void> {
  const applied = rows.filter(({ status }) => status === 'applied');
  for (const { name } of applied) app.forgetDns(name);
  const ids = [...new Set(applied.flatMap(({ domain_id }) => domain_id ?? []))];
  if (ids.length === 0) return;
  await untilAvailable(() =>
    transact(app.db, async (tx) => {
      for (const id of ids) await requestCheck(tx, app, id);
      afterCommit(tx, () => app.scheduler.wake(VERIFY_JOB));
    }),
  );
}

/** While the server does not answer, a change is not settled for this long. */
const SETTLE_TIMEOUT_MS = HOUR_MS;

/** Settles a change whose node stopped: by what the name server has now, or with the reason why it can't be asked. */
export async function settleChange(
  app: App,
  server: NameServer | string,
  row: DnsChangeRow,
): Promise<void> {
  const author: Author = { app, actor: null, caller: { ip: null } };
  const outcome = typeof server === 'string' ? 'unknown' : await outcomeOf(server, row);
  const age = app.clock.now() - Date.parse(row.created_at);
  if (outcome === 'unknown' && typeof server !== 'string' && age < SETTLE_TIMEOUT_MS) return;
  const earlier = row.error?.replace(NOT_KNOWN_YET, '') ?? 'The service stopped during the change.';
  const detail = typeof server === 'string' ? server : earlier;
  await checkAgain(app, [await finishChange(app, author, row, settled(outcome, detail))]);
}
