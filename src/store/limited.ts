/**
 * What a limited caller sees of the database. Every query of theirs, by any way, reads each table through one condition, or
 * not at all. A common table expression with the name of the table stands before the query. A table that is not named here
 * is empty for them, so a new one is hidden until somebody decides otherwise.
 */

import {
  type KyselyPlugin,
  type OperationNode,
  RawNode,
  type RootOperationNode,
  WhereNode,
} from 'kysely';
import { engineOf } from './engine.ts';
import { TABLES } from './tables.generated.ts';
import type { Db } from './types.ts';

/** The members of a team see everything; a limited one only what has one of these tags. */
export interface Limit {
  memberId: string;
  /** A limited key sees no other keys. */
  keyId?: string | null;
  tags: string[];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Whether a column with a JSON array has one of the tags. Tags contain no commas, so a comma separates two of them. */
export const hasOneOf = (column: string, tags: string[]): string =>
  tags
    .map((tag) => {
      const item = `%,${JSON.stringify(tag)}%`.replace(/[\\_]|(?!^)%(?!$)/g, '\\$&');
      return `(',' || substr(${column}, 2)) like ${quoted(item)} escape '\\'`;
    })
    .join(' or ') || '1 = 0';

/** Whether a column with a JSON array has only these tags. Any other one leaves a quotation mark. */
const hasOnly = (column: string, tags: string[]): string => {
  const without = (rest: string, tag: string) =>
    `replace(${rest}, ${quoted(JSON.stringify(tag))}, '')`;
  return `${tags.reduce(without, column)} not like '%"%'`;
};

interface View {
  /** Which rows are visible, with `@` for the table. It sees the views of `needs`, and with `real()` whole tables. */
  where(limit: Limit, real: (table: string) => string): string;
  needs?: string[];
}

const all = (...conditions: string[]): string => `(${conditions.join(' and ')})`;
const any = (...conditions: string[]): string => `(${conditions.join(' or ')})`;

const within = (column: string, table: string, key = 'id'): View => ({
  where: () => `@.${column} in (select ${key} from ${table})`,
  needs: [table],
});

const ofDomain = within('domain_id', 'domains');
const ofTest = within('test_id', 'tests');
const own: View = {
  where: ({ memberId, keyId }) =>
    keyId == null ? `@.member_id = ${quoted(memberId)}` : `@.id = ${quoted(keyId)}`,
};

/** In an order in which no view comes before one that it needs, or after one whose whole table it reads. */
const VIEWS: Record<string, View> = {
  domains: { where: ({ tags }) => hasOneOf('@.tags', tags) },
  tests: {
    where: ({ tags }, real) =>
      `(@.domain_id in (select id from domains) or @.id in (select test_id from ${real('test_tags')}
        where tag in (${['', ...tags].map(quoted).join(', ')})))`,
    needs: ['domains'],
  },
  test_tags: ofTest,
  test_images: ofTest,
  image_loads: within('id', 'tests'),
  unsubscribe_tries: ofTest,
  placements: ofTest,
  messages: ofTest,
  inboxes: {
    where: ({ tags }) => `(@.domain_id in (select id from domains) or ${hasOneOf('@.tags', tags)})`,
    needs: ['domains'],
  },
  // Without what Microsoft publishes about whole IP addresses.
  domain_digests: {
    where: () =>
      all(
        '@.id in (select id from domains)',
        "coalesce(@.headline, '') not like '%Outlook%'",
        "coalesce(@.step_path, '') not like '%#outlook'",
      ),
    needs: ['domains'],
  },
  test_tallies: ofDomain,
  hosted_files: ofDomain,
  monitors: ofDomain,
  monitor_runs: within('monitor_id', 'monitors'),
  feedback_domains: within('id', 'domains'),
  // A message can have reports about several domains: it is visible if all of them are.
  feedback_mails: {
    where: (_, real) =>
      all(
        '@.domain_id in (select id from domains)',
        `not exists (select 1 from ${real('feedback_reports')} as r where r.mail_id = @.id
          and coalesce(r.domain_id not in (select id from domains), true))`,
      ),
    needs: ['domains'],
  },
  feedback_reports: ofDomain,
  feedback_reporters: within('id', 'feedback_reports', 'reporter_id'),
  feedback_addresses: ofDomain,
  feedback_sources: ofDomain,
  feedback_source_days: ofDomain,
  feedback_source_months: ofDomain,
  feedback_message_sums: ofDomain,
  dmarc_rows: ofDomain,
  dmarc_days: ofDomain,
  tls_days: ofDomain,
  tls_failures: ofDomain,
  complaints: ofDomain,
  bounces: ofDomain,
  receiver_domains: within('name', 'domains', 'name'),
  receiver_days: within('name', 'domains', 'name'),
  receiver_requirements: within('name', 'domains', 'name'),
  message_chunks: {
    where: () =>
      '@.message_id in (select id from messages union all select id from feedback_mails)',
    needs: ['messages', 'feedback_mails'],
  },
  // Of a rule for all domains, the incidents about what is visible.
  alert_incidents: {
    where: (_, real) =>
      any(
        `@.alert_id in (select id from ${real('alerts')} where domain_id in (select id from domains))`,
        '@.test_id in (select id from tests)',
        '@.run_id in (select id from monitor_runs)',
        '@.subject in (select name from domains)',
        '@.subject in (select id from domains)',
        '@.subject in (select id from feedback_sources)',
      ),
    needs: ['domains', 'tests', 'monitor_runs', 'feedback_sources'],
  },
  // A rule for tags covers only what is visible if all of them are within the limit.
  alerts: {
    where: ({ tags }) => any('@.domain_id in (select id from domains)', hasOnly('@.tags', tags)),
    needs: ['domains'],
  },
  // The JSON of these events begins with the ID of the object.
  events: {
    where: () =>
      `((@.type >= 'domain.' and @.type < 'domain/' and substr(@.data, 8, 30) in (select id from domains))
        or (@.type >= 'test.' and @.type < 'test/' and substr(@.data, 8, 31) in (select id from tests)))`,
    needs: ['domains', 'tests'],
  },
  // Links that show only visible tests or domains.
  shared_reports: {
    where: ({ tags }, real) =>
      any(
        hasOnly('@.tags', tags),
        all(
          `@.id in (select report_id from ${real('shared_report_tests')})`,
          `not exists (select 1 from ${real('shared_report_tests')} as t
            where t.report_id = @.id and t.test_id not in (select id from tests))`,
        ),
      ),
    needs: ['tests'],
  },
  shared_report_tests: within('report_id', 'shared_reports'),
  members: { where: ({ memberId }) => `@.id = ${quoted(memberId)}` },
  api_keys: own,
  connected_assistants: own,
  sessions: own,
};

/** Tables without anything about a client, which requests and the configuration need. */
const OPEN = new Set([
  'service_facts',
  'rate_limits',
  'failed_attempts',
  'idempotency_keys',
  'seed_mailboxes',
  'receivers',
  'brand',
]);

/** The same database, of which each query reads only what is within the limit. */
export function limitedTo<D extends Db>(db: D, limit: Limit): D {
  const prefix = engineOf(db) === 'sqlite' ? 'main.' : '';
  return db.withPlugin(new LimitPlugin(limit, (table) => prefix + table)) as D;
}

/** Whether `limitedTo` returned the database. */
export const isLimited = (db: { getExecutor(): { plugins: readonly KyselyPlugin[] } }): boolean =>
  db.getExecutor().plugins.some((plugin) => plugin instanceof LimitPlugin);

/** Literals are left alone, because tags can contain the character. */
const PLACEHOLDERS = /'(?:[^']|'')*'|@(?=\.)/g;

class LimitPlugin implements KyselyPlugin {
  readonly #limit: Limit;
  readonly #real: (table: string) => string;

  constructor(limit: Limit, real: (table: string) => string) {
    this.#limit = limit;
    this.#real = real;
  }

  transformQuery({ node }: { node: RootOperationNode }): RootOperationNode {
    const used = new Set<string>();
    const targets = targetsOf(node);
    collectTables(node, used, new Set(targets.map(({ node: target }) => target)));
    const conditions: string[] = [];
    for (const { name, alias } of targets) {
      const view = VIEWS[name];
      if (OPEN.has(name)) continue;
      // A change of a hidden table belongs to one of a visible object, and chunks are stored before their message. What is
      // read must be visible.
      const isHidden = !view || name === 'message_chunks';
      if (isHidden && node.kind !== 'SelectQueryNode') continue;
      for (const needed of view?.needs ?? []) used.add(needed);
      conditions.push(this.#condition(view, alias));
    }
    return withViews(withConditions(node, conditions), this.#views(used));
  }

  async transformResult<T>({ result }: { result: T }): Promise<T> {
    return result;
  }

  #condition(view: View | undefined, name: string): string {
    if (!view) return '1 = 0';
    const where = view.where(this.#limit, this.#real);
    return where.replace(PLACEHOLDERS, (text) => (text === '@' ? name : text));
  }

  /** The views of these tables and of those that they need, in the order of `VIEWS`. */
  #views(used: Set<string>): string[] {
    for (const table of used) for (const needed of VIEWS[table]?.needs ?? []) used.add(needed);
    const order = Object.keys(VIEWS);
    const tables = [...used].filter((table) => !OPEN.has(table));
    return tables
      .toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
      .map((table) => {
        const where = this.#condition(VIEWS[table], table);
        return `${table} as not materialized (select * from ${this.#real(table)} where ${where})`;
      });
  }
}

const NAMES = new Set<string>(TABLES);

/** Adds the tables that a query names, also in raw text, except in `targets`. Sets grow while they are iterated. */
function collectTables(node: unknown, used: Set<string>, targets: Set<unknown>): void {
  if (typeof node !== 'object' || node === null || targets.has(node)) return;
  if (Array.isArray(node)) {
    for (const item of node) collectTables(item, used, targets);
    return;
  }
  const {
    kind,
    table,
    sqlFragments = [],
  } = node as {
    kind?: string;
    table?: { identifier?: { name: string } };
    sqlFragments?: string[];
  };
  if (kind === 'ValueNode' || kind === 'PrimitiveValueListNode') return;
  const name = kind === 'TableNode' ? table?.identifier?.name : undefined;
  if (name !== undefined && NAMES.has(name)) used.add(name);
  for (const text of sqlFragments)
    for (const [word] of text.matchAll(/\w+/g)) if (NAMES.has(word)) used.add(word);
  for (const value of Object.values(node)) collectTables(value, used, targets);
}

interface Target {
  node: OperationNode;
  name: string;
  alias: string;
}

/**
 * The tables that a query changes or locks. They are no views for the database, so their condition is a part of the query
 * itself.
 */
function targetsOf(node: RootOperationNode): Target[] {
  if (node.kind === 'InsertQueryNode') return node.into ? targetOf(node.into) : [];
  if (node.kind === 'UpdateQueryNode') return node.table ? targetOf(node.table) : [];
  if (node.kind === 'DeleteQueryNode') return node.from.froms.flatMap(targetOf);
  if (node.kind !== 'SelectQueryNode') return [];
  const locks = (node.endModifiers ?? []).some(({ modifier }) => modifier?.startsWith('For'));
  if (!locks) return [];
  return [...(node.from?.froms ?? []), ...(node.joins ?? []).map(({ table }) => table)].flatMap(
    targetOf,
  );
}

function targetOf(node: OperationNode): Target[] {
  const {
    kind,
    node: aliased,
    alias,
    table,
  } = node as never as {
    kind: string;
    node: OperationNode;
    alias: { name: string };
    table: { identifier: { name: string } };
  };
  if (kind === 'AliasNode')
    return targetOf(aliased).map((t) => ({ ...t, node, alias: alias.name }));
  const name = kind === 'TableNode' ? table.identifier.name : '';
  return NAMES.has(name) ? [{ node, name, alias: name }] : [];
}

function withConditions(node: RootOperationNode, conditions: string[]): RootOperationNode {
  if (conditions.length === 0 || node.kind === 'InsertQueryNode') return node;
  const condition = RawNode.createWithSql(conditions.map((each) => `(${each})`).join(' and '));
  const { where } = node as { where?: WhereNode };
  return {
    ...node,
    where: where
      ? WhereNode.cloneWithOperation(where, 'And', condition)
      : WhereNode.create(condition),
  } as RootOperationNode;
}

/** PostgreSQL would take a view with the name of its table for a recursive one. */
const RECURSIVE = 'a query of a limited caller has a WITH RECURSIVE';

/** Puts the views before the query. */
function withViews(node: RootOperationNode, views: string[]): RootOperationNode {
  if (views.length === 0) return node;
  if (node.kind === 'RawNode') {
    const [first = '', ...rest] = node.sqlFragments;
    if (/^\s*with\s+recursive\b/i.test(first)) throw new Error(RECURSIVE);
    const start = `with ${views.join(', ')}`;
    const text = /^\s*with\b/i.test(first)
      ? first.replace(/^\s*with\b/i, `${start},`)
      : `${start} ${first}`;
    return { ...node, sqlFragments: [text, ...rest] };
  }
  const { with: own } = node as { with?: { expressions: OperationNode[]; recursive?: boolean } };
  if (own?.recursive) throw new Error(RECURSIVE);
  const expressions = [
    ...views.map((view) => RawNode.createWithSql(view)),
    ...(own?.expressions ?? []),
  ];
  return { ...node, with: { kind: 'WithNode', expressions } } as never;
}
