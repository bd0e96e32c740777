/** `check`: analyses one message without a server or a database. */

import { basename } from 'node:path';
import type { AnalysisInput } from '../analysis/check.ts';
import type { AnalysisResult } from '../analysis/result.ts';
import { isoTime, systemClock } from '../lib/clock.ts';
import { withCrlf } from '../mailtests/submit.ts';
import { reportText } from '../render/report-text.ts';
import type { SealedReport } from '../render/thread/job.ts';
import { readArguments } from './arguments.ts';
import { analyzeOne } from './check-analysis.ts';
import { readEnvelope, readInput, readKind, readLimit } from './check-input.ts';
import { readReportPaths, writeReports } from './check-reports.ts';
import { type Command, EXIT, type Io } from './io.ts';

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
  summary: 'Analyse one message without a server or a database',
  options: [
    '--ip ADDRESS        Address of the client that sent it; without it SPF is not asked',
    '--helo NAME         What the client called itself',
    '--mail-from ADDR    Address of MAIL FROM; "" is the null sender (default: Return-Path; without either SPF is not asked)',
    '--tls VERSION       TLSv1.3, TLSv1.2, …, or none',
    '--kind KIND         auto, marketing or transactional',
    '--dns SERVERS       DNS servers to ask, such as 127.0.0.1:5353',
    '--no-links          Do not ask whether the links of the message work',
    '--offline           Ask nobody anything',
    '--fail-below N      Exit with 1 where the score is below N, or there is none',
    '--json              Print the result as JSON',
    '--html FILE         Write the report as a page, too',
    '--pdf FILE          Write the report as a PDF, too',
  ],
  async run(args, io) {
    const { values, positionals } = readArguments(args, OPTIONS, { min: 1, max: 1, what: 'FILE' });
    const file = positionals[0]!;
    const limit = readLimit(values['fail-below']);
    const paths = readReportPaths(values, file);
    const { raw, converted } = await withCrlf(await readInput(file, io));
    const input: AnalysisInput = {
      raw,
      envelope: readEnvelope(values),
      receivedAt: systemClock.now(),
      kind: readKind(values.kind),
    };
    const outcome = await analyzeOne(input, values, io);
    if (!outcome.ok) {
      io.stderr(`The message cannot be analysed: ${outcome.detail}.\n`);
      return EXIT.outside;
    }
    const result = { ...outcome.result, checks: JSON.parse(outcome.result.checks) };
    const report = { ...outcome.result, providers: JSON.stringify(result.providers) };
    const faults = await writeReports(paths, { ...report, ...about(input, file) }, raw);
    if (values.json)
      io.stdout(`${JSON.stringify(toTestObject(result, input, converted), null, 2)}\n`);
    else io.stdout(asText(result, file, Object.keys(paths).length > 0, io));
    for (const fault of faults) io.stderr(`${fault}\n`);
    if (result.temporary || faults.length > 0) return EXIT.outside;
    return limit !== null && (result.score === null || result.score < limit) ? EXIT.no : EXIT.done;
  },
};

/** What a report tells besides the result. */
function about(
  { envelope, receivedAt }: AnalysisInput,
  file: string,
): Pick<SealedReport, 'id' | 'name' | 'received_at' | 'completed_at' | 'envelope' | 'placement'> {
  return {
    id: null,
    name: file === '-' ? null : basename(file),
    received_at: isoTime(receivedAt),
    completed_at: isoTime(systemClock.now()),
    envelope,
    placement: [],
  };
}

function asText(result: AnalysisResult, file: string, hasReport: boolean, io: Io): string {
  const report = reportText(result, {
    width: io.width,
    color: io.colorOut,
    of: file === '-' ? undefined : basename(file),
  });
  const next = [
    '--json for every check with its evidence',
    hasReport ? null : '--html report.html or --pdf report.pdf for a report to pass on',
    result.auth_results.spf === null ? '--ip and --mail-from to check SPF and reverse DNS' : null,
  ].filter(Boolean);
  return `${report}\nNext: ${next.join(', ')}.\n`;
}

/** The test object of the API, as far as there is one without a service. */
function toTestObject(
  result: AnalysisResult,
  { envelope, kind }: AnalysisInput,
  line_ends_converted: boolean,
) {
  const { uncapped: _, temporary, ...test } = result;
  const failed = temporary
    ? { status: 'failed', failure_reason: 'analysis_error' }
    : { status: 'completed', failure_reason: null };
  return {
    object: 'test',
    ...failed,
    kind,
    envelope,
    line_ends_converted,
    inbox_placement: {},
    ...test,
    placement: [],
  };
}
