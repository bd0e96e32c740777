/**
 * Applies changes at a name server: stored first, then made, then recorded with their outcome. A change whose node stopped
 * in between is settled by a job, which reads the records.
 */

import type { App } from '../app.ts';
import { requestCheck } from '../domains/transitions.ts';
import { VERIFY_JOB } from '../domains/verify-job.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import { timeIn } from '../store/database-clock.ts';
import { afterCommit, lockIn, type Tx, transact } from '../store/open.ts';
import type { DnsChangeRow, DnsServerRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { type Author, audit } from '../team/audit.ts';
import { DnsServerError, hasSameValues, type NameServer, type RecordSet } from './server.ts';

/** Longer than a server can take for one change. */
export const LEASE_MS = 120_000;

/** A change to make. */
export interface Change {
  zone: string;
  before: RecordSet;
  after: RecordSet;
  reason: string;
  /** The ID of the change that it undoes. */
  undoes?: string;
}

/** How a set is stored, beside its name and type. */
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
      ...{ id: app.newId('chg'), server_id, domain_id, zone, name, type, reason, undoes },
      ...{ before: stored(before), after: stored(after), status: 'applying', error: null },
      ...{ created_at: isoTime(app.clock.now()), finished_at: null, leased_until: null },
    };
    const inserted = await tx
      .insertInto('dns_changes')
      .values({ ...row, leased_until: timeIn(app.clock, LEASE_MS) })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (Number(inserted.numInsertedOrUpdatedRows ?? 0) === 0)
      throw new AppError(
        'conflict',
        `The ${type} records at ${name} are being changed right now. Make a new plan in a minute.`,
      );
    await auditChange(tx, author, 'requested', row, {
      ...{ server: serverName, name, type, from: before.values, to: after.values },
      ...(undoes === null ? {} : { undoes }),
    });
    rows.push(row);
  }
  return rows;
}

async function auditChange(
  tx: Tx,
  author: Author,
  verb: string,
  { id }: Pick<DnsChangeRow, 'id'>,
  details: Record<string, unknown>,
): Promise<void> {
  await audit(tx, author, {
    ...{ action: `dns_change.${verb}`, object: { type: 'dns_change', id }, details },
  });
}

/** Makes the changes one after another, and records what came of each. Call outside of a transaction. */
export async function makeChanges(
  app: App,
  author: Author,
  server: NameServer,
  rows: DnsChangeRow[],
): Promise<DnsChangeRow[]> {
  const done: DnsChangeRow[] = [];
  for (const row of rows) {
    await renewLease(app, row);
    const error = await makeChange(app, server, row);
    done.push(await finishChange(app, author, row, error));
  }
  await checkAgain(app, done);
  return done;
}

async function renewLease({ db, clock }: App, { id }: DnsChangeRow): Promise<void> {
  await untilAvailable(() =>
    db
      .updateTable('dns_changes')
      .set({ leased_until: timeIn(clock, LEASE_MS) })
      .where('id', '=', id)
      .where('status', '=', 'applying')
      .execute(),
  );
}

/** Null if the change was made, otherwise what went wrong. */
async function makeChange(app: App, server: NameServer, row: DnsChangeRow): Promise<string | null> {
  const [before, after] = [setOf(row, row.before), setOf(row, row.after)];
  try {
    await server.replace(row.zone, before, after);
    return null;
  } catch (error) {
    if (!(error instanceof DnsServerError)) {
      app.log.error('could not change DNS records', {
        change: row.id,
        error: errorMessage(error),
        fault: error instanceof Error ? error.stack : undefined,
      });
      return 'An internal error occurred. Check the records before you try again.';
    }
    if (!error.mayHaveChanged) return error.message;
    const found = await outcomeOf(server, row);
    return found === 'made' ? null : `${error.message} ${OUTCOMES[found]}`;
  }
}

/** What the records say about a change that may have been made. */
type Outcome = 'made' | 'not_made' | 'other' | 'unknown';

const OUTCOMES: Record<Exclude<Outcome, 'made'>, string> = {
  not_made: 'The records have not changed.',
  other: 'The records are neither the old ones nor the planned ones. Check them.',
  unknown: 'It is unknown whether the records were changed. Check them.',
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

/** Records the outcome, unless another node has settled the change. Returns the current row. */
async function finishChange(
  app: App,
  author: Author,
  row: DnsChangeRow,
  error: string | null,
): Promise<DnsChangeRow> {
  return untilAvailable(() =>
    transact(app.db, async (tx) => {
      const query = tx.selectFrom('dns_changes').selectAll().where('id', '=', row.id);
      const current = await lockIn(tx, query).executeTakeFirstOrThrow();
      if (current.status !== 'applying') return current;
      const outcome = {
        status: error === null ? ('applied' as const) : ('failed' as const),
        ...{ error, finished_at: isoTime(app.clock.now()), leased_until: null },
      };
      await tx.updateTable('dns_changes').set(outcome).where('id', '=', row.id).execute();
      if (error !== null) await auditChange(tx, author, 'failed', row, { reason: error });
      else if (row.undoes !== null)
        await tx
          .updateTable('dns_changes')
          .set({ status: 'undone' })
          .where('id', '=', row.undoes)
          .execute();
      return { ...current, ...outcome };
    }),
  );
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
const SETTLE_TIMEOUT_MS = 3_600_000;

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
  const detail = typeof server === 'string' ? server : 'The service stopped during the change.';
  const error = outcome === 'made' ? null : `${detail} ${OUTCOMES[outcome]}`;
  await checkAgain(app, [await finishChange(app, author, row, error)]);
}
