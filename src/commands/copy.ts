/** `copy`: copies a whole database from SQLite to PostgreSQL, or back. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../config/config.ts';
import { database } from '../config/readers.ts';
import { checkSecretKey } from '../keys/secret-key.ts';
import { systemClock } from '../lib/clock.ts';
import { databaseLabel, isPostgresUrl } from '../lib/database-url.ts';
import { errorMessage } from '../lib/errors.ts';
import { printable, printableJson } from '../lib/log.ts';
import { type CopiedTable, type CopyProgress, copyDatabase } from '../store/copy/copy.ts';
import { StoreError } from '../store/errors.ts';
import { openStore } from '../store/open.ts';
import { lockStore } from '../store/sqlite/lock.ts';
import { defineCommand, EXIT, type Io, printMessage, UsageError } from './command.ts';

const DATABASE_URL = { prefixes: ['sqlite:', 'postgres://'], suffix: 'file' } as const;

export const copy = defineCommand({
  name: 'copy',
  summary: 'Copy the whole database from SQLite to PostgreSQL, or back',
  options: {
    from: {
      value: 'URL',
      description:
        'The database to copy: sqlite:PATH, or postgres://user@host/name. Stop its service first',
      completion: DATABASE_URL,
      isRequired: true,
    },
    to: {
      value: 'URL',
      description:
        'An empty database of the other kind. To keep a password out of the command, set PGPASSWORD',
      completion: DATABASE_URL,
      isRequired: true,
    },
    json: { description: 'Print the number of rows and the SHA-256 of each table as JSON' },
  },
  async run({ values }, io) {
    const from = locationOf('--from', values.from);
    const to = locationOf('--to', values.to);
    if (isPostgresUrl(from) === isPostgresUrl(to))
      throw new UsageError('One of the databases must be SQLite, and the other PostgreSQL');
    if (!isPostgresUrl(from) && !existsSync(from))
      throw new StoreError(`There is no database at ${from}.`);
    const { config } = readConfig(io.env);
    const tables = await withLocks([from, to], () => copyBetween(from, to, config, io));
    if (values.json)
      io.stdout(`${printableJson({ from: labelOf(from), to: labelOf(to), tables })}\n`);
    else printSummary(io, to, tables);
    const file = join(config.DATA_DIR, 'secret.key');
    if (!config.SECRET_KEY && isPostgresUrl(to))
      printMessage(
        io,
        `Set DELIVERABILITY_SECRET_KEY to the content of ${printable(file)} on each node: a PostgreSQL database needs the same key.`,
      );
    return EXIT.success;
  },
});

function locationOf(option: string, value: string): string {
  try {
    const location = database(value);
    if (location !== ':memory:') return location;
  } catch (error) {
    throw new UsageError(`${option} ${errorMessage(error)}`);
  }
  throw new UsageError(`${option} must not be a database in memory`);
}

const labelOf = (location: string): string =>
  isPostgresUrl(location) ? databaseLabel(location) : `sqlite:${location}`;

/** Holds the locks of SQLite files, so that no service uses one meanwhile. */
async function withLocks<T>(locations: string[], work: () => Promise<T>): Promise<T> {
  const unlocks: (() => void)[] = [];
  try {
    for (const location of locations)
      if (!isPostgresUrl(location)) unlocks.push(lockStore(location));
    return await work();
  } finally {
    for (const unlock of unlocks) unlock();
  }
}

async function copyBetween(
  from: string,
  to: string,
  config: Config,
  io: Io,
): Promise<CopiedTable[]> {
  const source = await openStore(from, 'require');
  try {
    await checkSecretKey({ ...config, DATABASE_URL: from }, source.db);
    const target = await openStore(to, 'create');
    try {
      return await copyDatabase(source, target, progressOn(io));
    } finally {
      if (io.isStderrTerminal) io.status('');
      await target.close();
    }
  } finally {
    await source.close();
  }
}

const PROGRESS_INTERVAL_MS = 100;

function progressOn(io: Io): (progress: CopyProgress) => void {
  if (!io.isStderrTerminal) return () => {};
  let shownAt = Number.NEGATIVE_INFINITY;
  return ({ step, table, rows, total }) => {
    const now = systemClock.now();
    if (Math.abs(now - shownAt) < PROGRESS_INTERVAL_MS) return;
    shownAt = now;
    const verb = step === 'copy' ? 'Copying' : 'Comparing';
    io.status(`${verb} ${table}: ${count(rows)} of ${count(total)} rows`);
  };
}

const count = (value: number): string => value.toLocaleString('en-US');

function printSummary(io: Io, to: string, tables: CopiedTable[]): void {
  const filled = tables.filter(({ rows }) => rows > 0);
  const width = Math.max(0, ...filled.map(({ name }) => name.length));
  for (const { name, rows, sha256 } of filled)
    io.stdout(`${name.padEnd(width)}  ${count(rows).padStart(12)}  ${sha256.slice(0, 16)}\n`);
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  printMessage(
    io,
    `Copied ${count(total)} rows to ${printable(labelOf(to))}. All tables have the same rows and the same SHA-256 in both databases.`,
  );
}
