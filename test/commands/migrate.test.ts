/** `migrate`: upgrades a database and says what it did. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrate } from '../../src/commands/migrate.ts';
import { SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { lockStore } from '../../src/store/sqlite/lock.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { makeFirstDatabase } from '../store/first-version.ts';
import { runCommand } from './run.ts';

test('migrate upgrades an older database once, and keeps a backup', async (t) => {
  const path = join(temporaryFolder(t), 'deliverability.db');
  const env = { DELIVERABILITY_DATABASE_URL: `sqlite:${path}` };
  await assert.rejects(runCommand(migrate, [], env), /There is no database at/);
  makeFirstDatabase(path).close();

  const unlock = lockStore(path);
  await assert.rejects(runCommand(migrate, [], env), /Another instance of the service is using/);
  unlock();

  const first = await runCommand(migrate, [], env);
  const [, kept] =
    /^Upgraded .* from schema version 19 to \d+\. The database as it was is kept in (.+)\.\n$/.exec(
      first.stderr,
    )!;
  assert.ok(existsSync(kept!));
  const again = await runCommand(migrate, ['--json'], env);
  assert.deepEqual(JSON.parse(again.stdout), {
    database: path,
    from: SCHEMA_VERSION,
    to: SCHEMA_VERSION,
    backup: null,
  });
});
