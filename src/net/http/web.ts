/** Requests to other people's web servers: which addresses are allowed, and what a request can result in. */

import { isIP } from 'node:net';
import type { ConnectTarget, WebFailure } from '../guarded-connection.ts';

export interface WebRequest {
  method: 'HEAD' | 'GET';
  /** `http:` or `https:`; anything else is `bad_url`. */
  url: string;
  /** Milliseconds for all of it: name, connection, headers and body. Default 5,000. */
  timeoutMs?: number;
  /** Most octets of the body that are read; what is longer is `too_large`. Default 64 KiB. */
  maxBytes?: number;
}

export type WebAnswer =
  | {
      status: 'answered';
      code: number;
      /** Names in lower case; several values of one name joined by `, `. */
      headers: Record<string, string>;
      /** Empty for HEAD. */
      body: Uint8Array;
    }
  /** `detail` is half a sentence for people, without addresses of the machine we run on. */
  | { status: 'failed'; reason: WebFailure; detail: string };

/** One request, redirects not followed; never throws. */
export type Web = (request: WebRequest) => Promise<WebAnswer>;

/** A client for where there is no network: the offline mode, and tests that ask nothing. */
export const noWeb: Web = async () => ({
  status: 'failed',
  reason: 'connection',
  detail: 'there is no network',
});

export interface PostRequest {
  /** `https:`; anything else is `bad_url`. */
  url: string;
  /** Names in any case; `host`, `content-length` and `connection` are set for them. */
  headers: Record<string, string>;
  body: string;
}

export interface PostOutcome {
  /** What has come of an answer, even where the rest is missing; null where nothing has. */
  answer: {
    code: number;
    /** Names in lower case; several values of one name joined by `, `. */
    headers: Record<string, string>;
    /** As far as it was read. */
    body: Uint8Array;
  } | null;
  /** Why the answer is not whole; null where it is. `detail` is half a sentence for people. */
  failure: { reason: WebFailure; detail: string } | null;
}

export interface Poster {
  /** Redirects are not followed; never rejects. null where the poster was closed before it ended. */
  post(request: PostRequest): Promise<PostOutcome | null>;
  /** Ends all connections; what is under way resolves with null. */
  close(): void;
}

/** Longer than any that a browser or server would take in practice. */
const MAX_URL_LENGTH = 8192;

// The web's own ports and those that anybody may listen on, less what the Fetch standard blocks
// because other protocols live there (§2.9, "port blocking").
const BLOCKED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10080,
]);

export interface HttpTarget extends ConnectTarget {
  /** As the Host field says it, with the port where it is not the usual one. */
  authority: string;
  /** Path and query. */
  path: string;
}

/** The target, or why the address is not requested, as half a sentence. */
export function readHttpTarget(text: string): HttpTarget | string {
  if (text.length > MAX_URL_LENGTH) return 'the address is too long';
  if (!URL.canParse(text)) return 'the address cannot be read';
  const url = new URL(text);
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') return 'the address is neither http nor https';
  // Whether it works would depend on credentials, and those are not ours to send.
  if (url.username !== '' || url.password !== '') return 'the address has a user name in it';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  if (!isWebPort(port)) return 'the port is not one of the web';
  return {
    // The parser has made every spelling of an address one (octal, hexadecimal, shortened).
    host: bareHost(url.hostname),
    port,
    secure,
    authority: url.host,
    path: url.pathname + url.search,
  };
}

function isWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && !BLOCKED_PORTS.has(port));
}

function bareHost(hostname: string): string {
  const inner = hostname.replace(/^\[|\]$/g, '');
  return isIP(inner) === 0 ? hostname.replace(/\.$/, '') : inner;
}
