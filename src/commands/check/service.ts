/** `check TEST_ID --wait-placement`: waits for the result and the placement of a test on a service. */

import { type Config, readConfig } from '../../config/config.ts';
import { VARIABLES } from '../../config/variables.ts';
import { systemClock } from '../../lib/clock.ts';
import { formatDuration, parseDuration } from '../../lib/durations.ts';
import { printable, printableJson } from '../../lib/log.ts';
import type { Test } from '../../mailtests/schema.ts';
import type { Report } from '../../report/report.ts';
import { serviceTestText, wrap } from '../../report/text.ts';
import { EXIT, type Io, printMessage, UsageError } from '../command.ts';
import { startProgress } from '../progress.ts';
import { type Limits, missedLimits } from './limits.ts';

const { HTTP_PORT, BASE_URL } = VARIABLES;
/** Other variables affect only the service. */
const SERVICE_VARIABLES = { HTTP_PORT, BASE_URL };
type ServiceConfig = Pick<Config, keyof typeof SERVICE_VARIABLES>;

/** Longer than a placement takes by default. */
const DEFAULT_TIMEOUT = '70m';
/** One request. Proxies end requests that take longer. */
const WAIT_SECONDS = 20;
/** How long the service may be away, for example during an upgrade. */
const MAX_OUTAGE_MS = 2 * 60_000;
const RETRY_MS = 2_000;

interface Options {
  url: string | undefined;
  timeout: string | undefined;
  limits: Limits;
  json: boolean;
}

/** Prints the result like `check FILE`. Resolves with the exit code. Throws a UsageError. */
export async function checkOnService(id: string, options: Options, io: Io): Promise<number> {
  if (!/^test_\w+$/.test(id))
    throw new UsageError(
      `--wait-placement needs the ID of a test on a service, such as test_01k…, not "${id}"`,
    );
  const timeoutMs = readTimeout(options.timeout);
  const waited = await waitForTest(readTarget(id, options.url, io), timeoutMs, io);
  if ('problem' in waited) {
    printMessage(io, printable(waited.problem));
    return waited.isUsage ? EXIT.usage : EXIT.externalFailure;
  }
  const { test } = waited;
  if (options.json) io.stdout(`${printableJson(test, 2)}\n`);
  else io.stdout(formatTest(test, io));
  if (!isSettled(test)) {
    printMessage(
      io,
      `${progressText(test)} after ${formatDuration(timeoutMs)}. To wait longer, set --timeout.`,
    );
    return EXIT.externalFailure;
  }
  if (test.status === 'failed') return EXIT.externalFailure;
  const failures = missedLimits(test, options.limits);
  for (const failure of failures) printMessage(io, `${test.id}: ${failure}`);
  return failures.length > 0 ? EXIT.negative : EXIT.success;
}

function readTimeout(text = DEFAULT_TIMEOUT): number {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0)
    throw new UsageError('--timeout must be a duration such as 90s, 15m or 2h');
  return ms;
}

interface Target {
  url: URL;
  key: string;
}

function readTarget(id: string, url: string | undefined, io: Io): Target {
  const config: ServiceConfig = readConfig(io.env, SERVICE_VARIABLES).config;
  const base = url ?? config.BASE_URL;
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new UsageError('--url must be the URL of the service, such as https://mail.example.com');
  const key = io.env[KEY_VARIABLE]?.trim() ?? '';
  if (key === '') throw new UsageError(`Set ${KEY_VARIABLE} to an API key of the service`);
  return { url: new URL(`${base.replace(/\/$/, '')}/v1/tests/${id}`), key };
}

const KEY_VARIABLE = 'DELIVERABILITY_API_KEY';

const isSettled = ({ status, placement_status }: Test): boolean =>
  (status === 'completed' || status === 'failed') && placement_status !== 'waiting';

/** What is still missing, for the line of progress. */
function progressText({ status, placement }: Test): string {
  if (status === 'waiting') return 'Still waiting for the message';
  if (status === 'processing') return 'Still waiting for the analysis';
  const settled = placement.filter((seed) => seed.settled).length;
  return `Placement is final for ${settled} of ${placement.length} seed mailboxes`;
}

type Waited = { test: Test } | { problem: string; isUsage: boolean };

/** The test once all is known, or as it is after the time limit. */
async function waitForTest({ url, key }: Target, timeoutMs: number, io: Io): Promise<Waited> {
  const progress = startProgress(io);
  const end = systemClock.now() + timeoutMs;
  let awaySince: number | null = null;
  let latest: Test | null = null;
  let isInterrupted = false;
  void io.interrupted.then(() => {
    isInterrupted = true;
  });
  progress.setStatus('waiting for the service');
  try {
    for (;;) {
      const now = systemClock.now();
      if (latest && (isSettled(latest) || now >= end || isInterrupted)) return { test: latest };
      const seconds = Math.min(WAIT_SECONDS, Math.max(1, Math.ceil((end - now) / 1000)));
      const answer = await read(url, key, latest === null ? 0 : seconds);
      if ('problem' in answer) {
        awaySince ??= now;
        const isOver = systemClock.now() - awaySince > MAX_OUTAGE_MS || isInterrupted;
        if (!answer.isTemporary || isOver || systemClock.now() >= end)
          return { problem: answer.problem, isUsage: !answer.isTemporary };
        progress.setStatus(`waiting for the service: ${answer.problem}`);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        continue;
      }
      awaySince = null;
      latest = answer.test;
      progress.setStatus(progressText(latest).toLowerCase());
    }
  } finally {
    progress.end();
  }
}

async function read(
  url: URL,
  key: string,
  wait: number,
): Promise<{ test: Test } | { problem: string; isTemporary: boolean }> {
  const request = new URL(url);
  if (wait > 0) request.search = `?wait=${wait}&for=placement`;
  let response: Response;
  let text: string;
  try {
    response = await fetch(request, {
      headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
      signal: AbortSignal.timeout((wait + 30) * 1000),
    });
    text = await response.text();
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    const reason = cause?.code ?? (error as Error).name;
    return { problem: `Can’t reach ${url.origin} (${reason}).`, isTemporary: true };
  }
  const body = parsedObject(text);
  if (response.ok && body?.object === 'test') return { test: body as unknown as Test };
  // Proxies respond with pages of their own while the service is away.
  const isTemporary = response.status >= 500 || response.status === 429;
  const detail =
    typeof body?.detail === 'string'
      ? body.detail
      : `The response (HTTP ${response.status}) is not from this service.${isTemporary ? '' : ' Check --url.'}`;
  return { problem: `${url.origin}: ${detail}`, isTemporary };
}

/** Null if it is no JSON object. */
function parsedObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function formatTest(test: Test, io: Io): string {
  if (test.status !== 'completed') return `${wrap(`${test.id}: ${failureText(test)}`, io.width)}\n`;
  const report = serviceTestText(
    { ...(test as unknown as Report), message: null, placement: reportedSeeds(test) },
    { width: io.width, color: io.useColor, testedName: test.name ?? test.id },
  );
  return `${report}\n${wrap(`Next: ${test.report_url} for the full report, --json for every check with its evidence.`, io.width)}\n`;
}

function failureText({ status, failure_reason }: Test): string {
  if (status === 'waiting') return 'no message has arrived yet.';
  if (status === 'processing') return 'the message is being analyzed.';
  return failure_reason === 'not_received'
    ? 'no message arrived before the address expired.'
    : 'the message could not be analyzed.';
}

const reportedSeeds = ({ placement }: Test): Report['placement'] =>
  placement.map(({ provider, placement: place, seconds, ...details }) => ({
    provider,
    placement: place,
    seconds,
    details,
  }));
