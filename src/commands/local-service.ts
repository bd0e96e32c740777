/** Requests to the service on this machine. */

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Config } from '../config/config.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

export function urlOf({ HTTP_HOST, HTTP_PORT, HTTP_TLS_CERT_FILE }: Config, path: string): string {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[HTTP_HOST] ?? HTTP_HOST;
  const scheme = HTTP_TLS_CERT_FILE ? 'https' : 'http';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${HTTP_PORT}${path}`;
}

/** The status and body of a response. Rejects without one. */
export function getFrom(url: string): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  // The certificate names the public host, and this connection does not leave the machine.
  const sent = request(url, { rejectUnauthorized: false, signal: AbortSignal.timeout(TIMEOUT_MS) });
  sent.on('response', (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BYTES) chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
    );
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}

/** Null if there is no JSON. */
export async function readJson(url: string): Promise<unknown> {
  try {
    return JSON.parse((await getFrom(url)).body);
  } catch {
    return null;
  }
}
