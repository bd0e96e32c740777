/** Starts one PostgreSQL server for the tests that need it. */

import { readFileSync } from 'node:fs';
import { postgresPrograms, startPostgres } from '../../test/helpers/postgres-server.ts';

interface DatabaseServer {
  /** For test processes. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

const NONE: DatabaseServer = { env: {}, async stop() {} };

/**
 * With `TEST_DATABASE=postgres`, all tests need the server; otherwise files with a comment
 * `// @postgres: <reason>`, whose tests are skipped if it is not installed.
 */
export async function startDatabaseServer(files: string[]): Promise<DatabaseServer> {
  const isRequired = process.env.TEST_DATABASE === 'postgres';
  const isNeeded = isRequired || files.some(saysItNeedsPostgres);
  const programs = isNeeded ? postgresPrograms() : null;
  if (programs === null) {
    if (!isRequired) return NONE;
    console.error('PostgreSQL is not installed: run scripts/setup-test-machine.sh');
    process.exit(2);
  }
  const { url, stop } = await startPostgres(programs);
  // Node runs no exit handlers for a signal, and the server would go on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(1));
  const { createTemplate } = await import('../../test/helpers/postgres.ts');
  await createTemplate(url);
  return { env: { TEST_POSTGRES_URL: url }, stop: () => stop() };
}

const saysItNeedsPostgres = (file: string): boolean =>
  /^\/\/ @postgres: \S/m.test(readFileSync(file, 'utf8'));
