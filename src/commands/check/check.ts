/** `check`: analyzes messages without a server or a database, or waits for a test on a service. */

import { basename, resolve } from 'node:path';
import type { AnalysisInput, Envelope } from '../../analysis/check.ts';
import type { AnalysisResult, StoredResult } from '../../analysis/result.ts';
import { printable, printableJson } from '../../lib/log.ts';
import { withCrlf } from '../../mailtests/submit.ts';
import type { StoredReport } from '../../report/report.ts';
import { defineCommand, EXIT, type Io, printMessage, UsageError } from '../command.ts';
import { type AnalysisOptions, analyzeMessages, resultOf, type SourceOutcome } from './analysis.ts';
import { type Baseline, compare, readBaseline, regressions } from './baseline.ts';
import { createGitHub, isOnGitHub, withoutCommands } from './github.ts';
import { findMessages, type Inputs, type MessageSource } from './inputs.ts';
import { type Limits, missedLimits, readLimits } from './limits.ts';
import { OPTIONS, readEnvelope, readTolerance } from './options.ts';
import { exitCodeOf, isChecked, type Outcome, type Totals, titleOf } from './outcome.ts';
import { jsonReport } from './reports/json.ts';
import { createReportWriter, type ReportFormatter } from './reports/report-writer.ts';
import {
  FORMATTERS,
  isReportArgument,
  type ReportPaths,
  readReportPaths,
  renderedFormats,
  writeRendered,
} from './reports/reports.ts';
import { checkOnService } from './service.ts';
import { endText, messageText, singleText } from './text.ts';

export const check = defineCommand({
  name: 'check',
  usage: 'FILE…|-|TEST_ID|INBOX_ID [--report FORMAT=FILE] …',
  summary: 'Check templates and messages without a server or a database',
  arguments: [
    {
      name: 'FILE',
      description:
        'An .html template, an .eml file, a folder with .eml files, or - for standard input; repeatable',
      completion: 'file',
      isRepeatable: true,
    },
  ],
  options: OPTIONS,
  exitCodes:
    '0 passed, 1 below a limit or worse than the baseline, 2 invalid option or file, 3 network or disk failure. The highest one of all messages counts.',
  async run({ args, values, positionals }, io) {
    const { files, reports } = splitReports(args, positionals, values.report);
    if (files.length === 0) throw new UsageError('Missing argument: FILE');
    const limits = readLimits(values['fail-below']);
    if (values.wait || values['wait-placement']) return waitOnService(files, values, limits, io);
    for (const option of ['since', 'timeout', 'url'] as const)
      if (values[option] !== undefined) throw new UsageError(`--${option} is only for --wait`);
    const inputs = findMessages(files, io, values);
    const { sources, isSingle } = inputs;
    const used = new Map(files.map((file) => [resolve(file), 'the message file']));
    for (const { path } of sources) if (path !== null) used.set(path, 'a message file');
    if (isSingle) used.set(sources[0]!.path ?? '', 'the message file');
    const paths = readReportPaths({ ...values, report: reports }, used);
    const rendered = renderedFormats(paths)[0];
    if (rendered && !isSingle)
      throw new UsageError(
        `--${rendered} writes the report of one message. For several, use --report markdown=FILE`,
      );
    const tolerance = readTolerance(values.tolerance, values.baseline !== undefined);
    const baseline = values.baseline === undefined ? null : readBaseline(values.baseline);
    const input = {
      envelope: readEnvelope(values),
      kind: values.kind ?? 'auto',
    };
    const { json = false } = values;
    return runChecks(
      inputs,
      { input, analysis: values, limits, baseline, tolerance, paths, json },
      io,
    );
  },
});

/** `--report json=a.json junit=b.xml`: the second one is an argument of its own. After `--`, all are files. */
function splitReports(args: string[], positionals: string[], reports: string[] | undefined) {
  if (!reports) return { files: positionals, reports: [] };
  const end = args.indexOf('--');
  const firstFile = end < 0 ? positionals.length : positionals.length - (args.length - end - 1);
  const isReport = (arg: string, index: number) => index < firstFile && isReportArgument(arg);
  return {
    files: positionals.filter((arg, index) => !isReport(arg, index)),
    reports: [...reports, ...positionals.filter(isReport)],
  };
}

/** The service has analyzed the message, so options for that have no effect. */
function waitOnService(
  files: string[],
  values: {
    url?: string;
    timeout?: string;
    since?: string;
    json?: boolean;
    'wait-placement'?: boolean;
  },
  limits: Limits,
  io: Io,
): Promise<number> {
  const allowed = ['wait', 'wait-placement', 'since', 'timeout', 'url', 'json', 'fail-below'];
  const other = Object.keys(values).find((name) => !allowed.includes(name));
  if (other !== undefined) throw new UsageError(`--${other} cannot be combined with --wait`);
  if (files.length > 1) throw new UsageError(`Unexpected argument: "${files[1]}"`);
  const { url, timeout, since, json = false } = values;
  const placement = values['wait-placement'] ?? false;
  return checkOnService(files[0]!, { url, timeout, since, placement, json, limits }, io);
}

interface RunOptions {
  /** What the user gives. */
  input: Pick<AnalysisInput, 'envelope' | 'kind'>;
  analysis: AnalysisOptions;
  limits: Limits;
  baseline: Baseline | null;
  tolerance: number;
  paths: ReportPaths;
  json: boolean;
}

/** Analyzes all messages, and prints and writes each as soon as those before it are done. */
async function runChecks(
  { sources, isSingle }: Inputs,
  options: RunOptions,
  processIo: Io,
): Promise<number> {
  const { paths, json, baseline } = options;
  // Without reports, an unusable file is an invalid argument like any other.
  if (isSingle && paths.size === 0) await sources[0]!.read();
  const isGitHub = isOnGitHub(processIo.env);
  const io = isGitHub ? withoutCommands(processIo, json) : processIo;
  const writers = [...paths].flatMap(([format, path]) => {
    const formatter = FORMATTERS[format]?.({ env: io.env, baseline });
    return formatter ? [createReportWriter(path, formatter)] : [];
  });
  const github = isGitHub ? createGitHub(processIo) : null;
  const print = isSingle ? singlePrinter(options, io) : listPrinter(json, io);
  const { limits } = options;
  const limited = limits.score !== null || limits.categories.size > 0 || baseline !== null;
  const totals: Totals = { messages: 0, limited, failed: 0, unchecked: 0 };
  const faults: string[] = [];
  let exitCode: number = EXIT.success;
  try {
    print.begin();
    const run = analyzeMessages(sources, options.input, options.analysis, io);
    for await (const analyzed of run) {
      const outcome = outcomeOf(analyzed, options);
      totals.messages += 1;
      if (!isChecked(outcome)) totals.unchecked += 1;
      else if (outcome.failures.length > 0) totals.failed += 1;
      exitCode = Math.max(exitCode, exitCodeOf(outcome));
      print.add(outcome);
      for (const writer of writers) writer.add(outcome);
      github?.add(outcome);
      if (isSingle && isChecked(outcome) && renderedFormats(paths).length > 0)
        faults.push(...(await renderReports(analyzed, options, io)));
    }
    print.end(totals);
    for (const writer of writers) writer.end(totals);
  } finally {
    for (const writer of writers) writer.discard();
  }
  faults.push(...writers.flatMap((writer) => writer.fault() ?? []));
  faults.push(...[github?.end(totals)].filter((fault) => typeof fault === 'string'));
  for (const fault of faults) printMessage(io, printable(fault));
  return faults.length > 0 ? EXIT.externalFailure : exitCode;
}

function outcomeOf(
  analyzed: SourceOutcome,
  { input, limits, baseline, tolerance }: RunOptions,
): Outcome {
  const { name, path } = analyzed.source;
  const read = resultOf(analyzed);
  if ('problem' in read) return { name, path, ...read };
  const { result, converted, envelope } = read;
  const comparison = baseline && compare(result, name, baseline);
  const failures = [
    ...missedLimits(result, limits),
    ...(comparison ? regressions(result, comparison, tolerance) : []),
  ];
  const test = toTestObject(result, { envelope, kind: input.kind }, converted);
  return { name, path, result, envelope, test, failures, comparison };
}

// What is printed.

interface Printer {
  begin(): void;
  add(outcome: Outcome): void;
  end(totals: Totals): void;
}

function singlePrinter({ json, paths }: RunOptions, io: Io): Printer {
  return {
    begin() {},
    add(outcome) {
      if (!isChecked(outcome)) return printMessage(io, `${printable(outcome.problem)}.`);
      const text = () => singleText(outcome, { hasReport: paths.size > 0 }, io);
      io.stdout(json ? `${printableJson(outcome.test, 2)}\n` : text());
      const name = printable(titleOf(outcome.name));
      for (const failure of outcome.failures) printMessage(io, `${name}: ${printable(failure)}`);
    },
    end() {},
  };
}

function listPrinter(json: boolean, io: Io): Printer {
  const formatter: ReportFormatter = json
    ? jsonReport()
    : {
        begin: () => '',
        add: (outcome) => messageText(outcome, io),
        end: (totals) => endText(totals, io),
      };
  const print = (text: string) => {
    if (io.isStderrTerminal) io.status('');
    io.stdout(text);
  };
  return {
    begin: () => print(formatter.begin()),
    add(outcome) {
      print(formatter.add(outcome));
      if (!isChecked(outcome)) printMessage(io, `${printable(outcome.problem)}.`);
    },
    end: (totals) => print(formatter.end(totals)),
  };
}

/** The test object of the API, without the fields that only a service has. */
export function toTestObject(
  result: AnalysisResult,
  { envelope, kind }: { envelope: Envelope; kind: AnalysisInput['kind'] },
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

// The page and the PDF of one message.

async function renderReports(
  analyzed: SourceOutcome,
  { paths }: RunOptions,
  io: Io,
): Promise<string[]> {
  if ('problem' in analyzed || !analyzed.outcome.ok) return [];
  const report = storedReport(analyzed.outcome.result, analyzed.source, analyzed.envelope);
  return writeRendered(
    paths,
    report,
    async () => (await withCrlf(await analyzed.source.read())).raw,
    io,
  );
}

function storedReport(
  result: StoredResult,
  { name }: MessageSource,
  envelope: Envelope,
): StoredReport {
  return {
    ...result,
    id: null,
    name: name === '-' ? null : basename(name),
    received_at: envelope.file?.at ?? null,
    // The report of a file is the same on any day.
    completed_at: null,
    envelope,
    placement: [],
  };
}
