/** Refuses schemas that a caller does not want changed. */

import { StoreError } from './errors.ts';
import { FIRST_VERSION, LAST_COMMIT_OF_FIRST_VERSION, SCHEMA_VERSION } from './migrations/index.ts';
import type { SchemaMode } from './types.ts';

/** What to do about a schema before `FIRST_VERSION`. */
export const UPGRADE_TO_FIRST_VERSION = `Start commit ${LAST_COMMIT_OF_FIRST_VERSION} once, to upgrade the database to version ${FIRST_VERSION}. Then start this program.`;

/** Throws a StoreError for a schema from before `FIRST_VERSION`. `version`: 0 for an empty database. */
export function requireUpgradable(version: number): void {
  if (version > 0 && version < FIRST_VERSION)
    throw new StoreError(
      `The database has schema version ${version}, but this program upgrades only version ${FIRST_VERSION} and later. ${UPGRADE_TO_FIRST_VERSION}`,
    );
}

/** Throws a StoreError for a version that the mode excludes. `version`: 0 for an empty database. */
export function requireMode(mode: SchemaMode, version: number): void {
  requireUpgradable(version);
  // A newer version is refused in every mode, with its own message.
  if (mode === 'upgrade' || version >= SCHEMA_VERSION) return;
  if (version === 0 && mode === 'create') return;
  if (version === 0) throw new StoreError('The database is empty.');
  throw new StoreError(
    `The database has schema version ${version}, but this command needs version ${SCHEMA_VERSION}. Start the service once with this program to upgrade it.`,
  );
}
