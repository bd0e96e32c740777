/** Asks Rspamd by its HTTP protocol; the server is the operator's own, on any address. */

import { type IncomingMessage, request } from 'node:http';
import * as v from 'valibot';
import { connectionFailure } from './tls.ts';

/** What Rspamd is told of the SMTP session; null is "not known". */
export interface RspamdSession {
  ip: string | null;
  helo: string | null;
  /** The name in the reverse DNS. */
  hostname: string | null;
  /** The address of MAIL FROM, empty for the null sender. */
  from: string | null;
  tlsVersion: string | null;
}

interface RspamdOptions {
  /** Milliseconds for all of it. Default 10,000. */
  timeoutMs?: number;
  /** Most octets of the answer, which lists every link of the message. Default 4 MiB. */
  maxBytes?: number;
}

const scan = v.object({
  action: v.string(),
  score: v.number(),
  /** The threshold of `reject`. */
  required_score: v.number(),
  /** By the name of the action; only newer versions say it. */
  thresholds: v.optional(v.record(v.string(), v.number()), {}),
  /** Nothing was scanned: the action was decided beforehand. */
  is_skipped: v.optional(v.boolean(), false),
  /** The module that forced the action, whatever the score; only newer versions say it. */
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
  /** `detail` is half a sentence that follows "Rspamd was asked, but". */
  | { status: 'failed'; detail: string };

/** One `/checkv2`. `server` is `http://host:port`. Never rejects; the connection is gone when it resolves. */
export function askRspamd(
  server: string,
  message: Uint8Array,
  session: RspamdSession,
  { timeoutMs = 10_000, maxBytes = 4 * 1024 * 1024 }: RspamdOptions = {},
): Promise<RspamdAnswer> {
  return new Promise((resolve) => {
    const asking = request(new URL('/checkv2', server), {
      method: 'POST',
      agent: false,
      headers: { ...sessionHeaders(session), 'content-length': message.length },
    });
    const finish = (answer: RspamdAnswer) => {
      clearTimeout(timer);
      asking.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(failed('it did not answer in time')), timeoutMs);
    asking.on('error', (error) => finish(failed(connectionFailure(error))));
    asking.on('response', (response) => readResponse(response, maxBytes, finish));
    asking.end(message);
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
  response.on('error', () => finish(failed('its answer ended early')));
  if (response.statusCode !== 200) {
    finish(failed(`it answered with the HTTP status ${response.statusCode}`));
    return;
  }
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) finish(failed('its answer was too large'));
  });
  response.on('end', () => finish(readScan(Buffer.concat(chunks).toString('utf8'))));
}

function readScan(text: string): RspamdAnswer {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return failed('its answer is not JSON');
  }
  const read = v.safeParse(scan, parsed);
  if (!read.success) return failed('its answer is not that of /checkv2');
  return { status: 'answered', scan: read.output };
}

function sessionHeaders({ ip, helo, hostname, from, tlsVersion }: RspamdSession) {
  const known: Record<string, string | null> = {
    IP: ip,
    Helo: helo,
    Hostname: hostname,
    From: from === '' ? '<>' : from,
    'TLS-Version': tlsVersion,
    // All rules, not only as many as it takes to reject: what has a check here is taken out again.
    Pass: 'all',
    'User-Agent': 'deliverability',
  };
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(known))
    if (value !== null) headers[name] = headerValue(value);
  return headers;
}

/** Without what would end a field, and as octets of UTF-8, which is what Rspamd reads. */
function headerValue(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 500);
  return Buffer.from(clean, 'utf8').toString('latin1');
}
