/** The database, its key, the disk, the clock, and whether the service runs. */

import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  isNearlyFull,
  STORAGE_ADVICE,
  sharesInWords,
  sharesOf,
} from '../../feedback/storage/shares.ts';
import { readStored } from '../../feedback/storage/stored.ts';
import { storageLimits, usageFrom } from '../../feedback/storage/usage.ts';
import { describeDatabase } from '../../health/database.ts';
import { checkSecretKey, keyFileOf } from '../../keys/secret-key.ts';
import { databaseLabel, isPostgresUrl } from '../../lib/database-url.ts';
import { MIN_FREE_BYTES, readDisk } from '../../lib/disk.ts';
import { formatSize } from '../../lib/durations.ts';
import { errorMessage } from '../../lib/errors.ts';
import { FIRST_VERSION, SCHEMA_VERSION } from '../../store/migrations/index.ts';
import { UPGRADE_TO_FIRST_VERSION } from '../../store/schema-mode.ts';
import { networkFileSystem } from '../../store/sqlite/file-system.ts';
import { readFreeSpace } from '../../store/sqlite/shrink.ts';
import { VERSION } from '../../version.ts';
import { type Check, type Checkup, check, ok, problem, unknown, warning } from './finding.ts';

export const MACHINE_CHECKS: Check[] = [
  check('service', 'Service', serviceState),
  check('database', 'Database', databaseState),
  check('secret_key', 'Secret key', keyState),
  check('disk', 'Disk', diskState),
  check('feedback_storage', 'Feedback storage', storageState),
  check('clock', 'Clock', clockState),
];

async function serviceState({ service, config }: Checkup) {
  const where = `${config.HTTP_HOST}:${config.HTTP_PORT}`;
  if (service === null)
    return warning(
      `No service responds on ${where}.`,
      'Start it with deliverability serve, and run this command again: some checks need it.',
    );
  const bad = service.dependencies.filter(
    ({ status }) => status === 'down' || status === 'degraded',
  );
  const running = `Version ${service.version} responds on ${where}.`;
  if (bad.length > 0) {
    const details = bad.map(
      ({ name, status, detail }) => `${name} is ${status}${detail ? ` (${detail})` : ''}`,
    );
    const report = bad.some(({ status }) => status === 'down') ? problem : warning;
    return report(
      `${running} ${details.join('; ')}.`,
      'See the other findings, and the log of the service.',
    );
  }
  if (service.version !== VERSION)
    return warning(
      `${running} This program has version ${VERSION}.`,
      'Restart the service, so that both have the same version.',
    );
  return ok(running);
}

async function databaseState({ config, store }: Checkup) {
  const label = databaseLabel(config.DATABASE_URL);
  if (config.DATABASE_URL === ':memory:')
    return warning(
      'The database is in memory.',
      'Set DELIVERABILITY_DATABASE_URL to a file to keep data.',
    );
  if ('fault' in store) {
    const isMissing = !isPostgresUrl(config.DATABASE_URL) && !existsSync(config.DATABASE_URL);
    return isMissing
      ? warning(
          store.fault,
          'The first start creates it: deliverability serve. If there is one elsewhere, set DELIVERABILITY_DATA_DIR.',
        )
      : problem(
          store.fault,
          'Check DELIVERABILITY_DATABASE_URL, the permissions of the file, and that the server runs.',
        );
  }
  const { db, version } = store;
  if (version > SCHEMA_VERSION)
    return problem(
      `${label} has schema version ${version}; this program supports ${SCHEMA_VERSION}.`,
      'Install the newer version of the program that upgraded it, or restore a backup.',
    );
  if (version < FIRST_VERSION)
    return problem(
      `${label} has schema version ${version}; this program upgrades only ${FIRST_VERSION} and later.`,
      UPGRADE_TO_FIRST_VERSION,
    );
  if (version < SCHEMA_VERSION)
    return warning(
      `${label} has schema version ${version}; this program needs ${SCHEMA_VERSION}.`,
      'Back it up, then run the migrate command, or start the service.',
    );
  await db.selectFrom('members').select('id').limit(1).execute();
  const facts = await describeDatabase(db);
  const text = `${facts.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'} ${facts.version ?? ''}, schema version ${version}.`;
  if (facts.version === null)
    return unknown(`${label} did not respond in time.`, 'Check the load of the database server.');
  if (facts.clock_skew_ms !== null && Math.abs(facts.clock_skew_ms) > 2_000)
    return warning(
      `${text} The clock of this machine differs from that of the server by ${(facts.clock_skew_ms / 1000).toFixed(1)} s.`,
      'Synchronize both clocks with NTP.',
    );
  if (facts.engine === 'postgres') return ok(text);
  const { size, free, canShrink } = await readFreeSpace(db);
  const sizes = `${text} ${formatSize(size)}, of which ${formatSize(free)} are free.`;
  return canShrink || free < size / 2
    ? ok(sizes)
    : warning(
        sizes,
        'The file can’t shrink. Stop the service, back it up, and restore the backup with --force.',
      );
}

async function keyState({ config, store }: Checkup) {
  const file = keyFileOf(config);
  const inFile = !config.SECRET_KEY;
  const hasStore = !('fault' in store) && store.version === SCHEMA_VERSION;
  if (inFile && !existsSync(file) && !hasStore)
    return warning(`There is no key at ${file} yet.`, 'The first start creates it.');
  if (hasStore)
    try {
      await checkSecretKey(config, store.db);
    } catch (error) {
      return problem(
        errorMessage(error),
        'Restore the key from a backup before you start the service.',
      );
    }
  if (!hasStore)
    return unknown('Without the database, it can’t be compared.', 'Fix the database first.');
  if (!inFile) return ok('DELIVERABILITY_SECRET_KEY fits the database.');
  const { mode } = await stat(file);
  return (mode & 0o077) === 0
    ? ok(`${file} fits the database.`)
    : warning(`${file} can be read by other users.`, `Run: chmod 600 ${file}`);
}

const LOW_FREE_BYTES = 2 * 1024 * 1024 * 1024;

async function diskState({ config }: Checkup) {
  const isFile = !isPostgresUrl(config.DATABASE_URL) && config.DATABASE_URL !== ':memory:';
  const folder = isFile ? dirname(config.DATABASE_URL) : config.DATA_DIR;
  if (!existsSync(folder))
    return warning(`${folder} does not exist yet.`, 'The first start creates it.');
  const { bavail, bsize, blocks, files, ffree, type } = await statfs(folder);
  const free = bavail * bsize;
  const text = `${formatSize(free)} of ${formatSize(blocks * bsize)} free in ${folder}.`;
  const network = networkFileSystem(type);
  if (isFile && network !== undefined)
    return problem(
      `${folder} is on a network file system (${network}), where SQLite can lose data.`,
      'Move DELIVERABILITY_DATA_DIR to a local disk, or use PostgreSQL.',
    );
  if (free < MIN_FREE_BYTES)
    return problem(
      `${text} The service rejects mail.`,
      'Free space, or lower DELIVERABILITY_TEST_RETENTION and restart the service.',
    );
  if (files > 0 && ffree < 1_000)
    return problem(`${text} Only ${ffree} inodes are free.`, 'Delete files that you don’t need.');
  return free < LOW_FREE_BYTES
    ? warning(text, 'Free space soon: below 256 MiB, the service rejects mail.')
    : ok(text);
}

async function storageState({ config, store }: Checkup) {
  if ('fault' in store || store.version !== SCHEMA_VERSION)
    return unknown('Without the database, it is not known.', 'Fix the database first.');
  const limits = storageLimits(config, await readDisk(config.DATABASE_URL));
  const shares = sharesOf(usageFrom(await readStored(store.db), limits));
  const text = sharesInWords(shares);
  return shares.some(isNearlyFull) ? warning(text, STORAGE_ADVICE) : ok(text);
}

/** The header has whole seconds. */
const MAX_SKEW_MS = 2_500;
/** Beyond this, signatures, tokens and certificates fail. */
const MAX_TOLERABLE_SKEW_MS = 60_000;
const SYNCHRONIZE = 'Synchronize the clock with NTP, for example: timedatectl set-ntp true';

async function clockState({ web, timeUrl, clock }: Checkup) {
  const before = clock.now();
  const result = await web({ method: 'HEAD', url: timeUrl, timeoutMs: 8_000 });
  const after = clock.now();
  const { host } = new URL(timeUrl);
  const another = 'Name a server that this machine can reach: --time https://…';
  if (result.status === 'failed') {
    // An untrusted certificate is what a clock that is years off looks like.
    const hint = result.reason === 'tls' ? ' A wrong clock can be the cause.' : '';
    return unknown(`${host} can’t be asked for the time: ${result.detail}.${hint}`, another);
  }
  const time = Date.parse(result.headers.date ?? '');
  if (Number.isNaN(time)) return unknown(`${host} sends no time.`, another);
  if (result.headers.age !== undefined && result.headers.age !== '0')
    return unknown(`The response of ${host} comes from a cache.`, another);
  const skew = (before + after) / 2 - (time + 500);
  const text = `Compared with ${host}, the clock is ${describeSkew(skew)}.`;
  if (Math.abs(skew) - (after - before) / 2 <= MAX_SKEW_MS) return ok(text);
  return Math.abs(skew) > MAX_TOLERABLE_SKEW_MS
    ? problem(`${text} Signatures, sign-ins and certificates fail.`, SYNCHRONIZE)
    : warning(text, SYNCHRONIZE);
}

function describeSkew(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (Math.abs(ms) <= MAX_SKEW_MS) return 'right to about a second';
  return `${seconds} s ${ms > 0 ? 'ahead' : 'behind'}`;
}
