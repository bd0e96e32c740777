/** Tests in the database: create, find, list, change, delete. */

import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { App } from '../app.ts';
import { fetchPage, type Page, selectPage } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { randomToken } from '../lib/crypto.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import { idAt } from '../lib/ids.ts';
import {
  afterCommit,
  type Db,
  lockIn,
  type PreparedParameter,
  passedOn,
  prepared,
  type Tx,
} from '../store/open.ts';
import { contains } from '../store/queries.ts';
import type { MessageRow, Tables, TestRow } from '../store/tables.generated.ts';
import { deleteMessages } from './messages.ts';
import type { ListedRow, PresentedRow } from './present.ts';
import type { TestExportQuery, TestFilters } from './schemas/filter.ts';
import type { NewTest } from './schemas/request.ts';
import { readTags } from './tags.ts';

/** In characters: 80 bits, too many to guess. */
export const TOKEN_LENGTH = 16;

const EMPTY_RESULT = {
  failure_reason: null,
  received_at: null,
  completed_at: null,
  from_address: null,
  from_domain: null,
  subject: null,
  message_size: null,
  spf: null,
  dkim: null,
  dmarc: null,
  score: null,
  grade: null,
  summary: null,
  coverage: null,
  ruleset: null,
  line_ends_converted: 0,
  analysis_due_at: null,
  analysis_attempts: 0,
  lease: null,
  leased_until: null,
  keep_until: null,
  previous: null,
  envelope: null,
  categories: null,
  cap: null,
  search: '',
  checks: null,
  judged_kind: null,
  providers: null,
  domain_id: null,
  public_hash: null,
  public_client: null,
  placement_status: 'none',
  placement_samples: 0,
  placement_inbox: 0,
  placement_summary: null,
  placement: null,
  placement_counts: null,
  monitor_id: null,
  inbox_id: null,
  limited_to: null,
} satisfies Partial<TestRow>;

/** Columns that lists don't need. Most are large. */
const UNLISTED = [
  'checks',
  'envelope',
  'search',
  'providers',
  'public_hash',
  'public_client',
  'placement',
  'placement_counts',
  'limited_to',
] as const;
type Unlisted = (typeof UNLISTED)[number];

const LISTED_COLUMNS = [
  'id',
  'token',
  'livemode',
  'name',
  'kind',
  'metadata',
  'status',
  'created_at',
  'expires_at',
  ...(Object.keys(EMPTY_RESULT) as (keyof typeof EMPTY_RESULT)[]).filter(
    (column): column is Exclude<keyof typeof EMPTY_RESULT, Unlisted> =>
      !(UNLISTED as readonly string[]).includes(column),
  ),
] as const;

export interface NewTestFields extends Pick<NewTest, 'kind' | 'metadata' | 'expires_in'> {
  name?: string | null;
  domain_id?: string | null;
  livemode: boolean;
  limit?: string[] | null;
}

/** The row of a new test that waits for its message. It is not stored yet. */
export function newTestRow(
  { clock, newId }: Pick<App, 'clock' | 'newId'>,
  fields: NewTestFields,
): TestRow {
  const now = clock.now();
  return {
    ...EMPTY_RESULT,
    id: newId('test'),
    token: randomToken(TOKEN_LENGTH),
    livemode: fields.livemode ? 1 : 0,
    name: fields.name ?? null,
    search: searchText({ name: fields.name ?? null, subject: null, from_address: null }),
    kind: fields.kind,
    metadata: JSON.stringify(fields.metadata),
    domain_id: fields.domain_id ?? null,
    limited_to: fields.limit ? JSON.stringify(fields.limit) : null,
    status: 'waiting',
    created_at: isoTime(now),
    expires_at: isoTime(now + fields.expires_in * 1000),
  };
}

/** Stores a new test. */
export async function insertTest(db: Db | Tx, row: TestRow): Promise<void> {
  await db.insertInto('tests').values(row).execute();
}

/** A test of this mode, or undefined: a key never sees tests of the other mode. */
export async function findTest(
  db: Db | Tx,
  id: string,
  livemode: boolean,
): Promise<TestRow | undefined> {
  return db
    .selectFrom('tests')
    .selectAll()
    .where('id', '=', id)
    .where('livemode', '=', livemode ? 1 : 0)
    .executeTakeFirst();
}

/** The test with this local part in its address, in any case; undefined if there is none. Locks it in a transaction. */
export async function findTestByToken(db: Db | Tx, token: string) {
  const [test] = await findByToken(db, { token: token.toLowerCase() });
  return test;
}

const findByToken = prepared((db, parameter: PreparedParameter<{ token: string }>) =>
  lockIn(
    db,
    db
      .selectFrom('tests')
      .select(['id', 'status', 'expires_at', 'livemode', 'name', 'kind', 'limited_to'])
      .where('token', '=', parameter('token')),
  ),
);

/** A test in a list. */
export interface ListedTestRow {
  row: ListedRow;
  tags: string[];
}

/** One page of the matching tests of this mode, newest first. */
export async function listTests(
  db: Db,
  livemode: boolean,
  { limit, starting_after, ending_before, ...filters }: TestFilters & Page,
): Promise<{ tests: ListedTestRow[]; hasMore: boolean }> {
  const page = { limit, starting_after, ending_before };
  const query = filteredTests(db, livemode, filters).select(LISTED_COLUMNS);
  const { rows, hasMore } = await fetchPage(query, page, filteredTests(db, livemode, {}));
  return { tests: await withTags(db, rows), hasMore };
}

async function withTags(db: Db, rows: ListedRow[]): Promise<ListedTestRow[]> {
  const ids = rows.map(({ id }) => id);
  const tags = await readTags(db, ids);
  return rows.map((row) => ({ row, tags: tags.get(row.id) ?? [] }));
}

/** How many tests of this mode match, up to `max`: a list need not count more. */
export async function countTests(
  db: Db,
  livemode: boolean,
  filters: TestFilters,
  max: number,
): Promise<number> {
  const { count } = await db
    .selectFrom(filteredTests(db, livemode, filters).select('id').limit(max).as('matching'))
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function filteredTests(
  db: Db,
  livemode: boolean,
  filters: TestFilters,
): SelectQueryBuilder<Tables, 'tests', object> {
  let query = db.selectFrom('tests').where('livemode', '=', livemode ? 1 : 0);
  // PostgreSQL has no empty lists.
  if (filters.ids !== undefined) query = query.where('id', 'in', ['', ...filters.ids]);
  if (filters.tag !== undefined) {
    const tagged = db
      .selectFrom('test_tags')
      .select('test_id')
      .where('livemode', '=', livemode ? 1 : 0)
      .where('tag', '=', filters.tag);
    query = query.where('id', 'in', tagged);
  }
  if (filters.inbox_id !== undefined) query = query.where('inbox_id', '=', filters.inbox_id);
  if (filters.domain_id !== undefined) query = query.where('domain_id', '=', filters.domain_id);
  if (filters.status) query = query.where('status', '=', filters.status);
  // Literally the condition of the index `tests_status`: with a parameter, SQLite would not use it.
  if (filters.status && filters.status !== 'completed')
    query = query.where(sql<boolean>`status <> 'completed'`);
  if (filters.from_domain) query = query.where('from_domain', '=', filters.from_domain);
  if (filters.name !== undefined) query = query.where('name', '=', filters.name);
  if (filters.from_address !== undefined)
    query = query
      .where(isSender('from_address', filters.from_address))
      // For its index.
      .where('from_domain', '=', addressDomain(filters.from_address) ?? '');
  if (filters.created_after) {
    // An ID is never older than its test, so older IDs need not be read.
    const oldest = idAt('test', Date.parse(filters.created_after));
    query = query.where('id', '>=', oldest).where('created_at', '>=', filters.created_after);
  }
  if (filters.created_before) query = query.where('created_at', '<', filters.created_before);
  if (filters.min_score !== undefined) query = query.where('score', '>=', filters.min_score);
  if (filters.max_score !== undefined) query = query.where('score', '<=', filters.max_score);
  if (filters.q) {
    query = query.where(contains('search', filters.q.toLowerCase()));
  }
  return query;
}

/** Tests can have 10 KB of metadata, and each client of an export holds a batch until it has read it. */
const EXPORT_BATCH_SIZE = 20;

/** All matching tests, newest first, read in batches to limit memory. */
export async function* eachTest(
  db: Db,
  livemode: boolean,
  { completed_after, completed_before, ...filters }: TestExportQuery,
): AsyncGenerator<ListedTestRow> {
  let query = filteredTests(db, livemode, filters).select(LISTED_COLUMNS);
  // Not the bare column: an index on it would sort all matching tests again for each batch.
  const completedAt = sql<string>`coalesce(completed_at, '')`;
  if (completed_after) query = query.where(completedAt, '>=', completed_after);
  if (completed_before)
    query = query.where('completed_at', 'is not', null).where(completedAt, '<', completed_before);
  let lastId: string | undefined;
  for (;;) {
    const page = { limit: EXPORT_BATCH_SIZE, starting_after: lastId };
    // Not checked, because the last test of a batch may be deleted before the next one is read.
    const { rows, hasMore } = await selectPage(query, page);
    yield* await withTags(db, rows);
    if (!hasMore) return;
    lastId = rows.at(-1)!.id;
  }
}

/** Changes a test and its search text. Returns false if the test no longer exists. */
export async function changeTest(
  db: Db,
  changedRow: TestRow,
  change: Partial<TestRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('tests')
    .set({ ...change, search: searchText(changedRow) })
    .where('id', '=', changedRow.id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** In UTF-16 code units. The text is part of an index, whose entries PostgreSQL limits to 2,704 bytes. */
const MAX_SEARCH_LENGTH = 600;

/** Leaves room for the subject. */
const MAX_SENDER_LENGTH = 100;

/**
 * The text that `q` searches: the beginning of name, sender and subject. Lowercased here, because SQL lowercases
 * ASCII only.
 */
export function searchText({
  name,
  subject,
  from_address,
}: Pick<TestRow, 'name' | 'subject' | 'from_address'>): string {
  const sender = (from_address ?? '').slice(0, MAX_SENDER_LENGTH);
  return `${name ?? ''}\n${sender}\n${subject ?? ''}`
    .toLowerCase()
    .slice(0, MAX_SEARCH_LENGTH)
    .toWellFormed();
}

/** Whether the column has this address, in any letter case. Both sides are in the lower case of the database. */
export const isSender = (column: string, address: string | null) =>
  sql<SqlBool>`lower(${sql.ref(column)}) = lower(cast(${address} as text))`;

/**
 * Deletes tests with their messages, except for later chunks of large messages, which it returns for
 * `deleteLaterChunks`.
 */
export async function deleteOldTestRows(
  tx: Tx,
  ids: string[],
): Promise<Pick<MessageRow, 'id' | 'size'>[]> {
  const messages = await tx
    .selectFrom('messages')
    .select(['id', 'size'])
    .where('test_id', 'in', ids)
    .execute();
  const large = await deleteMessages(tx, messages);
  await tx.deleteFrom('tests').where('id', 'in', ids).execute();
  return large;
}

/** Deletes tests with their messages. */
export async function deleteTests(tx: Tx, ids: string[]): Promise<void> {
  const messages = tx.selectFrom('messages').select('id').where('test_id', 'in', ids);
  await tx.deleteFrom('message_chunks').where('message_id', 'in', messages).execute();
  await tx.deleteFrom('tests').where('id', 'in', ids).execute();
}

// Finding the test that a request names.

/** Throws `not_found`, also for a test of the other mode. */
export async function testOr404(
  { db }: Pick<App, 'db'>,
  id: string,
  livemode: boolean,
): Promise<TestRow> {
  const query = db
    .selectFrom('tests')
    .selectAll()
    .where('id', '=', id)
    .where('livemode', '=', livemode ? 1 : 0);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw noSuchTest();
  return row;
}

const findPresented = prepared(
  (db, parameter: PreparedParameter<{ id: string; livemode: number }>) =>
    db
      .selectFrom('tests')
      .select([...LISTED_COLUMNS, 'envelope', 'placement'])
      .select([passedOn(db, 'checks').as('checks'), passedOn(db, 'providers').as('providers')])
      .select(({ exists, selectFrom }) =>
        exists(selectFrom('test_tags').select('tag').whereRef('test_id', '=', 'tests.id')).as(
          'is_tagged',
        ),
      )
      .where('id', '=', parameter('id'))
      .where('livemode', '=', parameter('livemode')),
);

/** `is_tagged` saves a query: most tests have no tags. */
export type TestToPresent = PresentedRow & { is_tagged: SqlBool };

/** As `testOr404`, for a response. Locks nothing. */
export async function presentedTestOr404(
  db: Db,
  id: string,
  livemode: boolean,
): Promise<TestToPresent> {
  const [row] = await findPresented(db, { id, livemode: livemode ? 1 : 0 });
  if (!row) throw noSuchTest();
  return row;
}

const noSuchTest = () => new AppError('not_found', 'No such test.');

// The analysis job.

/** The name of the job, used to wake it. */
export const ANALYZE_JOB = 'tests.analyze';

/** Makes a completed test due, as another kind if `kind` is set. Returns the changed test. */
export async function requestReanalysis(
  tx: Tx,
  { clock, scheduler }: Pick<App, 'clock' | 'scheduler'>,
  row: TestRow,
  kind: TestRow['kind'] = row.kind,
): Promise<TestRow> {
  if (row.status !== 'completed')
    throw new AppError(
      'conflict',
      `Only completed tests can be reanalyzed. This test is ${row.status}.`,
    );
  const change = { kind, analysis_due_at: isoTime(clock.now()), analysis_attempts: 0 };
  await changeTest(tx, row, change);
  afterCommit(tx, () => scheduler.wake(ANALYZE_JOB));
  return { ...row, ...change };
}

/** A due test, claimed until its lease expires. */
export type ClaimedTest = Pick<TestRow, 'id' | 'kind' | 'analysis_due_at' | 'limited_to'> & {
  lease: string;
};
