/** Queries SpamAssassin over the spamd protocol. The server is the operator's own, so any address is allowed. */

import { connect } from 'node:net';
import { connectionFailure } from './tls.ts';

interface SpamdOptions {
  /** Time limit of the whole request in milliseconds. Default 10,000. */
  timeoutMs?: number;
  /** Maximum bytes of the response. Default 1 MiB. */
  maxBytes?: number;
}

type SpamdResult =
  /** `report` is SpamAssassin's report template, filled in. */
  | { status: 'answered'; score: number; threshold: number; report: string }
  /** `detail` is a clause that follows "SpamAssassin was queried, but". */
  | { status: 'failed'; detail: string };

/** The header before the report is two or three short lines. */
const MAX_HEAD_BYTES = 8 * 1024;
const HEAD_END = '\r\n\r\n';

/**
 * Sends one REPORT request (spamd protocol 1.5). `server` is `tcp://host:port`; `message` is sent in
 * pieces. Never rejects; closes the socket before it resolves.
 */
export function querySpamd(
  server: string,
  message: Uint8Array[],
  { timeoutMs = 10_000, maxBytes = 1024 * 1024 }: SpamdOptions = {},
): Promise<SpamdResult> {
  const { hostname, port } = new URL(server);
  const length = message.reduce((sum, piece) => sum + piece.length, 0);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
    const response = collect(maxBytes);
    const finish = (result: SpamdResult) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(failed('it did not respond in time')), timeoutMs);
    socket.on('data', (chunk) => {
      const state = response.add(chunk);
      if (state === 'complete') finish(parseResponse(response.bytes()));
      if (state === 'too large') finish(failed('its response was too large'));
    });
    socket.on('end', () => finish(parseResponse(response.bytes())));
    // The server may reject the request before it has read the whole message: use its response.
    socket.on('error', (error) =>
      finish(
        response.size > 0 ? parseResponse(response.bytes()) : failed(connectionFailure(error)),
      ),
    );
    socket.write(`REPORT SPAMC/1.5\r\nContent-length: ${length}${HEAD_END}`);
    for (const piece of message) socket.write(piece);
    socket.end();
  });
}

const failed = (detail: string): SpamdResult => ({ status: 'failed', detail });

/** Collects the response and detects its end, without scanning the same bytes twice. */
function collect(maxBytes: number) {
  const chunks: Buffer[] = [];
  let expectedLength: number | null = null;
  return {
    size: 0,
    add(chunk: Buffer): 'more' | 'complete' | 'too large' {
      chunks.push(chunk);
      this.size += chunk.length;
      if (this.size > maxBytes) return 'too large';
      if (expectedLength === null && this.size - chunk.length <= MAX_HEAD_BYTES)
        expectedLength = totalLength(chunks);
      return expectedLength !== null && this.size >= expectedLength ? 'complete' : 'more';
    },
    bytes: () => Buffer.concat(chunks),
  };
}

/** The combined length of header and report; null if the header is incomplete or has no length. */
function totalLength(chunks: Buffer[]): number | null {
  const head = Buffer.concat(chunks).subarray(0, MAX_HEAD_BYTES).toString('latin1');
  const end = head.indexOf(HEAD_END);
  const length = end < 0 ? null : headerField(head.slice(0, end), 'Content-length');
  return length && /^\d{1,9}$/.test(length) ? end + HEAD_END.length + Number(length) : null;
}

const headerField = (head: string, name: string): string | null =>
  new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'im').exec(head)?.[1] ?? null;

function parseResponse(bytes: Buffer): SpamdResult {
  const head = bytes.subarray(0, MAX_HEAD_BYTES).toString('latin1');
  if (head === '') return failed('it closed the connection without a response');
  const [, code, text] = /^SPAMD\/\d+\.\d+ (\d+)[ \t]*([^\r\n]*)/.exec(head) ?? [];
  if (code === undefined) return failed('its response does not follow the spamd protocol');
  if (Number(code) !== 0)
    return failed(`it responded with error ${code} ${printable(text!).slice(0, 100)}`.trim());
  const end = head.indexOf(HEAD_END);
  const spam = end < 0 ? null : headerField(head.slice(0, end), 'Spam');
  const [, score, threshold] = /;\s*(-?[\d.]+)\s*\/\s*(-?[\d.]+)$/.exec(spam ?? '') ?? [];
  if (!Number.isFinite(Number(score ?? '-')) || !Number.isFinite(Number(threshold ?? '-')))
    return failed('its response was incomplete or had no score');
  const total = totalLength([bytes]);
  if (total !== null && bytes.length < total) return failed('its response was incomplete');
  const report = bytes.subarray(end + HEAD_END.length, total ?? undefined).toString('utf8');
  return { status: 'answered', score: Number(score), threshold: Number(threshold), report };
}

const printable = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ');
