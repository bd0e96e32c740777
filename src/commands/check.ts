/** `check`: analyzes one message without a server or a database. */

import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createBlocklistWatch } from '../analysis/blocklists/watch.ts';
import type { AnalysisInput, Envelope, Setup } from '../analysis/check.ts';
import { NO_SETUP } from '../analysis/context.ts';
import { createAnalysisPool, type PoolOutcome } from '../analysis/pool.ts';
import type { AnalysisResult } from '../analysis/result.ts';
import { configuredBlocklists } from '../app.ts';
import { type Config, readConfig } from '../config/config.ts';
import { VARIABLES } from '../config/variables.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { isoTime, systemClock } from '../lib/clock.ts';
import { randomToken } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { printable, printableJson, silentLog } from '../lib/log.ts';
import { notAMessage } from '../mailtests/message-file.ts';
import { withCrlf } from '../mailtests/submit.ts';
import { createDnsResolver, systemDnsServers } from '../net/dns/network-resolver.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { createReportRenderer } from '../report/renderer.ts';
import type { ReportFormat, StoredReport } from '../report/report.ts';
import { reportText, wrap } from '../report/text.ts';
import { type Command, EXIT, type Io, printMessage, readArguments, UsageError } from './command.ts';
import { readDnsOption, startProgress, withProgress } from './progress.ts';

const OPTIONS = {
  ip: { type: 'string' },
  helo: { type: 'string' },
  'mail-from': { type: 'string' },
  tls: { type: 'string' },
  kind: { type: 'string' },
  dns: { type: 'string' },
  offline: { type: 'boolean' },
  'no-links': { type: 'boolean' },
  'fail-below': { type: 'string' },
  json: { type: 'boolean' },
  html: { type: 'string' },
  pdf: { type: 'string' },
} as const;

export const check: Command = {
  name: 'check',
  usage: 'FILE|- [--ip ADDRESS] [--json] [--html FILE] [--pdf FILE] …',
  summary: 'Check a message without a server or a database',
  options: [
    '--ip ADDRESS        Sending IP address; required to check SPF and reverse DNS',
    '--helo NAME         HELO name of the sending server',
    '--mail-from ADDR    Envelope sender; "" is the null sender (default: Return-Path)',
    '--tls VERSION       TLSv1.3, TLSv1.2, …, or none',
    '--kind KIND         auto, marketing or transactional',
    '--dns SERVERS       DNS servers to use, such as 127.0.0.1:5353',
    '--no-links          Do not check links',
    '--offline           Make no network requests',
    '--fail-below N      Exit with code 1 if the score is below N or unknown',
    '--json              Print the result as JSON',
    '--html FILE         Also write the report as an HTML page',
    '--pdf FILE          Also write the report as a PDF',
  ],
  async run(args, io) {
    const { values, positionals } = readArguments(args, OPTIONS, {
      min: 1,
      max: 1,
      argumentName: 'FILE',
    });
    const file = positionals[0]!;
    const limit = readMinScore(values['fail-below']);
    const paths = readReportPaths(values, file);
    const { raw, converted } = await withCrlf(await readInput(file, io));
    const input: AnalysisInput = {
      raw,
      envelope: readEnvelope(values),
      receivedAt: systemClock.now(),
      kind: readKind(values.kind),
    };
    const outcome = await analyzeMessage(input, values, io);
    if (!outcome.ok) {
      printMessage(io, `Could not analyze the message: ${printable(outcome.detail)}.`);
      return EXIT.externalFailure;
    }
    const result = { ...outcome.result, checks: JSON.parse(outcome.result.checks) };
    const report = { ...outcome.result, providers: JSON.stringify(result.providers) };
    const faults = await writeReports(paths, { ...report, ...reportMetadata(input, file) }, raw);
    if (values.json) io.stdout(`${printableJson(toTestObject(result, input, converted), 2)}\n`);
    else io.stdout(formatText(result, file, Object.keys(paths).length > 0, io));
    for (const fault of faults) printMessage(io, printable(fault));
    if (result.temporary || faults.length > 0) return EXIT.externalFailure;
    return limit !== null && (result.score === null || result.score < limit)
      ? EXIT.negative
      : EXIT.success;
  },
};

/** The fields of a report that are not in the result. */
function reportMetadata(
  { envelope, receivedAt }: AnalysisInput,
  file: string,
): Pick<StoredReport, 'id' | 'name' | 'received_at' | 'completed_at' | 'envelope' | 'placement'> {
  return {
    id: null,
    name: file === '-' ? null : basename(file),
    received_at: isoTime(receivedAt),
    completed_at: isoTime(systemClock.now()),
    envelope,
    placement: [],
  };
}

function formatText(result: AnalysisResult, file: string, hasReport: boolean, io: Io): string {
  const report = reportText(result, {
    width: io.width,
    color: io.useColor,
    testedName: file === '-' ? undefined : basename(file),
  });
  const hints = [
    result.alternative ? '--kind marketing or --kind transactional to settle the kind' : null,
    '--json for every check with its evidence',
    hasReport ? null : '--html report.html or --pdf report.pdf for a report to share',
    result.auth_results.spf === null ? '--ip and --mail-from to check SPF and reverse DNS' : null,
  ].filter(Boolean);
  return `${report}\n${wrap(`Next: ${hints.join(', ')}.`, io.width)}\n`;
}

/** The test object of the API, without the fields that only a service has. */
function toTestObject(
  result: AnalysisResult,
  { envelope, kind }: AnalysisInput,
  line_ends_converted: boolean,
) {
  const { uncapped: _, temporary, ...test } = result;
  const outcome = temporary
    ? { status: 'failed', failure_reason: 'analysis_error' }
    : { status: 'completed', failure_reason: null };
  return {
    object: 'test',
    ...outcome,
    kind,
    kind_confidence: result.judged_kind.confidence,
    envelope,
    line_ends_converted,
    inbox_placement: {},
    ...test,
    placement: [],
  };
}

// Arguments and options of `check`.

const MAX_MESSAGE_BYTES = 25 * 1024 * 1024;

/** Throws a UsageError if the file cannot be read, is empty, is too large, or is not a message. */
async function readInput(file: string, io: Io): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes =
      file === '-' ? await io.stdin(MAX_MESSAGE_BYTES) : readAtMost(file, MAX_MESSAGE_BYTES + 1);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(unreadable(file, code));
  }
  const name = file === '-' ? 'Standard input' : file;
  if (bytes.byteLength === 0) throw new UsageError(`${name} is empty`);
  if (bytes.byteLength > MAX_MESSAGE_BYTES) throw new UsageError(`${name} is larger than 26 MB`);
  const problem = notAMessage(name, bytes);
  if (problem !== null) throw new UsageError(problem);
  return bytes;
}

function unreadable(file: string, code: string | undefined): string {
  if (code === 'ENOENT') return `${file} does not exist`;
  if (code === 'EISDIR') return `${file} is a folder. Name one message file in it`;
  return code === 'EACCES'
    ? `${file} cannot be read: permission denied`
    : `${file} cannot be read (${code})`;
}

/** Reads at most `max` bytes, because a device may never end. */
function readAtMost(file: string, max: number): Uint8Array {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafeSlow(max);
    let size = 0;
    for (let read = -1; read !== 0 && size < max; size += read)
      read = readSync(descriptor, buffer, size, max - size, null);
    return buffer.subarray(0, size);
  } finally {
    closeSync(descriptor);
  }
}

function readMinScore(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new UsageError('--fail-below must be a number from 0 to 100');
  return Number(text);
}

function readKind(text = 'auto'): AnalysisInput['kind'] {
  if (text === 'auto' || text === 'marketing' || text === 'transactional') return text;
  throw new UsageError('--kind must be auto, marketing or transactional');
}

function readEnvelope(values: {
  ip?: string;
  helo?: string;
  'mail-from'?: string;
  tls?: string;
}): Envelope {
  const client_ip = values.ip === undefined ? null : normalizeAddress(values.ip);
  if (values.ip !== undefined && client_ip === null)
    throw new UsageError(`"${values.ip}" is not an IP address`);
  return {
    client_ip,
    helo: values.helo ?? null,
    mail_from: values['mail-from']?.replace(/^<(.*)>$/, '$1') ?? null,
    tls: readTls(values.tls),
  };
}

function readTls(text: string | undefined): Envelope['tls'] {
  if (text === undefined) return null;
  if (text === 'none') return { used: false, version: null, cipher: null };
  if (!/^(TLSv1(\.[0-3])?|SSLv3)$/.test(text))
    throw new UsageError('--tls must be TLSv1.3, TLSv1.2, TLSv1.1, TLSv1 or none');
  return { used: true, version: text, cipher: null };
}

// The analysis, with the configuration that affects a message.

interface AnalysisOptions {
  dns?: string;
  offline?: boolean;
  'no-links'?: boolean;
}

const { DNS_SERVERS, BLOCKLISTS, SPAMHAUS_DQS_KEY, SPAMD_URL, RSPAMD_URL, CHECK_LINKS } = VARIABLES;
/** Other variables affect only the service, so an invalid one must not prevent a check. */
const CHECK_VARIABLES = {
  DNS_SERVERS,
  BLOCKLISTS,
  SPAMHAUS_DQS_KEY,
  SPAMD_URL,
  RSPAMD_URL,
  CHECK_LINKS,
};
type CheckConfig = Pick<Config, keyof typeof CHECK_VARIABLES>;

/** Throws a UsageError or a ConfigError for invalid options or variables. */
async function analyzeMessage(
  input: AnalysisInput,
  options: AnalysisOptions,
  io: Io,
): Promise<PoolOutcome> {
  const config: CheckConfig = readConfig(io.env, CHECK_VARIABLES).config;
  const lists = configuredBlocklists(config);
  const servers = readDnsOption(options.dns) ?? config.DNS_SERVERS ?? systemDnsServers();
  const dns = createDnsResolver({ servers, clock: systemClock });
  const progress = startProgress(io);
  const resolver: Resolver = withProgress(dns, progress);
  const pool = createAnalysisPool({ threads: 1, resolver, log: silentLog });
  const createSetup = async (): Promise<Setup> => ({
    // Each list is tested first, because one that lists everything or nothing proves nothing.
    blocklists: await createBlocklistWatch({
      lists,
      resolver,
      clock: systemClock,
      log: silentLog,
    }).inUse(),
    spamd: config.SPAMD_URL,
    rspamd: config.RSPAMD_URL,
    checkLinks: config.CHECK_LINKS && !options['no-links'],
  });
  try {
    return options.offline
      ? await pool.analyze(input, { offline: true, setup: NO_SETUP })
      : await pool.analyze(input, { setup: await createSetup() });
  } finally {
    progress.end();
    await pool.close();
    dns.close();
  }
}

// The files of `check --html` and `--pdf`: written completely or not at all.

type ReportPaths = Partial<Record<ReportFormat, string>>;

const REPORT_FORMATS: ReportFormat[] = ['html', 'pdf'];

/** Throws a UsageError if a path cannot be written, before the analysis starts. */
function readReportPaths(values: { html?: string; pdf?: string }, message: string): ReportPaths {
  const paths: ReportPaths = {};
  const usedPaths = new Map([[resolve(message), 'the message file']]);
  for (const format of REPORT_FORMATS) {
    const file = values[format];
    if (file === undefined) continue;
    const path = writablePath(file, `--${format}`);
    if (usedPaths.has(path))
      throw new UsageError(`--${format} is the same file as ${usedPaths.get(path)}`);
    usedPaths.set(path, `the file of --${format}`);
    paths[format] = path;
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

/** Renders and writes the files. Resolves with one error message per failed file. */
async function writeReports(
  paths: ReportPaths,
  report: StoredReport,
  raw: Uint8Array,
): Promise<string[]> {
  const faults: string[] = [];
  const reporter = createReportRenderer({ log: silentLog });
  try {
    for (const [format, path] of Object.entries(paths) as [ReportFormat, string][])
      try {
        const message = async () => raw;
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

/** Writes to a temporary file and renames it, so that the path always has a complete file. */
function writeAtomically(path: string, bytes: Uint8Array): void {
  const temporaryPath = join(dirname(path), `.deliverability-${randomToken(8)}`);
  try {
    writeFileSync(temporaryPath, bytes, { flag: 'wx' });
    renameSync(temporaryPath, path);
  } catch (error) {
    rmSync(temporaryPath, { force: true });
    throw error;
  }
}
