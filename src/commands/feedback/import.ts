/** `feedback import`: sends reports to a service. What it knows already is a duplicate, so it can be repeated. */

import { setTimeout as pause } from 'node:timers/promises';
import { type Config, readConfig } from '../../config/config.ts';
import { VARIABLES } from '../../config/variables.ts';
import type { UploadedReport } from '../../feedback/schemas/report.ts';
import { REPORT_STATUSES } from '../../feedback/status.ts';
import { monotonicClock } from '../../lib/clock.ts';
import { errorMessage } from '../../lib/errors.ts';
import { printable, printableJson } from '../../lib/log.ts';
import { EXIT, type Io, printMessage, UsageError } from '../command.ts';
import type { ServiceTarget } from '../mcp/service-client.ts';
import { startProgress } from '../progress.ts';
import type { FeedbackFile } from './files.ts';
import { hashOf, NO_JOURNAL, openJournal, type Sent } from './journal.ts';

const KEY_VARIABLE = 'DELIVERABILITY_API_KEY';
const { HTTP_PORT, BASE_URL } = VARIABLES;
const SERVICE_VARIABLES = { HTTP_PORT, BASE_URL };
type ServiceConfig = Pick<Config, keyof typeof SERVICE_VARIABLES>;

interface Options {
  url: string | undefined;
  json: boolean;
  source: 'upload' | 'imap';
  /** Where the files are, so that an interrupted import can resume. */
  paths?: string[];
}

/** The service of the option `--url`. Throws a UsageError. */
export function readTarget(url: string | undefined, { env }: Pick<Io, 'env'>): ServiceTarget {
  const config: ServiceConfig = readConfig(env, SERVICE_VARIABLES).config;
  const base = (url ?? config.BASE_URL).replace(/\/$/, '');
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new UsageError('--url must be the URL of the service, such as https://mail.example.com');
  const key = env[KEY_VARIABLE]?.trim() ?? '';
  if (key === '') throw new UsageError(`Set ${KEY_VARIABLE} to an API key of the service`);
  return { base, key };
}

/** Sends the files, small ones together. Exits with 1 if any report is refused, and with 3 if the service fails. */
export async function importFiles(
  files: AsyncIterable<FeedbackFile>,
  { url, json, source, paths }: Options,
  io: Io,
): Promise<number> {
  const { base, key } = readTarget(url, io);
  const service = { url: `${base}/v1/feedback/reports?source=${source}`, key };
  const journal = paths === undefined ? NO_JOURNAL : openJournal(io.env, base, paths);
  if (journal.earlier.size > 0)
    printMessage(
      io,
      `Resuming an interrupted import: ${fileCount(journal.earlier.size)} already sent.`,
    );
  const tally = createTally(io, json);
  const progress = startProgress(io);
  const startedAt = monotonicClock.now();
  try {
    // Messages of a mailbox are sent one by one, so that only one is in memory.
    for await (const group of groupsOf(files, source === 'imap' ? 1 : MAX_FILES)) {
      const unsent = group.filter((file) => {
        const sent = file.problem === null ? journal.earlier.get(hashOf(file.bytes)) : undefined;
        if (sent) tally.addSent(sent);
        return !sent;
      });
      for (const file of unsent) if (file.problem !== null) tally.skip(file, file.problem);
      const readable = unsent.filter(({ problem }) => problem === null);
      const done = readable.length === 0 ? [] : await sendAll(service, readable);
      journal.add(done.flatMap(({ file, outcome }) => tally.add(file, outcome)));
      const seconds = (monotonicClock.now() - startedAt) / 1000;
      const rate = Math.round(tally.files / Math.max(seconds, 0.001));
      progress.setStatus(
        `${fileCount(tally.files)}, ${rate} a second: ${printable(group.at(-1)!.name)}`,
      );
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    progress.end();
    printMessage(io, printable(`${errorMessage(error)} Run the command again to resume.`));
    return EXIT.externalFailure;
  } finally {
    progress.end();
  }
  journal.finish();
  tally.printEnd();
  return tally.hasRefused() ? EXIT.negative : EXIT.success;
}

const fileCount = (files: number): string => (files === 1 ? '1 file' : `${files} files`);

/** The limit of the API for one form. */
const MAX_FILES = 50;
/** Of all files in a form. A larger file is sent alone. */
const MAX_FORM_BYTES = 1024 * 1024;

async function* groupsOf(
  files: AsyncIterable<FeedbackFile>,
  maxFiles: number,
): AsyncGenerator<FeedbackFile[]> {
  let group: FeedbackFile[] = [];
  let bytes = 0;
  for await (const file of files) {
    if (group.length > 0 && bytes + file.bytes.byteLength > MAX_FORM_BYTES) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(file);
    bytes += file.bytes.byteLength;
    if (group.length < maxFiles) continue;
    yield group;
    [group, bytes] = [[], 0];
  }
  if (group.length > 0) yield group;
}

/** The reports of a file, or why the service rejected the file. */
type Outcome = UploadedReport[] | string;

/** With more problems than these, the number of each is printed at the end. */
const MAX_UNGROUPED = 10;

/** Counts and prints the results of the files. */
function createTally(io: Io, json: boolean) {
  const counts = new Map<string, number>();
  const problems = new Map<string, number>();
  let skipped = 0;
  const count = ({ reports }: Pick<Sent, 'reports'>) => {
    for (const [status, problem] of reports) {
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (problem === null) continue;
      const text = `${status}. ${problem}`;
      problems.set(text, (problems.get(text) ?? 0) + 1);
    }
  };
  const tally = {
    files: 0,
    skip({ name }: FeedbackFile, problem: string) {
      tally.files += 1;
      skipped += 1;
      printMessage(io, printable(`${name}: skipped. ${problem}`));
    },
    addSent(sent: Sent) {
      tally.files += 1;
      count(sent);
    },
    add(file: FeedbackFile, outcome: Outcome): Sent[] {
      if (typeof outcome === 'string') {
        tally.skip(file, outcome);
        return [];
      }
      const sent: Sent = { hash: hashOf(file.bytes), reports: outcome.map(statusOf) };
      tally.addSent(sent);
      for (const [index, [status, problem]] of sent.reports.entries())
        if (json) io.stdout(`${printableJson({ ...outcome[index], file: file.name })}\n`);
        else if (problem !== null)
          printMessage(io, printable(`${file.name}: ${status}. ${problem}`));
      return [sent];
    },
    printEnd() {
      if (json) return;
      io.stdout(`${summaryOf(tally.files, counts)}\n`);
      const total = [...problems.values()].reduce((sum, one) => sum + one, 0);
      if (total <= MAX_UNGROUPED) return;
      for (const [text, times] of [...problems].sort(([, a], [, b]) => b - a))
        printMessage(io, printable(`${times} × ${text}`));
    },
    hasRefused: () => counts.has('refused') || skipped > 0,
  };
  return tally;
}

const statusOf = ({ status, detail }: UploadedReport): Sent['reports'][number] => [
  status,
  status === 'refused' || status === 'conflict' ? (detail ?? CONFLICT) : null,
];

const CONFLICT =
  'A report of the same reporter, ID and period was counted before, with other figures.';

function summaryOf(files: number, counts: Map<string, number>): string {
  const parts = REPORT_STATUSES.flatMap((status) => {
    const count = counts.get(status);
    return count === undefined ? [] : [`${count} ${status}`];
  });
  return `${fileCount(files)}: ${parts.join(', ') || 'no reports'}.`;
}

const MAX_ATTEMPTS = 5;
const RETRY_MS = 2_000;

interface Service {
  url: string;
  key: string;
}

/** Sends the files as a form. If the service rejects it, sends each alone, so that no file fails because of another. */
async function sendAll(
  service: Service,
  files: FeedbackFile[],
): Promise<{ file: FeedbackFile; outcome: Outcome }[]> {
  if (files.length > 1) {
    const form = new FormData();
    for (const [index, { bytes }] of files.entries())
      form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), String(index));
    const { status, data } = await post(service, files[0]!.name, form);
    if (status === 201)
      return files.map((file, index) => ({
        file,
        outcome: data.filter((report) => report.file === String(index)),
      }));
  }
  const sent: { file: FeedbackFile; outcome: Outcome }[] = [];
  for (const file of files) {
    const { status, data, detail } = await post(service, file.name, Buffer.from(file.bytes));
    sent.push({ file, outcome: status === 201 ? data : detail });
  }
  return sent;
}

interface UploadResponse {
  status: number;
  data: UploadedReport[];
  detail: string;
}

/** Statuses that concern this request, rather than the service or the key. */
const REQUEST_ERRORS = [400, 413, 415];

/** Retries a request while the service is busy. Throws for errors that other requests would get too. */
async function post(
  { url, key }: Service,
  name: string,
  body: FormData | Buffer,
): Promise<UploadResponse> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body instanceof FormData ? {} : { 'content-type': 'application/octet-stream' }),
      },
      body: body as BodyInit,
    });
    const { status } = response;
    const answer = (await response.json().catch(() => ({}))) as Partial<UploadResponse>;
    if (status === 201 && answer.data === undefined)
      throw new Error(`The response of the service about ${name} was cut off.`);
    const { data = [], detail = `status ${status}.` } = answer;
    if (status === 201 || REQUEST_ERRORS.includes(status)) return { status, data, detail };
    const isBusy = status === 429 || status === 503;
    if (!isBusy || attempt === MAX_ATTEMPTS)
      throw new Error(`The service refused ${name}: ${detail}`);
    await pause(Number(response.headers.get('retry-after') ?? 0) * 1000 || RETRY_MS);
  }
}
