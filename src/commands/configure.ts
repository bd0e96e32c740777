/** The configuration, log and database of a command. */

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Config, ConfigError, PREFIX, readConfig } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { isPostgresUrl } from '../lib/database-url.ts';
import { createWritableFolder, folderProblem } from '../lib/folders.ts';
import { createIdGenerator } from '../lib/ids.ts';
import { createLog, type Log, printable } from '../lib/log.ts';
import { openStore } from '../store/open.ts';
import type { TeamContext } from '../team/members.ts';
import { EXIT, type Io, printMessage } from './command.ts';

/** Throws a ConfigError; logs a warning for each unknown variable. */
export function configure(io: Io): { config: Config; log: Log } {
  const { config, warnings } = readConfig(io.env);
  const { LOG_FORMAT, LOG_LEVEL: level } = config;
  const format = LOG_FORMAT === 'auto' ? (io.isStderrTerminal ? 'pretty' : 'json') : LOG_FORMAT;
  const log = createLog({
    level,
    format,
    clock: systemClock,
    write: (line) => io.stderr(`${line}\n`),
  });
  for (const warning of warnings) log.warn(warning);
  return { config, log };
}

/**
 * Makes sure that the folder of the database is one in which this user can write, and creates it. Throws a ConfigError that names the
 * variable which sets it. A PostgreSQL database has none.
 */
export function prepareDataFolder({ DATABASE_URL: path }: Config, { env }: Pick<Io, 'env'>): void {
  if (path === ':memory:' || isPostgresUrl(path)) return;
  const name = env[`${PREFIX}DATABASE_URL`] ? 'DATABASE_URL' : 'DATA_DIR';
  const folder = dirname(path);
  try {
    createWritableFolder(folder);
  } catch (error) {
    const problem = printable(folderProblem(folder, error));
    throw new ConfigError([`${PREFIX}${name} cannot be used. ${problem}`]);
  }
}

/** What a command does without a database: it creates one and says so, or it stops. */
type WithoutDatabase = 'create' | 'stop';

/**
 * Opens the database for a command; the service may be running. A command in the wrong folder would
 * otherwise work on a new, empty database unnoticed.
 */
export async function withStore(
  io: Io,
  withoutDatabase: WithoutDatabase,
  use: (team: TeamContext) => Promise<number>,
): Promise<number> {
  const config = findDatabase(io, withoutDatabase);
  if (!config) return EXIT.usage;
  const store = await openStore(config.DATABASE_URL);
  try {
    return await use({ db: store.db, clock: systemClock, newId: createIdGenerator(systemClock) });
  } finally {
    await store.close();
  }
}

/** The configuration, whose database exists or can be created; null if the command stops, which it has said. */
export function findDatabase(io: Io, withoutDatabase: WithoutDatabase): Config | null {
  const { config } = configure(io);
  const path = config.DATABASE_URL;
  if (path !== ':memory:' && !isPostgresUrl(path) && !existsSync(path)) {
    const where = `If the service has one elsewhere, run this command where the service runs, or set DELIVERABILITY_DATA_DIR or DELIVERABILITY_DATABASE_URL.`;
    if (withoutDatabase === 'stop') {
      printMessage(io, `There is no database at ${printable(resolve(path))}. ${where}`);
      return null;
    }
    prepareDataFolder(config, io);
    printMessage(
      io,
      `There was no database at ${printable(resolve(path))}, so this command creates a new one. ${where}`,
    );
  }
  prepareDataFolder(config, io);
  return config;
}
