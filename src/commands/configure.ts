/** The configuration, log and database of a command. */

import { type Config, readConfig } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { createIds } from '../lib/ids.ts';
import { createLog, type Log } from '../lib/log.ts';
import { openStore, type Store } from '../store/open.ts';
import type { TeamContext } from '../team/members.ts';
import type { Io } from './command.ts';

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

/** Opens the database for a command; the service may be running. */
export async function withStore<T>(io: Io, use: (team: TeamContext) => Promise<T>): Promise<T> {
  const { config } = configure(io);
  const store: Store = openStore(config.DATABASE_URL);
  try {
    return await use({ db: store.db, clock: systemClock, newId: createIds(systemClock) });
  } finally {
    await store.close();
  }
}
