/** Domains: queries, and their JSON for the API and events. */

import { sql } from 'kysely';
import { fetchPage } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { normalizeDomain, withParents } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import {
  type Db,
  hasOneOf,
  lockIn,
  type PreparedParameter,
  preparedLists,
  shareIn,
  type Tx,
} from '../store/open.ts';
import { contains } from '../store/queries.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { DomainFeedback } from './feedback/state.ts';
import type { HealthResult } from './health.ts';
import type {
  Domain,
  DomainHealthResponse,
  DomainListQuery,
  ListedDomain,
  RecordChange,
  RecordToPublish,
} from './schema.ts';
import { selectorsOf } from './selectors.ts';
import { verificationRecord } from './verification.ts';
import { unansweredSince } from './watched-records.ts';

const LISTED_COLUMNS = [
  'id',
  'name',
  'status',
  'token',
  'created_at',
  'verified_at',
  'pending_since',
  'last_checked_at',
  'last_check_detail',
  'next_check_at',
  'missing_since',
  'given_selectors',
  'learnt_selectors',
  'badge_enabled',
  'tags',
  'health_status',
  'health_score',
  'health_checked_at',
  'lease',
  'leased_until',
] as const satisfies (keyof ListedRow)[];

/** In a transaction, the domain cannot be deleted until it ends. */
export async function findDomain(db: Db | Tx, id: string): Promise<DomainRow | undefined> {
  const query = db.selectFrom('domains').selectAll().where('id', '=', id);
  return shareIn(db, query).executeTakeFirst();
}

/** `name` in A-labels. */
export async function findDomainByName(
  db: Db,
  name: string,
): Promise<Pick<DomainRow, 'id' | 'name'> | undefined> {
  return db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('name', '=', name)
    .executeTakeFirst();
}

/** Throws `not_found`. */
export async function domainOr404(db: Db | Tx, id: string): Promise<DomainRow> {
  const query = db.selectFrom('domains').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such domain.');
  return row;
}

/** One page of the matching domains, newest first. */
export async function listDomains(
  db: Db,
  { status, health, q, tag, created_at, ...page }: DomainListQuery,
): Promise<{ rows: ListedRow[]; hasMore: boolean }> {
  const all = db.selectFrom('domains').select(LISTED_COLUMNS);
  let query = all;
  if (status) query = query.where('status', '=', status);
  if (health) query = query.where('health_status', '=', health);
  if (q) query = query.where('id', 'in', idsWithName(db, q));
  if (tag) query = query.where('id', 'in', idsWithTag(db, tag));
  if (created_at) query = query.where('created_at', '=', created_at);
  return fetchPage(query, page, all);
}

/** A subquery, which SQLite answers from the index `domains_listed` alone. */
export function idsWithName(db: Db, text: string) {
  const name = normalizeDomain(text) ?? text.trim().toLowerCase();
  return db.selectFrom('domains').select('id').where(contains('name', name));
}

/** A subquery on the same index. `tag` as `normalizeTag` returns it. */
export const idsWithTag = (db: Db | Tx, tag: string) => idsWithTags(db, [tag]);

/** The IDs of the domains with at least one of the tags. */
export function idsWithTags(db: Db | Tx, tags: string[]) {
  return db
    .selectFrom('domains')
    .select('id')
    .where(sql<boolean>`${sql.raw(hasOneOf('tags', tags))}`);
}

/** The tags of these domains, by ID. */
export async function tagsOfDomains(db: Db | Tx, ids: string[]): Promise<Map<string, string[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('domains')
    .select(['id', 'tags'])
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map(({ id, tags }) => [id, JSON.parse(tags)]));
}

/** All tags of domains, in alphabetical order. */
export async function tagsInUse(db: Db | Tx): Promise<string[]> {
  const rows = await db
    .selectFrom('domains')
    .select('tags')
    .distinct()
    .where('tags', '!=', '[]')
    .execute();
  return [...new Set(rows.flatMap(({ tags }): string[] => JSON.parse(tags)))].toSorted();
}

/** Domains whose name contains the text, or whose ID begins with it: first the one with this name, then the newest. */
export async function searchDomains(
  db: Db,
  text: string,
  limit: number,
): Promise<Pick<DomainRow, 'id' | 'name'>[]> {
  const byName = db.selectFrom('domains').select(['id', 'name']).orderBy('id', 'desc').limit(limit);
  if (/^dom_[0-9a-z]*$/.test(text))
    // `{` follows the last letter.
    return byName.where('id', '>=', text).where('id', '<', `${text}{`).execute();
  const exact = await findDomainByName(db, normalizeDomain(text) ?? '');
  const found = await byName.where('id', 'in', idsWithName(db, text)).execute();
  if (!exact) return found;
  return [exact, ...found.filter(({ id }) => id !== exact.id)].slice(0, limit);
}

/** What happened to a domain, as its event says. */
export interface DomainEvent {
  id: string;
  type:
    | 'domain.verified'
    | 'domain.verification_failed'
    | 'domain.health_changed'
    | 'domain.records_changed';
  created_at: string;
  data: ListedDomain & {
    previous_health?: DomainRow['health_status'];
    changes?: RecordChange[];
  };
}

/** The latest events of a domain, newest first. Events are kept for a limited time. */
export async function latestDomainEvents(
  db: Db,
  id: string,
  limit: number,
): Promise<DomainEvent[]> {
  const rows = await db
    .selectFrom('events')
    .select(['id', 'type', 'created_at', 'data'])
    // Literally the expression and the condition of the index `events_domain`.
    .where(sql<boolean>`substr(data, 8, 30) = ${id}`)
    .where(sql<boolean>`type >= 'domain.' and type < 'domain/'`)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ data, ...row }) => ({ ...row, data: JSON.parse(data) }) as DomainEvent);
}

/** When the records of a domain last changed, and which ones, as long as the event is kept. */
export async function latestRecordChange(
  db: Db | Tx,
  id: string,
): Promise<{ created_at: string; changes: RecordChange[] } | undefined> {
  const row = await db
    .selectFrom('events')
    .select(['created_at', 'data'])
    // For the index `events_domain`, as above.
    .where(sql<boolean>`substr(data, 8, 30) = ${id}`)
    .where(sql<boolean>`type >= 'domain.' and type < 'domain/'`)
    .where('type', '=', 'domain.records_changed')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { created_at: row.created_at, changes: JSON.parse(row.data).changes ?? [] };
}

/** The team's domain that is, or is the closest parent of, the From domain (in A-labels). */
export async function findDomainOf(
  db: Db | Tx,
  fromDomain: string,
): Promise<Pick<DomainRow, 'id' | 'name'> | undefined> {
  const matches = await findDomainsAbove(db, fromDomain);
  return matches.toSorted((a, b) => b.name.length - a.name.length)[0];
}

const findNamed = preparedLists((db, list: PreparedParameter<{ names: string[] }>) =>
  db.selectFrom('domains').select(['id', 'name']).where('name', 'in', list('names')),
);

/** The team's domains that are, or are parents of, this name (in A-labels). */
export function findDomainsAbove(
  db: Db | Tx,
  name: string,
): Promise<Pick<DomainRow, 'id' | 'name'>[]> {
  return findNamed(db, { names: withParents(name) });
}

/** The names of these domains, by ID. */
export async function findDomainNames(db: Db, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The IDs of the alert rules that name a domain. */
export async function findRulesOfDomain(db: Db | Tx, domainId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('alerts')
    .select('id')
    .where('domain_id', '=', domainId)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

// The JSON of domains, in the API and in events.

/** Without the largest columns, which the list form doesn't need. */
type ListedRow = Omit<DomainRow, 'health_checks' | 'next_look_at' | 'watched'>;

export function presentListed(row: ListedRow): ListedDomain {
  return {
    id: row.id,
    object: 'domain',
    name: row.name,
    status: row.status,
    verification: verificationRecord(row),
    verified_at: row.verified_at,
    missing_since: row.missing_since,
    last_checked_at: row.last_checked_at,
    last_check_detail: row.last_check_detail,
    next_check_at: row.next_check_at,
    dkim_selectors: selectorsOf(row),
    badge_enabled: row.badge_enabled === 1,
    tags: JSON.parse(row.tags),
    health: {
      status: row.health_status,
      score: row.health_score,
      checked_at: row.health_checked_at,
    },
    created_at: row.created_at,
  };
}

/** With the selectors that users gave, for the ETag. They aren't a field of the response. */
export interface PresentedDomain extends Domain {
  given_selectors: string;
}

/** The full form, with the last health checks. */
export function presentDomain(
  row: DomainRow,
  feedback: DomainFeedback,
  token: string,
): PresentedDomain {
  const listed = presentListed(row);
  const health = {
    ...listed.health,
    unanswered_since: unansweredSince(row),
    checks: JSON.parse(row.health_checks),
  };
  const team_verification = verificationRecord({ name: row.name, token });
  return { ...listed, health, team_verification, feedback, given_selectors: row.given_selectors };
}

/** The result of the health checks, with the records to publish. */
export function presentHealth(
  row: DomainRow,
  {
    health: { status, score, summary, checks },
    startedAt,
  }: Pick<HealthResult, 'health'> & { startedAt: number | null },
  records: RecordToPublish[],
): DomainHealthResponse {
  return {
    object: 'domain_health',
    domain_id: row.id,
    name: row.name,
    status,
    score,
    summary,
    checks,
    records,
    checked_at: startedAt === null ? null : isoTime(startedAt),
  };
}

// Validation of the field `domain_id` in requests.

/** The error message for the field `domain_id`, to follow its name. */
export const NO_SUCH_DOMAIN = 'is not the ID of a domain';

/** Throws `validation_failed` if `id` is not null and not a domain of the team. */
export async function requireDomain(db: Db | Tx, id: string | null): Promise<void> {
  if (id === null || (await findDomain(db, id))) return;
  throw new AppError('validation_failed', 'Invalid domain_id: no such domain.', [
    { param: 'domain_id', code: 'invalid', message: NO_SUCH_DOMAIN },
  ]);
}
