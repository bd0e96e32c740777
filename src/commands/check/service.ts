/**
 * `check TEST_ID --wait` and `check INBOX_ID --wait`: waits for the result of a test on a service, or of the next message
 * to an inbox. With `--wait-placement`, it also waits for the placement.
 */

import * as v from 'valibot';
import { type Config, readConfig } from '../../config/config.ts';
import { VARIABLES } from '../../config/variables.ts';
import { QueryTime } from '../../http/schemas.ts';
import { isoTime, systemClock } from '../../lib/clock.ts';
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
  /** For an inbox. */
  since: string | undefined;
  /** Whether to wait for the placement too. */
  placement: boolean;
  limits: Limits;
  json: boolean;
}

/** Prints the result like `check FILE`. Resolves with the exit code. Throws a UsageError. */
export async function checkOnService(id: string, options: Options, io: Io): Promise<number> {
  if (!/^(test|ibx)_\w+$/.test(id))
    throw new UsageError(
      `--wait needs the ID of a test or an inbox on a service, such as test_01k… or ibx_01k…, not "${id}"`,
    );
  const timeoutMs = readTimeout(options.timeout);
  const target = readTarget(id, options, io);
  const waited = await waitForTest(target, timeoutMs, io);
  if ('problem' in waited) {
    printMessage(io, printable(waited.problem));
    return waited.isUsage ? EXIT.usage : EXIT.externalFailure;
  }
  const { test } = waited;
  if (test !== null) io.stdout(options.json ? `${printableJson(test, 2)}\n` : formatTest(test, io));
  if (test === null || !isDone(test, target)) {
    printMessage(io, notYet(test, timeoutMs));
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
  /** Without a slash at the end. */
  base: string;
  key: string;
  id: string;
  placement: boolean;
  /** For an inbox: the time from which its next message counts, as ISO 8601. */
  since: string;
}

function readTarget(id: string, { url, since, placement }: Options, io: Io): Target {
  const config: ServiceConfig = readConfig(io.env, SERVICE_VARIABLES).config;
  const base = url ?? config.BASE_URL;
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new UsageError('--url must be the URL of the service, such as https://mail.example.com');
  const key = io.env[KEY_VARIABLE]?.trim() ?? '';
  if (key === '') throw new UsageError(`Set ${KEY_VARIABLE} to an API key of the service`);
  return { base: base.replace(/\/$/, ''), key, id, placement, since: readSince(id, since) };
}

function readSince(id: string, text: string | undefined): string {
  if (text === undefined) return isoTime(systemClock.now());
  if (!isInboxId(id)) throw new UsageError('--since is only for an inbox');
  const time = v.safeParse(QueryTime, text);
  if (!time.success) throw new UsageError('--since must be a time such as 2026-11-21T10:00:00Z');
  return time.output;
}

const isInboxId = (id: string): boolean => id.startsWith('ibx_');

const KEY_VARIABLE = 'DELIVERABILITY_API_KEY';

const isDone = (
  { status, placement_status }: Test,
  { placement }: Pick<Target, 'placement'>,
): boolean =>
  (status === 'completed' || status === 'failed') && !(placement && placement_status === 'waiting');

const notYet = (test: Test | null, timeoutMs: number): string =>
  `${progressText(test)} after ${formatDuration(timeoutMs)}. To wait longer, set --timeout.`;

/** What is still missing, for the line of progress. `test` is null while an inbox has no new message. */
function progressText(test: Test | null): string {
  if (test === null || test.status === 'waiting') return 'Still waiting for the message';
  const { status, placement } = test;
  if (status === 'processing') return 'Still waiting for the analysis';
  const settled = placement.filter((seed) => seed.settled).length;
  return `Placement is final for ${settled} of ${placement.length} seed mailboxes`;
}

type Waited = { test: Test | null } | { problem: string; isUsage: boolean };

/** The test once all is known, or as it is after the time limit; null if no message has arrived. */
async function waitForTest(target: Target, timeoutMs: number, io: Io): Promise<Waited> {
  const progress = startProgress(io);
  const end = systemClock.now() + timeoutMs;
  let awaySince: number | null = null;
  let latest: Test | null = null;
  let hasAnswered = false;
  let isInterrupted = false;
  void io.interrupted.then(() => {
    isInterrupted = true;
  });
  progress.setStatus('waiting for the service');
  try {
    for (;;) {
      const now = systemClock.now();
      const isOver = now >= end || isInterrupted;
      if (latest ? isDone(latest, target) || isOver : hasAnswered && isOver)
        return { test: latest };
      const seconds = Math.min(WAIT_SECONDS, Math.max(1, Math.ceil((end - now) / 1000)));
      const answer = await readTest(target, latest, seconds);
      if ('problem' in answer) {
        awaySince ??= now;
        const isGivenUp = systemClock.now() - awaySince > MAX_OUTAGE_MS || isInterrupted;
        if (!answer.isTemporary || isGivenUp || systemClock.now() >= end)
          return { problem: answer.problem, isUsage: !answer.isTemporary };
        progress.setStatus(`waiting for the service: ${answer.problem}`);
        await pause();
        continue;
      }
      awaySince = null;
      hasAnswered = true;
      latest = answer.test;
      progress.setStatus(progressText(latest).toLowerCase());
      if (latest === null) await pause();
    }
  } finally {
    progress.end();
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, RETRY_MS));

interface Problem {
  problem: string;
  isTemporary: boolean;
}

/** The test as it is now; null while an inbox has no new message. Waits for a change of a test that is already known. */
async function readTest(
  target: Target,
  latest: Test | null,
  seconds: number,
): Promise<{ test: Test | null } | Problem> {
  const { id, placement } = target;
  const found = latest?.id ?? (isInboxId(id) ? await nextTest(target) : id);
  if (found === null) return { test: null };
  if (typeof found === 'object') return found;
  const wait = latest === null ? 0 : seconds;
  const query = wait === 0 ? '' : `?wait=${wait}${placement ? '&for=placement' : ''}`;
  const answer = await read(target, `/v1/tests/${found}${query}`, 'test', wait);
  return 'problem' in answer ? answer : { test: answer.body as unknown as Test };
}

/** The ID of the first test of an inbox since a time; null if there is none. */
async function nextTest(target: Target): Promise<string | null | Problem> {
  const { id, since } = target;
  // A wrong ID would have no tests, forever.
  const inbox = await read(target, `/v1/inboxes/${id}`, 'inbox', 0);
  if ('problem' in inbox) return inbox;
  const query = `inbox_id=${id}&created_after=${encodeURIComponent(since)}&limit=100`;
  let oldest: string | null = null;
  // From the newest.
  for (;;) {
    const page = oldest === null ? query : `${query}&starting_after=${oldest}`;
    const listed = await read(target, `/v1/tests?${page}`, 'list', 0);
    if ('problem' in listed) return listed;
    const { data, has_more } = listed.body as { data: { id: string }[]; has_more: boolean };
    oldest = data.at(-1)?.id ?? oldest;
    if (!has_more || data.length === 0) return oldest;
  }
}

async function read(
  { base, key }: Target,
  path: string,
  object: string,
  wait: number,
): Promise<{ body: Record<string, unknown> } | Problem> {
  const { origin } = new URL(base);
  let response: Response;
  let text: string;
  try {
    response = await fetch(base + path, {
      headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
      signal: AbortSignal.timeout((wait + 30) * 1000),
    });
    text = await response.text();
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    const reason = cause?.code ?? (error as Error).name;
    return { problem: `Can’t reach ${origin} (${reason}).`, isTemporary: true };
  }
  const body = parsedObject(text);
  if (response.ok && body?.object === object) return { body };
  // Proxies respond with pages of their own while the service is away.
  const isTemporary = response.status >= 500 || response.status === 429;
  const detail =
    typeof body?.detail === 'string'
      ? body.detail
      : `The response (HTTP ${response.status}) is not from this service.${isTemporary ? '' : ' Check --url.'}`;
  return { problem: `${origin}: ${detail}`, isTemporary };
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
