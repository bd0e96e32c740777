/**
 * The executable's database addon: written to a private file, loaded, and deleted at once.
 *
 * The system loads addons from real files only. pkg's own way is a copy in `~/.cache` that stays;
 * a service whose home is read-only could not start, and the executable would not be one file.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** Where pkg mounts what the executable holds. */
const INSIDE = '/snapshot/';
const loadAsPkgDoes = process.dlopen;

process.dlopen = (module, filename, ...flags) => {
  const load = (file: string) => loadAsPkgDoes.call(process, module, file, ...flags);
  if (!filename.startsWith(INSIDE)) return load(filename);
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'deliverability-'));
    const copy = join(folder, basename(filename));
    writeFileSync(copy, readFileSync(filename), { mode: 0o700 });
    load(copy);
  } catch {
    // No room there, or no right to run code from there (noexec): then the copy in ~/.cache.
    load(filename);
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
};
