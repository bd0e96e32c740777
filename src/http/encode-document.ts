/**
 * Compresses pages and documents, and lets clients revalidate them (RFC 9110 §8.4, §8.8, §13.1.2).
 *
 * Not compressed: pages that contain the token of a link. From the size of a compressed response, an
 * observer who can add text to it could guess a secret in it (BREACH). No other page contains a secret:
 * forms are protected by header fields, not by tokens. JSON of the API isn't compressed either, because
 * it may contain a secret that is shown once.
 */

import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import type { RequestContext } from './request-context.ts';
import { type HeaderFields, matchesAny } from './response.ts';
import type { Route } from './route.ts';

/** These are never streamed. The icon is too small to be compressed. */
const TYPES = [
  'text/html',
  'text/css',
  'text/javascript',
  'application/json',
  'image/svg+xml',
  'image/x-icon',
];
/** A shorter response fits in one packet either way. */
const MIN_BYTES = 1024;

const COMPRESS = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
};
type Encoding = keyof typeof COMPRESS;

/** Compressed documents that are the same for everyone, such as the API reference. */
type DocumentCache = Map<string, Promise<Buffer>>;
/** More than the pages of the API reference, at most 100 kB each. */
const MAX_CACHED = 48;

export type EncodeDocument = (
  route: Pick<Route, 'secretParams' | 'isPublicLink'>,
  response: Response,
  context: Pick<RequestContext, 'method' | 'request'>,
) => Promise<Response>;

/** Returns the response compressed as the client prefers, or 304 if the client has the current version. */
export function createDocumentEncoder(): EncodeDocument {
  const cache: DocumentCache = new Map();
  return async (route, response, { method, request }) => {
    const { headers, status } = response;
    if (route.secretParams && !route.isPublicLink) headers.set('cache-control', 'no-store');
    const type = (headers.get('content-type') ?? '').split(';')[0]!;
    // Browsers get an error page for every wrong URL, with the styles of all pages.
    const isErrorPage = status >= 400 && type === 'text/html';
    const isDocument = (status === 200 && TYPES.includes(type)) || isErrorPage;
    if (method !== 'GET' || !isDocument) return response;
    const encoding = preferredEncoding(request.headers.get('accept-encoding'));
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.byteLength === 0) {
      // For a HEAD request, without rendering anything. The length with GET would be another.
      withVary(headers);
      if (encoding !== null) headers.delete('content-length');
      return new Response(null, { status, headers });
    }
    const policy = headers.get('cache-control') ?? '';
    const tag = hash('sha256', bytes, 'base64url').slice(0, 22);
    if (status === 200 && !policy.includes('no-store')) {
      // Weak, because the bytes depend on the encoding.
      headers.set('etag', `W/"${tag}"`);
      if (matchesAny(request.headers.get('if-none-match'), `"${tag}"`))
        return new Response(null, { status: 304, headers: fieldsOf304(withVary(headers)) });
    }
    const mayCompress = bytes.byteLength >= MIN_BYTES && !hasSecret(route);
    if (!mayCompress) return new Response(bytes, { status, headers });
    withVary(headers);
    if (encoding === null) return new Response(bytes, { status, headers });
    const isShared = !/private|no-store/.test(policy);
    const compressed = isShared
      ? await cached(cache, `${tag} ${encoding}`, () => COMPRESS[encoding](bytes))
      : await COMPRESS[encoding](bytes);
    headers.set('content-encoding', encoding);
    headers.set('content-length', String(compressed.byteLength));
    return new Response(compressed as Uint8Array<ArrayBuffer>, { status, headers });
  };
}

/** The token of a shared link is in the path of its report, but not in the report. */
const hasSecret = ({ secretParams, isPublicLink }: Pick<Route, 'secretParams' | 'isPublicLink'>) =>
  secretParams !== undefined && !isPublicLink;

function cached(
  cache: DocumentCache,
  key: string,
  compress: () => Promise<Buffer>,
): Promise<Buffer> {
  const known = cache.get(key);
  if (known) return known;
  const compressed = compress();
  cache.set(key, compressed);
  for (const oldest of cache.keys()) {
    if (cache.size <= MAX_CACHED) break;
    cache.delete(oldest);
  }
  return compressed;
}

function withVary(headers: Headers): Headers {
  const vary = headers.get('vary');
  headers.set('vary', vary === null ? 'Accept-Encoding' : `${vary}, Accept-Encoding`);
  return headers;
}

/** Without the fields that describe the body. */
function fieldsOf304(headers: Headers): HeaderFields {
  const { 'content-type': _type, 'content-length': _length, ...rest } = Object.fromEntries(headers);
  return rest;
}

/**
 * The encoding with the highest weight in `Accept-Encoding` (RFC 9110 §12.5.3); Brotli if several have
 * the same. Null if the client names neither, or prefers none.
 */
export function preferredEncoding(header: string | null): Encoding | null {
  const weights = new Map<string, number>();
  for (const item of (header ?? '').split(',')) {
    const [name, ...params] = item.split(';').map((part) => part.trim().toLowerCase());
    const weight = params.find((param) => param.startsWith('q='));
    if (name) weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const [br, gz] = [weightOf('br'), Math.max(weightOf('gzip'), weights.get('x-gzip') ?? 0)];
  const best = Math.max(br, gz);
  if (best === 0 || best < (weights.get('identity') ?? 0)) return null;
  return br === best ? 'br' : 'gzip';
}
