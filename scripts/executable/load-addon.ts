/**
 * Loads the database addon of the executable: writes it to a private file, loads and deletes it.
 *
 * The operating system loads addons from real files only. pkg would leave a copy in `~/.cache`, so
 * that a service with a read-only home directory could not start.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isSystemTooOld } from '../../src/store/sqlite/addon.ts';

/** Where pkg mounts the files of the executable. */
const SNAPSHOT_FOLDER = '/snapshot/';
const pkgDlopen = process.dlopen;

process.dlopen = (module, filename, ...flags) => {
  const load = (file: string) => pkgDlopen.call(process, module, file, ...flags);
  if (!filename.startsWith(SNAPSHOT_FOLDER)) return load(filename);
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'deliverability-'));
    const copy = join(folder, basename(filename));
    writeFileSync(copy, readFileSync(filename), { mode: 0o700 });
    load(copy);
  } catch (error) {
    if (isSystemTooOld(error)) throw error;
    // The temporary folder is full or mounted with noexec: fall back to the copy in ~/.cache.
    load(filename);
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
};
