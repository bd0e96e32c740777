/** The accounts in the database: which node fetches from each, and whether it works. */

import type { App } from '../app.ts';
import type { ReceiverAccount } from '../config/receivers.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { claimRows } from '../store/leases.ts';
import { type HeldAccount, LEASE_MS } from './fetch.ts';

/** Adds rows for new accounts of the configuration. Those of removed ones stay without effect. */
export async function registerReceivers(app: App): Promise<void> {
  const { db, config } = app;
  for (const account of config.RECEIVERS) {
    const { name, receiver } = account;
    await db
      .insertInto('receivers')
      .values({
        id: name,
        receiver,
        next_fetch_at: null,
        attempted_at: null,
        fetched_at: null,
        failures: 0,
        problem: null,
        problem_detail: null,
        failing_since: null,
        lease: null,
        leased_until: null,
        access: null,
        access_since: null,
        state: null,
      })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ receiver }))
      .execute();
    // The configuration may be right now. A receiver that is busy still is.
    await db
      .updateTable('receivers')
      .set({ next_fetch_at: null })
      .where('id', '=', name)
      .where('problem', 'is not', null)
      .where('problem', '<>', 'throttled')
      .execute();
    await noteAccess(app, account);
  }
}

/** Records since when the account has its key or its sign-in, if it is new. */
async function noteAccess({ db, clock, secrets }: App, account: ReceiverAccount): Promise<void> {
  const key = 'key' in account ? account.key : null;
  const access = key === null ? null : secrets.token(key, 'receiver key');
  const row = await db
    .selectFrom('receivers')
    .leftJoin('receiver_credentials as credential', 'credential.id', 'receivers.id')
    .select(['access', 'access_since', 'stored_at'])
    .where('receivers.id', '=', account.name)
    .executeTakeFirstOrThrow();
  if (row.access === access && row.access_since !== null) return;
  const access_since = access === null ? row.stored_at : isoTime(clock.now());
  await db
    .updateTable('receivers')
    .set({ access, access_since })
    .where('id', '=', account.name)
    .execute();
}

/** No fetch is planned further ahead, unless the clock was wrong. */
const MAX_PLANNED_MS = 25 * HOUR_MS;
/** People add several domains one after another. */
const NEW_DOMAIN_DELAY_MS = 300_000;

/** Claims accounts that are due, and those at Google that may show a new domain of the team. */
export async function claimDue(app: App, limit: number): Promise<HeldAccount[]> {
  const names = app.config.RECEIVERS.map(({ name }) => name);
  if (names.length === 0) return [];
  const now = app.clock.now();
  const due = app.db
    .selectFrom('receivers')
    .selectAll()
    .where('id', 'in', names)
    .where(({ eb, or, and, selectFrom }) =>
      or([
        eb('next_fetch_at', 'is', null),
        eb('next_fetch_at', '<=', isoTime(now)),
        eb('next_fetch_at', '>', isoTime(now + MAX_PLANNED_MS)),
        and([
          eb('receiver', '=', 'google_postmaster'),
          eb('problem', 'is', null),
          eb('attempted_at', '<', isoTime(now - NEW_DOMAIN_DELAY_MS)),
          // IDs are in the order of creation. Any other condition would read all domains, once a second.
          eb.between(
            selectFrom('domains').select('created_at').orderBy('id', 'desc').limit(1),
            eb.ref('receivers.attempted_at'),
            // Later ones, added while the clock was wrong, would be new for years.
            isoTime(now),
          ),
        ]),
      ]),
    )
    .orderBy('id')
    .limit(limit);
  return claimRows(app, { table: 'receivers', due, leaseMs: LEASE_MS });
}

/** Claims an account whether it is due or not. Null if another node or process fetches from it. */
export async function claimAccount(
  app: App,
  { name }: Pick<ReceiverAccount, 'name'>,
): Promise<HeldAccount | null> {
  const due = app.db.selectFrom('receivers').selectAll().where('id', '=', name).limit(1);
  const [held] = await claimRows(app, { table: 'receivers', due, leaseMs: LEASE_MS });
  return held ?? null;
}
