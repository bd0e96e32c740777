/** Refuses schemas that a caller does not want changed. */

import { StoreError } from './errors.ts';
import { SCHEMA_VERSION } from './migrations/index.ts';
import type { SchemaMode } from './types.ts';

/** Throws a StoreError for a version that the mode excludes. `version`: 0 for an empty database. */
export function requireMode(mode: SchemaMode, version: number): void {
  // A newer version is refused in every mode, with its own message.
  if (mode === 'upgrade' || version >= SCHEMA_VERSION) return;
  if (version === 0 && mode === 'create') return;
  if (version === 0) throw new StoreError('The database is empty.');
  throw new StoreError(
    `The database has schema version ${version}, but this command needs version ${SCHEMA_VERSION}. Start the service once with this program to upgrade it.`,
  );
}
