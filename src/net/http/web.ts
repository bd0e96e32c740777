/** The interface of requests to external web servers, and which URLs are allowed. */

import { isIP } from 'node:net';
import type { ConnectTarget, WebFailureReason } from '../guarded-connection.ts';

export interface WebRequest {
  method: 'HEAD' | 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `http:` or `https:`; anything else is `bad_url`. */
  url: string;
  /** Time limit of the whole request in milliseconds: lookup, connection, headers and body. Default 5,000. */
  timeoutMs?: number;
  /** Maximum bytes of the body; a longer one is `too_large`. Default 64 KiB. */
  maxBytes?: number;
  /** More header fields, or other values for `User-Agent` and `Accept`. */
  headers?: Record<string, string>;
  /** For POST and PATCH. */
  body?: string;
  /** Ends the request early, as `timeout`. */
  signal?: AbortSignal;
  /** The status is enough: a body that is too long or incomplete is cut, and is no failure. */
  isBodyOptional?: boolean;
  /** Called with the TLS connection, once its certificate is verified. */
  onSecured?: (tls: TlsFacts) => void;
}

export interface TlsFacts {
  /** Such as `TLSv1.3`. */
  tls_version: string | null;
  /** In ISO 8601. */
  certificate_expires_at: string | null;
}

export type WebResult =
  | {
      status: 'answered';
      code: number;
      /** Names in lower case; multiple values of a name are joined by `, `. */
      headers: Record<string, string>;
      /** Empty for HEAD. */
      body: Uint8Array;
    }
  /** `detail` is a clause for people, without addresses of this host. */
  | { status: 'failed'; reason: WebFailureReason; detail: string };

/** Sends one request without following redirects; never rejects. */
export type WebClient = (request: WebRequest) => Promise<WebResult>;

/** A client that makes no requests: for offline mode and tests. */
export const offlineWebClient: WebClient = async () => ({
  status: 'failed',
  reason: 'connection',
  detail: 'network access is disabled',
});

export interface PostRequest {
  /** By default, POST. */
  method?: 'POST' | 'PUT' | 'PATCH';
  /** `https:`, or `http:` in private networks that the operator has allowed; anything else is `bad_url`. */
  url: string;
  /** Names in any case; `host`, `content-length`, `connection` and `accept-encoding` are ignored. */
  headers: Record<string, string>;
  body: string;
}

export interface PostOutcome {
  /** The response, even if it is incomplete; null if there is none. */
  response: {
    code: number;
    /** Names in lower case; multiple values of a name are joined by `, `. */
    headers: Record<string, string>;
    /** The part that was received. */
    body: Uint8Array;
  } | null;
  /**
   * Why the response is incomplete; null if it is complete, or longer than what is read of it. `detail` is
   * a clause for people.
   */
  failure: { reason: WebFailureReason; detail: string } | null;
}

export interface Poster {
  /** Does not follow redirects; never rejects. null if the poster was closed before the request completed. */
  post(request: PostRequest): Promise<PostOutcome | null>;
  /** Ends all connections; requests in flight resolve with null. */
  close(): void;
}

/** Longer than browsers and servers accept in practice. */
const MAX_URL_LENGTH = 8192;

// Ports from 1024 that the Fetch standard blocks because other protocols use them (§2.9, "port
// blocking").
const BLOCKED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10080,
]);

export interface HttpTarget extends ConnectTarget {
  /** The value of the Host field, with the port if it is not the default one. */
  authority: string;
  /** Path and query. */
  path: string;
}

/** The target, or a clause that says why the URL is not allowed. */
export function parseHttpTarget(text: string): HttpTarget | string {
  if (text.length > MAX_URL_LENGTH) return 'the URL is too long';
  if (!URL.canParse(text)) return 'the URL is invalid';
  const url = new URL(text);
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') return 'the URL must use http or https';
  // The result would depend on the credentials, and the service must not use other people's.
  if (url.username !== '' || url.password !== '')
    return 'the URL must not contain a user name or password';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  if (!isAllowedPort(port)) return 'the port is not allowed';
  return {
    // The parser has normalized every notation of an IP address (octal, hexadecimal, shortened).
    host: normalizeHost(url.hostname),
    port,
    secure,
    authority: url.host,
    path: url.pathname + url.search,
  };
}

function isAllowedPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && !BLOCKED_PORTS.has(port));
}

function normalizeHost(hostname: string): string {
  const inner = hostname.replace(/^\[|\]$/g, '');
  return isIP(inner) === 0 ? hostname.replace(/\.$/, '') : inner;
}
