/** Passes a delivery on to the developer's own program, and its answer back. */

import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Reply } from './server.ts';

/** The service waits no longer than that for an answer. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;
/** They belong to one connection, and not to what is passed on (RFC 9110 §7.6.1). */
const OF_THE_CONNECTION = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Its answer, or as `error` why there is none. */
export type Forwarded = { reply: Reply } | { error: string };

/** Posts it with the same header fields; never rejects. */
export async function forward(
  to: URL,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
): Promise<Forwarded> {
  try {
    const response = await post(to, passedOn(headers), body);
    if (response === null) return { error: 'it closed the connection' };
    const { statusCode = 0 } = response;
    if (!(statusCode >= 200 && statusCode <= 599)) {
      response.destroy();
      return { error: `its status ${statusCode} is none that ends a request` };
    }
    const whole = await readAll(response);
    if (whole === null) return { error: 'its answer is larger than 1 MiB' };
    return { reply: { status: statusCode, headers: passedOn(response.headers), body: whole } };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (name === 'AbortError' || name === 'TimeoutError')
      return { error: `it did not answer within ${TIMEOUT_MS / 1000} s` };
    return { error: code === 'ECONNREFUSED' ? 'nobody listens there' : (code ?? String(error)) };
  }
}

/** null where it ends without an answer. One of 101 is given as it is: nothing follows it. */
function post(
  to: URL,
  headers: Record<string, string | string[]>,
  body: Uint8Array,
): Promise<IncomingMessage | null> {
  const request = to.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    request(to, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.byteLength) },
      // A connection that was kept may be one that the program has given up since.
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
      .on('response', resolve)
      .on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response);
      })
      .on('error', reject)
      .on('close', () => resolve(null))
      .end(body);
  });
}

async function readAll(response: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const dropped = new Set(OF_THE_CONNECTION);
  for (const name of headers.connection?.split(',') ?? []) dropped.add(name.trim().toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || dropped.has(name) ? [] : [[name, value]],
    ),
  );
}
