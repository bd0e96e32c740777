/** Queries Rspamd over its HTTP protocol. The server is the operator's own, so any address is allowed. */

import { type IncomingMessage, request } from 'node:http';
import * as v from 'valibot';
import { connectionFailure } from './tls.ts';

/** The SMTP session of the message; null if unknown. */
export interface RspamdSession {
  ip: string | null;
  helo: string | null;
  /** The reverse DNS name. */
  hostname: string | null;
  /** The address of MAIL FROM, empty for the null sender. */
  from: string | null;
  tlsVersion: string | null;
}

interface RspamdOptions {
  /** Time limit of the whole request in milliseconds. Default 10,000. */
  timeoutMs?: number;
  /** Maximum bytes of the response, which lists every link of the message. Default 4 MiB. */
  maxBytes?: number;
}

const scan = v.object({
  action: v.string(),
  score: v.number(),
  /** The threshold of `reject`. */
  required_score: v.number(),
  /** By action; only newer versions return it. */
  thresholds: v.optional(v.record(v.string(), v.number()), {}),
  /** The message was not scanned: the action was decided beforehand. */
  is_skipped: v.optional(v.boolean(), false),
  /** The module that forced the action, whatever the score; only newer versions return it. */
  passthrough_module: v.optional(v.string()),
  symbols: v.record(
    v.string(),
    v.object({
      score: v.number(),
      description: v.optional(v.string(), ''),
      options: v.optional(v.array(v.string()), []),
    }),
  ),
});
export type RspamdScan = v.InferOutput<typeof scan>;

type RspamdAnswer =
  | { status: 'answered'; scan: RspamdScan }
  /** `detail` is a clause that follows "Rspamd was queried, but". */
  | { status: 'failed'; detail: string };

/** Sends one `/checkv2` request. `server` is `http://host:port`. Never rejects; closes the connection before it resolves. */
export function queryRspamd(
  server: string,
  message: Uint8Array,
  session: RspamdSession,
  { timeoutMs = 10_000, maxBytes = 4 * 1024 * 1024 }: RspamdOptions = {},
): Promise<RspamdAnswer> {
  return new Promise((resolve) => {
    const httpRequest = request(new URL('/checkv2', server), {
      method: 'POST',
      agent: false,
      headers: { ...sessionHeaders(session), 'content-length': message.length },
    });
    const finish = (answer: RspamdAnswer) => {
      clearTimeout(timer);
      httpRequest.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(failed('it did not respond in time')), timeoutMs);
    httpRequest.on('error', (error) => finish(failed(connectionFailure(error))));
    httpRequest.on('response', (response) => readResponse(response, maxBytes, finish));
    httpRequest.end(message);
  });
}

const failed = (detail: string): RspamdAnswer => ({ status: 'failed', detail });

function readResponse(
  response: IncomingMessage,
  maxBytes: number,
  finish: (answer: RspamdAnswer) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('error', () => finish(failed('its response was incomplete')));
  if (response.statusCode !== 200) {
    finish(failed(`it responded with HTTP status ${response.statusCode}`));
    return;
  }
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) finish(failed('its response was too large'));
  });
  response.on('end', () => finish(readScan(Buffer.concat(chunks).toString('utf8'))));
}

function readScan(text: string): RspamdAnswer {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return failed('its response is not JSON');
  }
  const result = v.safeParse(scan, parsed);
  if (!result.success) return failed('its response is not a valid /checkv2 response');
  return { status: 'answered', scan: result.output };
}

function sessionHeaders({ ip, helo, hostname, from, tlsVersion }: RspamdSession) {
  const fields: Record<string, string | null> = {
    IP: ip,
    Helo: helo,
    Hostname: hostname,
    From: from === '' ? '<>' : from,
    'TLS-Version': tlsVersion,
    // Runs all rules instead of stopping at the reject score; those covered by other checks are removed later.
    Pass: 'all',
    'User-Agent': 'deliverability',
  };
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields))
    if (value !== null) headers[name] = headerValue(value);
  return headers;
}

/** Removes control characters, and encodes the text as the UTF-8 bytes that Rspamd reads. */
function headerValue(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 500);
  return Buffer.from(clean, 'utf8').toString('latin1');
}
