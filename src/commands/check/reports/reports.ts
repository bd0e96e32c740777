/** `--report FORMAT=FILE`, `--html` and `--pdf`: which reports a run writes, and where. */

import {
  accessSync,
  constants,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RULESET } from '../../../analysis/ruleset.ts';
import { type Config, readConfig } from '../../../config/config.ts';
import { VARIABLES } from '../../../config/variables.ts';
import { AppError } from '../../../lib/errors.ts';
import { silentLog } from '../../../lib/log.ts';
import { fontPaths } from '../../../report/pdf/system-fonts.ts';
import { createReportRenderer } from '../../../report/renderer.ts';
import type { ReportFormat, StoredReport } from '../../../report/report.ts';
import { type Io, UsageError } from '../../command.ts';
import type { Baseline } from '../baseline.ts';
import { baselineReport } from './baseline-file.ts';
import { codeQualityReport } from './code-quality.ts';
import { jsonReport } from './json.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { repositoryFolder } from './paths.ts';
import { type ReportFormatter, temporaryFor } from './report-writer.ts';
import { sarifReport } from './sarif.ts';

interface FormatOptions {
  env: Io['env'];
  baseline: Baseline | null;
}

/** The reports of all messages of a run. */
export const FORMATTERS: Record<string, (options: FormatOptions) => ReportFormatter> = {
  json: jsonReport,
  junit: junitReport,
  sarif: ({ env }) => sarifReport(repositoryFolder(env)),
  markdown: () => markdownReport(),
  'code-quality': ({ env }) => codeQualityReport(repositoryFolder(env)),
  baseline: ({ baseline }) => baselineReport(RULESET, baseline),
};

/** The reports of one message, which look like those of the service. */
const RENDERED: ReportFormat[] = ['html', 'pdf'];
const isRendered = (format: string): format is ReportFormat =>
  RENDERED.includes(format as ReportFormat);

export const REPORT_FORMATS = [...Object.keys(FORMATTERS), ...RENDERED];

/** The path of each format. */
export type ReportPaths = Map<string, string>;

export const renderedFormats = (paths: ReportPaths): ReportFormat[] =>
  RENDERED.filter((format) => paths.has(format));

/** `sarif=out.sarif` after another report: `--report json=a.json sarif=out.sarif`. */
export const isReportArgument = (arg: string): boolean =>
  REPORT_FORMATS.some((format) => arg.startsWith(`${format}=`));

interface ReportValues {
  html?: string | undefined;
  pdf?: string | undefined;
  report?: string[] | undefined;
}

/**
 * Throws a UsageError if a path cannot be written, before the analysis starts. `usedPaths` are those of the messages
 * with what they are.
 */
export function readReportPaths(values: ReportValues, usedPaths: Map<string, string>): ReportPaths {
  const paths: ReportPaths = new Map();
  const add = (format: string, file: string, option: string) => {
    if (paths.has(format)) throw new UsageError(`${option} is given twice`);
    const path = writablePath(file, option);
    if (usedPaths.has(path))
      throw new UsageError(`${option} is the same file as ${usedPaths.get(path)}`);
    usedPaths.set(path, `the file of ${option}`);
    paths.set(format, path);
  };
  for (const format of RENDERED) {
    const file = values[format];
    if (file !== undefined) add(format, file, `--${format}`);
  }
  for (const text of values.report ?? []) {
    const at = text.indexOf('=');
    const format = at < 0 ? text : text.slice(0, at);
    if (at < 0 || !REPORT_FORMATS.includes(format))
      throw new UsageError(
        `--report must be FORMAT=FILE, not "${text}". The formats are ${REPORT_FORMATS.join(', ')}`,
      );
    add(format, text.slice(at + 1), `--report ${format}`);
  }
  return paths;
}

function writablePath(file: string, option: string): string {
  if (file === '' || file === '-') throw new UsageError(`${option} requires a file name`);
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    // Renaming would replace a device or a pipe with a file.
    if (stats && !stats.isFile())
      throw new UsageError(`${option} must be a regular file: ${file} is not`);
    const path = stats ? realpathSync(file) : resolve(file);
    accessSync(dirname(path), constants.W_OK);
    return path;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'the folder does not exist' : code;
    throw new UsageError(`${option} cannot write ${file} (${reason})`);
  }
}

const FONT_VARIABLES = { PDF_FONTS: VARIABLES.PDF_FONTS };

/** Renders and writes the page and the PDF. Resolves with one error message per failed file. */
export async function writeRendered(
  paths: ReportPaths,
  report: StoredReport,
  read: () => Promise<Uint8Array>,
  io: Io,
): Promise<string[]> {
  const { PDF_FONTS }: Pick<Config, 'PDF_FONTS'> = readConfig(io.env, FONT_VARIABLES).config;
  const faults: string[] = [];
  const message = async () => ({ raw: await read(), images: null });
  const reporter = createReportRenderer({ log: silentLog, fontPaths: fontPaths(PDF_FONTS) });
  try {
    for (const [format, path] of paths)
      if (isRendered(format))
        try {
          const { bytes } = await reporter.render({ kind: 'test', format, report, message });
          writeAtomically(path, bytes);
        } catch (error) {
          faults.push(`Could not write ${path}. ${reasonOf(error)}`);
        }
  } finally {
    await reporter.close();
  }
  return faults;
}

/** Rethrows unexpected errors. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.detail;
  if ((error as NodeJS.ErrnoException).syscall) return (error as Error).message;
  throw error;
}

function writeAtomically(path: string, bytes: Uint8Array): void {
  const temporaryPath = temporaryFor(path);
  try {
    writeFileSync(temporaryPath, bytes, { flag: 'wx' });
    renameSync(temporaryPath, path);
  } catch (error) {
    rmSync(temporaryPath, { force: true });
    throw error;
  }
}
