/** The seed mailboxes in the database: which node looks into each, and whether it can be read. */

import type { App } from '../app.ts';
import { PREFIX } from '../config/config.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { type Observed, observed } from '../events/observations.ts';
import { isoTime } from '../lib/clock.ts';
import { isTransient } from '../net/account-error.ts';
import { claimRows } from '../store/leases.ts';
import { type Db, lockIn, transact } from '../store/open.ts';
import type { SeedMailboxRow } from '../store/tables.generated.ts';

/** Renewed while a node looks into the mailbox. */
export const LEASE_MS = 120_000;
/** Longer than a single read or clean-up takes, which renew nothing. */
export const SINGLE_LEASE_MS = 600_000;

/** Adds rows for new seed mailboxes of the configuration. Those of removed ones stay without effect. */
export async function registerSeeds({ db, config }: Pick<App, 'db' | 'config'>): Promise<void> {
  for (const { name, provider, address } of config.SEED_MAILBOXES)
    await db
      .insertInto('seed_mailboxes')
      .values({
        id: name,
        provider,
        address,
        next_look_at: null,
        last_read_at: null,
        failures: 0,
        error: null,
        error_detail: null,
        lease: null,
        leased_until: null,
        failing_since: null,
      })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ provider, address }))
      .execute();
}

/** Claims mailboxes that a test needs and no node looks into. */
export async function claimSeeds(
  app: App,
  names: string[],
): Promise<(HeldSeed & Pick<SeedMailboxRow, 'failures'>)[]> {
  if (names.length === 0) return [];
  const due = app.db
    .selectFrom('seed_mailboxes')
    .select(['id', 'failures'])
    .where('id', 'in', names)
    .where(({ eb, or }) =>
      or([eb('next_look_at', 'is', null), eb('next_look_at', '<=', isoTime(app.clock.now()))]),
    )
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('placements')
          .select('placements.seed')
          .whereRef('placements.seed', '=', 'seed_mailboxes.id')
          .where('placements.settled_at', 'is', null),
      ),
    )
    .orderBy('id')
    .limit(names.length);
  return claimRows(app, { table: 'seed_mailboxes', due, leaseMs: LEASE_MS });
}

export interface HeldSeed {
  id: string;
  lease: string;
}

/** Lets other nodes look into a mailbox. */
export async function releaseSeed(db: Db, { id, lease }: HeldSeed): Promise<void> {
  await db
    .updateTable('seed_mailboxes')
    .set({ lease: null, leased_until: null })
    .where('id', '=', id)
    .where('lease', '=', lease)
    .execute();
}

/** The names of the mailboxes that are still leased so. One claim gives all its mailboxes the same lease. */
export async function heldSeeds(db: Db, leases: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('seed_mailboxes')
    .select('id')
    .where('lease', 'in', leases)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** A look into a seed mailbox that failed, or the first one after failures. */
export interface SeedObservation extends Observed {
  kind: 'seed';
  seed: SeedMailboxRow;
  /** In milliseconds since the Unix epoch. */
  at: number;
}

declare module '../events/observations.ts' {
  interface Observations {
    seed: SeedObservation;
  }
}

/** Records that a mailbox was read, or why not. Does nothing if this node has lost the mailbox. */
export async function recordLook(
  app: Pick<App, 'db' | 'clock' | 'subscribers'>,
  { id, lease }: HeldSeed,
  state: Pick<SeedMailboxRow, 'failures' | 'error' | 'error_detail' | 'next_look_at'> & {
    last_read_at?: string;
  },
): Promise<void> {
  const at = app.clock.now();
  await transact(app.db, async (tx) => {
    const held = tx
      .selectFrom('seed_mailboxes')
      .selectAll()
      .where('id', '=', id)
      .where('lease', '=', lease);
    const before = await lockIn(tx, held).executeTakeFirst();
    if (!before) return;
    const failing_since = state.error === null ? null : (before.failing_since ?? isoTime(at));
    const seed: SeedMailboxRow = { ...before, ...state, failing_since };
    await tx
      .updateTable('seed_mailboxes')
      .set({ ...state, failing_since })
      .where('id', '=', id)
      .execute();
    if (before.error === null && seed.error === null) return;
    await app.subscribers.publish(observed, tx, [
      { kind: 'seed', subject: id, domainId: null, seed, at },
    ]);
  });
}

/** The mailboxes that could not be read when a test last needed them. */
export const failingSeeds = (
  db: Db,
  names: string[],
): Promise<Pick<SeedMailboxRow, 'id' | 'provider' | 'error'>[]> =>
  db
    .selectFrom('seed_mailboxes')
    .select(['id', 'provider', 'error'])
    .where('id', 'in', names)
    .where('error', 'is not', null)
    .orderBy('id')
    .execute();

/** All configured mailboxes with their state, in the order of the configuration; undefined before the first start. */
export async function seedStates({
  db,
  config,
}: Pick<App, 'db' | 'config'>): Promise<{ seed: SeedMailbox; row: SeedMailboxRow | undefined }[]> {
  const seeds = config.SEED_MAILBOXES;
  if (seeds.length === 0) return [];
  const names = seeds.map(({ name }) => name);
  const rows = await db.selectFrom('seed_mailboxes').selectAll().where('id', 'in', names).execute();
  return seeds.map((seed) => ({ seed, row: rows.find(({ id }) => id === seed.name) }));
}

/** Errors whose detail names the command that helps. */
const SIGN_IN_ERRORS = ['sign_in_required', 'sign_in_expired', 'wrong_account'];

/** Whether only somebody who signs in can help. */
export const isSignInProblem = (error: string): boolean => SIGN_IN_ERRORS.includes(error);

const ERROR_WORDS: Record<string, string> = {
  unreachable: 'server unreachable',
  tls_failed: 'TLS failed',
  sign_in_failed: 'sign-in rejected',
  sign_in_required: 'not signed in',
  sign_in_expired: 'sign-in expired',
  wrong_account: 'wrong account',
  throttled: 'rate limit reached',
  timeout: 'no response',
  closed: 'connection closed',
  bad_response: 'invalid response',
  refused: 'request rejected',
};

/** A few words for the code of an error. */
export const seedErrorWords = (error: string): string =>
  Object.hasOwn(ERROR_WORDS, error) ? ERROR_WORDS[error]! : error.replaceAll('_', ' ');

/** What to do about a mailbox that can’t be read. The detail of its error comes before it. */
export const seedAdvice = (error: string): string =>
  isSignInProblem(error)
    ? 'After you sign in, the service continues automatically.'
    : isTransient(error)
      ? `Check the server name in ${PREFIX}SEED_MAILBOXES and the connection from this machine. The service keeps retrying.`
      : `Fix the entry in ${PREFIX}SEED_MAILBOXES, then restart the service. docs/seed-mailboxes.md explains how to get access to each provider.`;
