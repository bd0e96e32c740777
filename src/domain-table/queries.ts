/** The rows of the table of domains: one query for a page of any size, sorted and grouped in the database. */

import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { idsWithName, idsWithTag } from '../domains/queries.ts';
import { DOMAIN_STATES, type DomainState, STATE_SQL } from '../domains/states.ts';
import { type Page, requireCursors } from '../http/schemas.ts';
import { type Db, engineOf } from '../store/open.ts';
import type { DomainDigestRow, DomainRow } from '../store/tables.generated.ts';
import { COLUMNS, type Sort } from './columns.ts';
import type { TableRow } from './schema.ts';

export interface TableFilters {
  q?: string;
  state?: DomainState;
  tag?: string;
  next_step?: 'yes' | 'no';
  sort: Sort;
  order?: 'asc' | 'desc';
  group?: string;
}

const allDomains = (db: Db) =>
  db.selectFrom('domains').leftJoin('domain_digests as digest', 'digest.id', 'domains.id');

function matching(
  db: Db,
  { q, state, tag, next_step }: Omit<TableFilters, 'sort' | 'order' | 'group'>,
) {
  let query = allDomains(db);
  if (q) query = query.where('domains.id', 'in', idsWithName(db, q));
  if (state) query = query.where(STATE_SQL, '=', state);
  if (tag) query = query.where('domains.id', 'in', idsWithTag(db, tag));
  if (next_step) query = query.where('digest.step', next_step === 'yes' ? 'is not' : 'is', null);
  return query;
}

// Sorting. A page continues after the values of its cursor, so that it stays right if rows are added before it.

type Value = string | number | null;

interface Key {
  value: Expression<Value>;
  order: 'asc' | 'desc';
}

/** The group, the column, and the name, which no other domain has. */
function keysOf(db: Db, { sort, order, group }: TableFilters): Key[] {
  const column = COLUMNS[sort];
  return [
    ...(group ? [{ value: groupSort(db, group), order: 'asc' as const }] : []),
    { value: column.value, order: order ?? column.order },
    { value: COLUMNS.name.value, order: 'asc' },
  ];
}

/** The state, or the first tag such as `client:acme`; null without one. */
function groupOf(db: Db, group: string): RawBuilder<string | null> {
  if (group === 'state') return STATE_SQL;
  const elements =
    engineOf(db) === 'sqlite'
      ? sql`json_each(domains.tags)`
      : sql`json_array_elements_text(domains.tags::json) as tag(value)`;
  return sql`(select min(value) from ${elements} where substr(value, 1, ${sql.lit(group.length + 1)}) = ${`${group}:`})`;
}

const groupSort = (db: Db, group: string): Expression<Value> =>
  group === 'state' ? COLUMNS.state.value : groupOf(db, group);

/** Whether a row comes after the values in this direction. Null is last. */
function isAfter({ value, order }: Key, than: Value, isBackward: boolean): RawBuilder<SqlBool> {
  if (than === null) return isBackward ? sql`${value} is not null` : sql`1 = 0`;
  const isGreater = (order === 'asc') !== isBackward;
  const differs = isGreater ? sql`${value} > ${than}` : sql`${value} < ${than}`;
  return isBackward ? sql`(${differs})` : sql`(${differs} or ${value} is null)`;
}

const isEqual = ({ value }: Key, to: Value): RawBuilder<SqlBool> =>
  to === null ? sql`${value} is null` : sql`${value} = ${to}`;

function comesAfter(keys: Key[], values: Value[], isBackward: boolean): RawBuilder<SqlBool> {
  const ways = keys.map(
    (key, i) =>
      sql`(${sql.join(
        [
          ...keys.slice(0, i).map((earlier, j) => isEqual(earlier, values[j]!)),
          isAfter(key, values[i]!, isBackward),
        ],
        sql` and `,
      )})`,
  );
  return sql`(${sql.join(ways, sql` or `)})`;
}

async function valuesAt(db: Db, keys: Key[], id: string): Promise<Value[] | null> {
  const row = await allDomains(db)
    .select(keys.map(({ value }, i) => sql<Value>`${value}`.as(`key${i}`)))
    .where('domains.id', '=', id)
    .executeTakeFirst();
  return row ? keys.map((_, i) => (row as Record<string, Value>)[`key${i}`]!) : null;
}

export async function tablePage(
  db: Db,
  { limit, starting_after, ending_before, ...filters }: TableFilters & Page,
): Promise<{ rows: TableRow[]; hasMore: boolean }> {
  const keys = keysOf(db, filters);
  const isBackward = ending_before !== undefined;
  let values: Value[] | null = null;
  await requireCursors({ limit, starting_after, ending_before }, async (cursor) => {
    values = await valuesAt(db, keys, cursor);
    return values !== null;
  });
  let query = matching(db, filters)
    .select(['domains.id', 'domains.name', 'domains.tags'])
    .select(['domains.health_checked_at', 'domains.last_check_detail'])
    .select(STATE_SQL.as('table_state'))
    .select(DIGEST)
    .select(
      (filters.group ? groupOf(db, filters.group) : sql<string | null>`null`).as('group_name'),
    );
  if (values !== null) query = query.where(comesAfter(keys, values, isBackward));
  for (const { value, order } of keys) {
    const direction = (order === 'asc') !== isBackward ? 'asc' : 'desc';
    query = query
      .orderBy(sql`${value} is null`, isBackward ? 'desc' : 'asc')
      .orderBy(sql`${value}`, direction);
  }
  const found = await query.limit(limit + 1).execute();
  const rows = found.slice(0, limit).map(present);
  return { rows: isBackward ? rows.reverse() : rows, hasMore: found.length > limit };
}

const EXPORT_BATCH = 500;

export async function* eachTableRow(db: Db, filters: TableFilters): AsyncGenerator<TableRow> {
  for (let starting_after: string | undefined; ; ) {
    const page = await tablePage(db, { ...filters, limit: EXPORT_BATCH, starting_after });
    yield* page.rows;
    if (!page.hasMore) return;
    starting_after = page.rows.at(-1)!.id;
  }
}

export interface TableCounts {
  total: number;
  states: Record<DomainState, number>;
  tags: string[];
}

const sortedTags = (rows: { tags: string }[]): string[] => [
  ...new Set(rows.flatMap(({ tags }) => JSON.parse(tags) as string[]).sort()),
];

/** What the filters offer, of all domains, with one query that reads an index. */
export async function tableCounts(db: Db): Promise<TableCounts> {
  const rows = await allDomains(db)
    .select(['domains.tags', STATE_SQL.as('state')])
    .select(({ fn }) => fn.countAll().as('count'))
    .groupBy(['domains.tags', STATE_SQL])
    .execute();
  const countOf = (matches: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(matches).reduce((sum, { count }) => sum + Number(count), 0);
  const states = Object.fromEntries(
    DOMAIN_STATES.map((state) => [state, countOf((row) => row.state === state)]),
  ) as TableCounts['states'];
  return { total: countOf(() => true), states, tags: sortedTags(rows) };
}

export async function countGroups(
  db: Db,
  { group, ...filters }: TableFilters,
): Promise<Map<string | null, number>> {
  const name = group ? groupOf(db, group) : sql<string | null>`null`;
  const grouped = matching(db, filters).select(name.as('group_name'));
  const rows = await db
    .selectFrom(grouped.as('grouped'))
    .select('group_name')
    .select(({ fn }) => fn.countAll().as('count'))
    .groupBy('group_name')
    .execute();
  return new Map(rows.map(({ group_name, count }) => [group_name, Number(count)]));
}

const DIGEST = [
  'digest.read_at',
  'digest.state',
  'digest.headline',
  'digest.since',
  'digest.step',
  'digest.step_path',
  'digest.policy',
  'digest.sub_policy',
  'digest.pct',
  'digest.messages',
  'digest.spf_rate',
  'digest.dkim_rate',
  'digest.dmarc_rate',
  'digest.spam_rate',
  'digest.spam_day',
  'digest.samples',
  'digest.inbox_rate',
  'digest.changed_at',
  'digest.changed',
] as const;

type Nullable<T> = { [K in keyof T]: T[K] | null };
type FoundRow = Pick<
  DomainRow,
  'id' | 'name' | 'tags' | 'health_checked_at' | 'last_check_detail'
> &
  Nullable<Omit<DomainDigestRow, 'id' | 'cost'>> & {
    table_state: DomainState;
    group_name: string | null;
  };

const present = (row: FoundRow): TableRow => ({
  id: row.id,
  object: 'domain_table_row',
  name: row.name,
  state: row.table_state,
  checked_at: row.health_checked_at,
  check_detail: row.last_check_detail,
  tags: JSON.parse(row.tags),
  group: row.group_name,
  ...presentDigest(row),
});

/** The part of a row that is read from the sources of the picture. */
export const presentDigest = (row: Nullable<Omit<DomainDigestRow, 'id' | 'cost'>>) => ({
  policy:
    row.policy === null
      ? null
      : {
          p: row.policy === 'missing' ? null : row.policy,
          sp: row.sub_policy,
          pct: row.pct,
        },
  pass_rates: {
    messages: row.messages ?? 0,
    spf: row.spf_rate,
    dkim: row.dkim_rate,
    dmarc: row.dmarc_rate,
  },
  spam_rate: row.spam_rate === null ? null : { rate: row.spam_rate, day: row.spam_day! },
  placement: row.samples ? { samples: row.samples, inbox_rate: row.inbox_rate } : null,
  last_change: row.changed_at === null ? null : { at: row.changed_at, records: row.changed! },
  headline: row.headline,
  headline_state: row.state ?? 'unknown',
  since: row.since,
  next_step: row.step === null ? null : { text: row.step, path: row.step_path! },
  read_at: row.read_at,
});
