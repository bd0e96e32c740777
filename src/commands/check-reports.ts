/** The files that `check --html` and `--pdf` write: whole, or not at all. */

import {
  accessSync,
  constants,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { randomToken } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { silentLog } from '../lib/log.ts';
import type { ReportFormat, SealedReport } from '../render/thread/job.ts';
import { createReporter } from '../render/thread/reporter.ts';
import { UsageError } from './io.ts';

type ReportPaths = Partial<Record<ReportFormat, string>>;

const FORMATS: ReportFormat[] = ['html', 'pdf'];

/** Throws a UsageError, before anything is done, for a path that could not be written. */
export function readReportPaths(
  values: { html?: string; pdf?: string },
  message: string,
): ReportPaths {
  const paths: ReportPaths = {};
  const taken = new Map([[resolve(message), 'the message itself']]);
  for (const format of FORMATS) {
    const given = values[format];
    if (given === undefined) continue;
    const path = writablePath(given, `--${format}`);
    if (taken.has(path)) throw new UsageError(`--${format} names ${taken.get(path)}`);
    taken.set(path, `the file of --${format}`);
    paths[format] = path;
  }
  return paths;
}

function writablePath(given: string, option: string): string {
  if (given === '' || given === '-') throw new UsageError(`${option} takes the name of a file`);
  try {
    const found = statSync(given, { throwIfNoEntry: false });
    // In the place of a device or a pipe there would be a file afterwards.
    if (found && !found.isFile()) throw new UsageError(`${option} takes a file, not ${given}`);
    const path = found ? realpathSync(given) : resolve(given);
    accessSync(dirname(path), constants.W_OK);
    return path;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such folder' : code;
    throw new UsageError(`${option} cannot write ${given} (${why})`);
  }
}

/** Makes and writes them. Resolves with a sentence for each that could not be. */
export async function writeReports(
  paths: ReportPaths,
  report: SealedReport,
  raw: Uint8Array,
): Promise<string[]> {
  const faults: string[] = [];
  const reporter = createReporter({ log: silentLog });
  try {
    for (const [format, path] of Object.entries(paths) as [ReportFormat, string][])
      try {
        const message = async () => raw;
        const { bytes } = await reporter.render({ kind: 'test', format, report, message });
        writeWhole(path, bytes);
      } catch (error) {
        faults.push(`${path} is not written. ${reasonOf(error)}`);
      }
  } finally {
    await reporter.close();
  }
  return faults;
}

/** Throws what is a bug. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.detail;
  if ((error as NodeJS.ErrnoException).syscall) return (error as Error).message;
  throw error;
}

/** Under another name first: whoever looks at the path finds the old file or the new one. */
function writeWhole(path: string, bytes: Uint8Array): void {
  const temporary = join(dirname(path), `.deliverability-${randomToken(8)}`);
  try {
    writeFileSync(temporary, bytes, { flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
