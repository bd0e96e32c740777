/** Posts one message to a service, and reads what it answers. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import { truncate } from '../../lib/format/plain-text.ts';
import { printable } from '../../lib/log.ts';
import { MAX_RETRY_DELAY_MS } from '../../lib/retry.ts';
import { statusText } from '../../net/http/status-text.ts';
import type { PostOutcome } from '../../net/http/web.ts';
import type { ChannelMessage, ServiceAnswers } from './channel.ts';

export interface Failure {
  /** For users, without a final period and without secrets. */
  reason: string;
  /** Whether retrying is pointless. */
  final: boolean;
  /** Not posted, because another notification says the same. */
  suppressed?: true;
  /** The service accepts no message before that many milliseconds. */
  waitMs?: number;
  /** The new ID of the chat. */
  movedTo?: string;
}

export const finalFailure = (reason: string): Failure => ({ reason, final: true });

/** What is posted, and where. */
export interface OutgoingPost extends Pick<ChannelMessage, 'method' | 'next'> {
  url: string;
  headers: Record<string, string>;
  body: string;
  answers: ServiceAnswers | null;
  /** Those of the rule that it was composed with, as they are stored. */
  settings: string | null;
  /** What no text for people may contain. */
  secrets: string[];
}

/** What the service calls the message, if it says so. */
export interface Delivered {
  reference: string | null;
}

/** `closed`: the service is shutting down, and the outcome is unknown. Never call it in a transaction. */
export async function sendPost(
  app: Pick<App, 'poster' | 'version' | 'log'>,
  post: OutgoingPost,
): Promise<Failure | Delivered | 'closed'> {
  const { url, method, headers, body, next } = post;
  const request = { url, headers: headersOf(app, headers), body };
  const outcome = await app.poster.post({ ...request, ...(method && { method }) });
  if (outcome === null) return 'closed';
  const result = resultOf(outcome, post);
  if ('reason' in result || !next) return result;
  const followed = await app.poster.post({
    method: next.method,
    url: next.url,
    headers: headersOf(app, headers),
    body: JSON.stringify(next.body),
  });
  if (followed === null && next.isRequired) return 'closed';
  const failure = followed && resultOf(followed, post);
  // For example, someone deleted the message.
  if (!failure || !('reason' in failure)) return result;
  if (next.isRequired)
    return {
      ...failure,
      reason: `the first of two messages was sent, but not the second: ${failure.reason}`,
    };
  app.log.info('could not change the earlier alert', { reason: failure.reason });
  return result;
}

const headersOf = ({ version }: Pick<App, 'version'>, headers: Record<string, string>) => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': `deliverability/${version} (alerts)`,
  ...headers,
});

/** Only a complete response with a 2xx status is a success. */
function resultOf({ response, failure }: PostOutcome, post: OutgoingPost): Failure | Delivered {
  const { answers } = post;
  if (failure !== null) {
    const { reason, detail } = failure;
    const final = reason === 'forbidden_address' || reason === 'bad_url';
    return { reason: `${reason}: ${withoutSecrets(detail, post)}`, final };
  }
  const { code, headers, body } = response!;
  const content = readBody(body);
  if (code >= 200 && code < 300 && answers?.refusals[code] === undefined) {
    if (!answers?.accepted) return { reference: null };
    const answer = v.safeParse(answers.accepted, content);
    if (answer.success) return { reference: answer.output };
    return {
      reason: `status ${code}, but not a response of this service; check its URL`,
      final: false,
    };
  }
  const problem = answers && v.safeParse(answers.problem, content);
  const said = problem?.success ? problem.output : null;
  const { refusals = {}, delays = {} } = answers ?? {};
  const known = said?.code ?? '';
  const delay = delays[known] ?? delays[code];
  const refusal = delay === undefined ? (refusals[known] ?? refusals[code]) : undefined;
  const wait = waitOf(code, headers['retry-after'], said?.retryAfter);
  const words = said === null || said.text === '' ? '' : ` (“${withoutSecrets(said.text, post)}”)`;
  return {
    reason: `status ${code}: ${delay ?? refusal ?? statusText(code)}${words}`,
    // Otherwise it may come from a proxy in front of it, and be over soon.
    final:
      refusal !== undefined &&
      (said !== null || code < 300) &&
      said?.movedTo === undefined &&
      wait.waitMs === undefined,
    ...wait,
    ...(said?.movedTo !== undefined && { movedTo: said.movedTo }),
  };
}

/** If a service does not say how long. */
const DEFAULT_WAIT_MS = 60_000;

/** With status 429, or 503 during maintenance. */
function waitOf(
  code: number,
  header: string | undefined,
  seconds = Number(header),
): Pick<Failure, 'waitMs'> {
  if (seconds > 0 && (code === 429 || code === 503))
    return { waitMs: Math.min(Math.ceil(seconds * 1000), MAX_RETRY_DELAY_MS) };
  return code === 429 ? { waitMs: DEFAULT_WAIT_MS } : {};
}

/** The value of JSON, or the text. Bodies are short. */
function readBody(body: Uint8Array): unknown {
  const text = Buffer.from(body).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const MAX_SAID_LENGTH = 200;

/** A service may repeat what it was sent. */
function withoutSecrets(text: string, { secrets }: OutgoingPost): string {
  const longestFirst = secrets.toSorted((a, b) => b.length - a.length);
  const redacted = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
  return truncate(printable(redacted.replace(/\s+/g, ' ').trim()), MAX_SAID_LENGTH);
}
