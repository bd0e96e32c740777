/** Generates the Kysely row types of every table in schema.sql, and the nouns of their IDs. */

import Database from 'better-sqlite3';

/** The text of the module. Throws for a column whose type or CHECK has no known TypeScript equivalent. */
export function rowTypesModule(schema: string): string {
  const sqlite = new Database(':memory:');
  sqlite.exec(schema);
  const comments = commentsOf(schema);
  const tables = sqlite
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    .all() as { name: string; sql: string }[];
  const rows = tables.map(({ name, sql }) => {
    const literals = literalsOf(name, sql);
    const columns = sqlite.pragma(`table_info(${name})`) as ColumnInfo[];
    const fields = columns.map((column) => {
      const declared = declaredType(`${name}.${column.name}`);
      const type = declared ?? literals.get(column.name) ?? typeOf(name, column);
      return `${jsdoc(comments.get(`${name}.${column.name}`), '  ')}  ${column.name}: ${type}${column.notnull ? '' : ' | null'};\n`;
    });
    return `${jsdoc(comments.get(name), '')}export interface ${rowName(name)} {\n${fields.join('')}}\n`;
  });
  const database = tables.map(({ name }) => `  ${name}: ${rowName(name)};\n`).join('');
  return [
    '/** The rows of every table. Generated from schema.sql by `npm run generate`; do not edit. */\n',
    "import type { Vocabularies } from './vocabularies.ts';\n",
    ...rows,
    `/** Every table by its name. */\nexport interface Tables {\n${database}}\n`,
    `export const TABLES: (keyof Tables)[] = [\n${tables.map(({ name }) => `  '${name}',\n`).join('')}];\n`,
    `/** Tables whose IDs the service creates. */\nexport const TABLES_WITH_IDS = [\n${idsOf(schema)
      .map(({ table }) => `  '${table}',\n`)
      .join('')}] as const;\n`,
  ].join('\n');
}

/** The text of the module with the prefixes of IDs and their nouns. */
export function idNounsModule(schema: string): string {
  const nouns = idsOf(schema).map(({ prefix, noun }) => `  ${prefix}: '${noun}',\n`);
  return `/** Generated from schema.sql by \`npm run generate\`; do not edit. */\n\nexport const TABLE_ID_NOUNS = {\n${nouns.join('')}} as const;\n`;
}

/** Tables whose IDs the service creates, from the comments above the column, such as `mon_…`: monitor. */
function idsOf(schema: string): { table: string; prefix: string; noun: string }[] {
  return [...commentsOf(schema)].flatMap(([column, comment]) => {
    const [, table] = /^(\w+)\.id$/.exec(column) ?? [];
    const [, prefix, noun] = /^`(\w+)_…`: (.+)/.exec(comment) ?? [];
    return table && prefix && noun ? [{ table, prefix, noun }] : [];
  });
}

/** Columns with a vocabulary that grows, and its name in `store/vocabularies.ts`. */
const DECLARED: Record<string, string> = {
  'monitors.type': 'monitorType',
  'alerts.condition': 'condition',
  'alert_incidents.condition': 'condition',
  'alert_notifications.channel': 'channel',
  'alert_notifications.news': 'news',
};

const declaredType = (column: string): string | undefined =>
  DECLARED[column] && `Vocabularies['${DECLARED[column]}']`;

interface ColumnInfo {
  name: string;
  type: string;
  notnull: 0 | 1;
}

/** SQLite stores booleans as the numbers 0 and 1, times and JSON as text. */
const TYPES: Record<string, string> = {
  TEXT: 'string',
  INTEGER: 'number',
  REAL: 'number',
  BLOB: 'Uint8Array',
};

function typeOf(table: string, { name, type }: ColumnInfo): string {
  const found = TYPES[type];
  if (!found) throw new Error(`Unsupported type ${type} of ${table}.${name}`);
  return found;
}

/** The union types of columns that a CHECK (… IN (…)) limits to certain values. */
function literalsOf(table: string, sql: string): Map<string, string> {
  const code = sql
    .replace(/--[^\n]*/g, '')
    // Columns that are null together; their types can't express it.
    .replace(/CHECK \(\(\w+ IS NULL\) = \(\w+ IS NULL\)\)/g, '');
  const found = [...code.matchAll(/CHECK\s*\(\s*(\w+) IN\s*\(((?:\s*'\w+'\s*,?)+)\)\s*\)/g)];
  if (found.length !== code.split(/\bCHECK\b/).length - 1)
    throw new Error(
      `Unsupported CHECK in ${table}: only "column IN ('a', 'b')" and "(a IS NULL) = (b IS NULL)" are supported`,
    );
  return new Map(
    found.map(([, column, values]) => [column!, values!.match(/'\w+'/g)!.join(' | ')]),
  );
}

/** The comments above tables, and above columns as `table.column`. */
function commentsOf(schema: string): Map<string, string> {
  const all = new Map<string, string>();
  let lines: string[] = [];
  let table = '';
  for (const line of schema.split('\n')) {
    const comment = /^\s*-- (.*)$/.exec(line);
    if (comment) {
      lines.push(comment[1]!);
      continue;
    }
    const created = /^CREATE TABLE (\w+)/.exec(line);
    if (created) table = created[1]!;
    const column = /^ {2}(\w+) /.exec(line);
    if (lines.length > 0 && (created || column))
      all.set(created ? table : `${table}.${column![1]}`, lines.join('\n'));
    lines = [];
  }
  return all;
}

function jsdoc(text: string | undefined, indent: string): string {
  if (text === undefined) return '';
  const lines = text.split('\n');
  if (lines.length === 1) return `${indent}/** ${text} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

/** Row names that do not follow from the name of the table. */
const ROW_NAMES: Record<string, string> = {
  audit_log: 'AuditRow',
  inboxes: 'InboxRow',
  idempotency_keys: 'IdempotencyRow',
};

/** `report_copies` → `ReportCopyRow`. */
function rowName(table: string): string {
  const singular = table
    .replace(/ies$/, 'y')
    .replace(/(x|ss)es$/, '$1')
    .replace(/([^s])s$/, '$1');
  const words = singular.split('_').map((word) => word[0]!.toUpperCase() + word.slice(1));
  return ROW_NAMES[table] ?? `${words.join('')}Row`;
}
