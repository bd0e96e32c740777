/**
 * Public tests: anyone gets a test address from the front page, and a report behind a link that nobody can guess.
 * They are apart from the data of the team: a mode of their own keeps them out of its lists, summaries, alerts,
 * events and domains.
 */

import type { App } from '../app.ts';
import type { Caller } from '../http/actor.ts';
import { requireSpare } from '../http/disk-space.ts';
import { addressGroup } from '../http/rate-limit.ts';
import type { Transact } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import { deleteLaterChunks } from '../store/chunks.ts';
import { afterCommit, lockIn, lockName, type Tx, transact } from '../store/open.ts';
import { inSteps } from '../store/steps.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { deleteOldTestRows, deleteTests, insertTest, newTestRow } from './queries.ts';

/** The value of `livemode` in rows: 1 is live, 0 is test mode. */
const PUBLIC_MODE = 2;

export const isPublic = ({ livemode }: Pick<TestRow, 'livemode'>): boolean =>
  livemode === PUBLIC_MODE;

/** How long a visitor can send the message, in seconds. */
const WAIT_SECONDS = 3600;
/** Links work this long after the test was created. */
export const PUBLIC_RETENTION_MS = 7 * DAY_MS;

/**
 * Creates a test for a visitor. Returns the token of its link. Throws `rate_limited` if the client, an
 * IPv4 address or an IPv6 /64, or all clients together have reached the limit of the last 24 hours.
 */
export async function createPublicTest({
  app,
  caller,
  transact,
}: {
  app: App;
  caller: Pick<Caller, 'ip'>;
  transact: Transact;
}): Promise<string> {
  await requireSpare(app);
  const token = randomSecret();
  // Keyed, so that the database does not tell who tested.
  const public_client = app.secrets.token(addressGroup(caller.ip), 'client of public tests');
  const row: TestRow = {
    ...newTestRow(app, { kind: 'auto', metadata: {}, expires_in: WAIT_SECONDS, livemode: true }),
    livemode: PUBLIC_MODE,
    public_hash: sha256(token),
    public_client,
  };
  await transact(async (tx) => {
    await requireQuota(tx, app, public_client);
    await insertTest(tx, row);
  });
  return token;
}

async function requireQuota(tx: Tx, { clock, config }: App, client: string): Promise<void> {
  await lockName(tx, 'public tests');
  const since = isoTime(clock.now() - DAY_MS);
  const recent = tx
    .selectFrom('tests')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('public_hash', 'is not', null)
    .where('created_at', '>', since);
  const own = await recent.where('public_client', '=', client).executeTakeFirstOrThrow();
  if (Number(own.count) >= config.PUBLIC_TESTS_PER_CLIENT)
    throw new AppError(
      'rate_limited',
      `You have used your ${config.PUBLIC_TESTS_PER_CLIENT} tests of the last 24 hours. Try again tomorrow.`,
    );
  const all = await recent.executeTakeFirstOrThrow();
  if (Number(all.count) >= config.PUBLIC_TESTS_PER_DAY)
    throw new AppError(
      'rate_limited',
      'This service has reached its limit of public tests for today. Try again tomorrow.',
    );
}

/** Locks the test in a transaction. Throws `not_found` for an unknown or expired link, and for all links while public tests are disabled. */
export async function publicTestOr404(
  { db, clock, config }: Pick<App, 'db' | 'clock' | 'config'>,
  token: string,
): Promise<TestRow> {
  const row = config.PUBLIC_TESTS
    ? await lockIn(
        db,
        db
          .selectFrom('tests')
          .selectAll()
          .where('public_hash', '=', sha256(token))
          .where('created_at', '>', isoTime(clock.now() - PUBLIC_RETENTION_MS)),
      ).executeTakeFirst()
    : undefined;
  if (!row) throw new AppError('not_found', 'This test was deleted, or the link is not complete.');
  return row;
}

/**
 * Deletes the test and its message. The link stops working immediately. An empty row stays in place of the test, which
 * still counts toward the limits: otherwise they would allow any number of tests to a client that deletes each.
 */
export async function deletePublicTest(tx: Tx, app: App, token: string): Promise<void> {
  const { id, created_at, public_client } = await publicTestOr404({ ...app, db: tx }, token);
  await deleteTests(tx, [id]);
  await insertTest(tx, {
    ...newTestRow(app, { kind: 'auto', metadata: {}, expires_in: 0, livemode: true }),
    livemode: PUBLIC_MODE,
    status: 'failed',
    created_at,
    public_hash: sha256(randomSecret()),
    public_client,
  });
  afterCommit(tx, () => app.signals.raise(id));
}

/** Deletes public tests whose links have expired. */
export async function deleteOldPublicTests({ db, clock }: App): Promise<void> {
  const cutoff = isoTime(clock.now() - PUBLIC_RETENTION_MS);
  await inSteps(async (limit) => {
    const { deleted, large } = await transact(db, async (tx) => {
      const old = await tx
        .selectFrom('tests')
        .select('id')
        .where('public_hash', 'is not', null)
        .where('created_at', '<=', cutoff)
        .limit(limit)
        .execute();
      const ids = old.map(({ id }) => id);
      return { deleted: ids.length, large: ids.length > 0 ? await deleteOldTestRows(tx, ids) : [] };
    });
    await deleteLaterChunks(db, large);
    return deleted;
  });
}
