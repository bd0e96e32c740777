/** `feedback import`: sends reports to a service. What it knows already is a duplicate, so it can be repeated. */

import { setTimeout as pause } from 'node:timers/promises';
import { type Config, readConfig } from '../../config/config.ts';
import { VARIABLES } from '../../config/variables.ts';
import type { ListedReport } from '../../feedback/schemas/report.ts';
import { REPORT_STATUSES, type ReportStatus } from '../../feedback/status.ts';
import { errorMessage } from '../../lib/errors.ts';
import { printable, printableJson } from '../../lib/log.ts';
import { EXIT, type Io, printMessage, UsageError } from '../command.ts';
import type { ServiceTarget } from '../mcp/service-client.ts';
import { startProgress } from '../progress.ts';
import type { FeedbackFile } from './files.ts';

const KEY_VARIABLE = 'DELIVERABILITY_API_KEY';
const { HTTP_PORT, BASE_URL } = VARIABLES;
const SERVICE_VARIABLES = { HTTP_PORT, BASE_URL };
type ServiceConfig = Pick<Config, keyof typeof SERVICE_VARIABLES>;

interface Options {
  url: string | undefined;
  json: boolean;
  source: 'upload' | 'imap';
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

/** Sends the files one after the other. Exits with 1 if any report is refused, and with 3 if the service fails. */
export async function importFiles(
  files: AsyncIterable<FeedbackFile>,
  { url, json, source }: Options,
  io: Io,
): Promise<number> {
  const { base, key } = readTarget(url, io);
  const counts = new Map<ReportStatus, number>();
  let number = 0;
  let skipped = 0;
  const progress = startProgress(io);
  try {
    for await (const file of files) {
      number += 1;
      progress.setStatus(`${number} files: ${printable(file.name)}`);
      if (file.problem !== null) {
        skipped += 1;
        printMessage(io, printable(`${file.name}: skipped. ${file.problem}`));
        continue;
      }
      const reports = await send(`${base}/v1/feedback/reports?source=${source}`, key, file);
      for (const report of reports) {
        counts.set(report.status, (counts.get(report.status) ?? 0) + 1);
        if (json) io.stdout(`${printableJson({ file: file.name, ...report })}\n`);
        else if (report.status === 'refused' || report.status === 'conflict')
          printMessage(
            io,
            printable(`${file.name}: ${report.status}. ${report.detail ?? CONFLICT}`),
          );
      }
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    progress.end();
    printMessage(io, printable(`${errorMessage(error)} To go on, run the command again.`));
    return EXIT.externalFailure;
  } finally {
    progress.end();
  }
  if (!json) io.stdout(`${summaryOf(number, counts)}\n`);
  return counts.has('refused') || skipped > 0 ? EXIT.negative : EXIT.success;
}

const CONFLICT =
  'A report of the same reporter, ID and period was counted before, with other figures.';

function summaryOf(files: number, counts: Map<ReportStatus, number>): string {
  const parts = REPORT_STATUSES.flatMap((status) => {
    const count = counts.get(status);
    return count === undefined ? [] : [`${count} ${status}`];
  });
  return `${files === 1 ? '1 file' : `${files} files`}: ${parts.join(', ') || 'no reports'}.`;
}

const MAX_ATTEMPTS = 5;
const RETRY_MS = 2_000;

/** Repeats a request that the service had no time for. */
async function send(
  url: string,
  key: string,
  { name, bytes }: FeedbackFile,
): Promise<ListedReport[]> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/octet-stream',
      },
      body: Buffer.from(bytes),
    });
    const body = (await response.json().catch(() => ({}))) as {
      data?: ListedReport[];
      detail?: string;
    };
    if (response.status === 201) return body.data ?? [];
    const isBusy = response.status === 429 || response.status === 503;
    if (!isBusy || attempt === MAX_ATTEMPTS)
      throw new Error(
        `The service refused ${name}: ${body.detail ?? `status ${response.status}.`}`,
      );
    await pause(Number(response.headers.get('retry-after') ?? 0) * 1000 || RETRY_MS);
  }
}
