/** Asks SpamAssassin by the spamd protocol; the server is the operator's own, on any address. */

import { connect } from 'node:net';
import { connectionFailure } from './tls.ts';

interface SpamdOptions {
  /** Milliseconds for all of it: connection, message, scan and report. Default 10,000. */
  timeoutMs?: number;
  /** Most octets of the answer that are read. Default 1 MiB. */
  maxBytes?: number;
}

type SpamdAnswer =
  /** `report` is the text that SpamAssassin makes of its report template. */
  | { status: 'answered'; score: number; threshold: number; report: string }
  /** `detail` is half a sentence that follows "SpamAssassin was asked, but". */
  | { status: 'failed'; detail: string };

/** What comes before the report is two or three short lines. */
const MAX_HEAD = 8 * 1024;
const END_OF_HEAD = '\r\n\r\n';

/**
 * One REPORT of the spamd protocol 1.5. `server` is `tcp://host:port`; `message` is sent in pieces,
 * one after the other. Never rejects; the socket is gone when it resolves.
 */
export function askSpamd(
  server: string,
  message: Uint8Array[],
  { timeoutMs = 10_000, maxBytes = 1024 * 1024 }: SpamdOptions = {},
): Promise<SpamdAnswer> {
  const { hostname, port } = new URL(server);
  const length = message.reduce((sum, piece) => sum + piece.length, 0);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
    const answer = collect(maxBytes);
    const finish = (result: SpamdAnswer) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(failed('it did not answer in time')), timeoutMs);
    socket.on('data', (chunk) => {
      const state = answer.add(chunk);
      if (state === 'complete') finish(readAnswer(answer.bytes()));
      if (state === 'too large') finish(failed('its answer was too large'));
    });
    socket.on('end', () => finish(readAnswer(answer.bytes())));
    // It may refuse before it has read the whole message: then what it said counts.
    socket.on('error', (error) =>
      finish(answer.size > 0 ? readAnswer(answer.bytes()) : failed(connectionFailure(error))),
    );
    socket.write(`REPORT SPAMC/1.5\r\nContent-length: ${length}${END_OF_HEAD}`);
    for (const piece of message) socket.write(piece);
    socket.end();
  });
}

const failed = (detail: string): SpamdAnswer => ({ status: 'failed', detail });

/** Keeps what comes and says when it is all there, whatever the pieces, without going over it again. */
function collect(maxBytes: number) {
  const chunks: Buffer[] = [];
  let wanted: number | null = null;
  return {
    size: 0,
    add(chunk: Buffer): 'more' | 'complete' | 'too large' {
      chunks.push(chunk);
      this.size += chunk.length;
      if (this.size > maxBytes) return 'too large';
      if (wanted === null && this.size - chunk.length <= MAX_HEAD) wanted = wholeLength(chunks);
      return wanted !== null && this.size >= wanted ? 'complete' : 'more';
    },
    bytes: () => Buffer.concat(chunks),
  };
}

/** The length of head and report together; null while the head is not there, or does not say. */
function wholeLength(chunks: Buffer[]): number | null {
  const start = Buffer.concat(chunks).subarray(0, MAX_HEAD).toString('latin1');
  const end = start.indexOf(END_OF_HEAD);
  const length = end < 0 ? null : headField(start.slice(0, end), 'Content-length');
  return length && /^\d{1,9}$/.test(length) ? end + END_OF_HEAD.length + Number(length) : null;
}

const headField = (head: string, name: string): string | null =>
  new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'im').exec(head)?.[1] ?? null;

function readAnswer(bytes: Buffer): SpamdAnswer {
  const start = bytes.subarray(0, MAX_HEAD).toString('latin1');
  if (start === '') return failed('it closed the connection without an answer');
  const [, code, text] = /^SPAMD\/\d+\.\d+ (\d+)[ \t]*([^\r\n]*)/.exec(start) ?? [];
  if (code === undefined) return failed('what it answered is not the spamd protocol');
  if (Number(code) !== 0)
    return failed(`it answered with the error ${code} ${printable(text!).slice(0, 100)}`.trim());
  const end = start.indexOf(END_OF_HEAD);
  const spam = end < 0 ? null : headField(start.slice(0, end), 'Spam');
  const [, score, threshold] = /;\s*(-?[\d.]+)\s*\/\s*(-?[\d.]+)$/.exec(spam ?? '') ?? [];
  if (!Number.isFinite(Number(score ?? '-')) || !Number.isFinite(Number(threshold ?? '-')))
    return failed('its answer ended early or holds no score');
  const whole = wholeLength([bytes]);
  if (whole !== null && bytes.length < whole) return failed('its answer ended early');
  const report = bytes.subarray(end + END_OF_HEAD.length, whole ?? undefined).toString('utf8');
  return { status: 'answered', score: Number(score), threshold: Number(threshold), report };
}

const printable = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ');
